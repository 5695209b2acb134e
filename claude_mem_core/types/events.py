"""What a host reports, in the core's own words."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import attrs


class EventKind(StrEnum):
    """Every kind of event that a host can report; hosts use the ones they have."""

    SESSION_STARTED = "session_started"
    PROMPT_SENT = "prompt_sent"
    TOOL_STARTING = "tool_starting"
    TOOL_USED = "tool_used"
    TOOL_FAILED = "tool_failed"
    FILE_EDITED = "file_edited"
    TURN_ENDED = "turn_ended"
    TURN_FAILED = "turn_failed"
    SUBAGENT_STARTED = "subagent_started"
    SUBAGENT_ENDED = "subagent_ended"
    COMPACTING = "compacting"
    COMPACTED = "compacted"
    SESSION_ENDED = "session_ended"
    NOTICE = "notice"


class StartSource(StrEnum):
    """Why a session began. A host's own word is mapped to the nearest of these."""

    STARTUP = "startup"
    RESUME = "resume"
    CLEAR = "clear"
    COMPACT = "compact"
    FORK = "fork"


@attrs.frozen(kw_only=True)
class Delivery:
    """One call of the hook client, as it reached the worker.

    Attributes:
        host: name of the host record, from the hook's argv.
        event: the host's own word for the event, from argv; may be empty.
        stdin: the payload, byte for byte.
        env: the few environment values the hook passes on (settled list).
        key: delivery key (spool name); equal for a repeated delivery of one call.
        at_ms: when the hook ran, milliseconds since the epoch.
        spooled: true when it waited on disk because no worker answered.
        size: bytes of the original payload; larger than `len(stdin)` when it was cut.
        dropped: why the hook left the content out; `stdin` holds only ids then.
    """

    host: str
    event: str
    stdin: bytes
    env: Mapping[str, str] = attrs.field(factory=dict)
    key: str = ""
    at_ms: int = 0
    spooled: bool = False
    size: int = 0
    dropped: str = ""


@attrs.frozen(kw_only=True)
class ToolUse:
    """One use of a tool. `input` and `output` are JSON values as the host gave them."""

    name: str
    id: str = ""
    input: Any = None
    output: Any = None
    error: str | None = None
    is_interrupt: bool = False
    duration_ms: int | None = None


@attrs.frozen(kw_only=True)
class Event:
    """One thing that happened in a host.

    Attributes:
        kind: what happened.
        host: name of the host record.
        session_id: the host's own session id.
        cwd: working directory as reported; may not exist; never followed blindly.
        at_ms: when, milliseconds since the epoch.
        source: why a session started (SESSION_STARTED only).
        prompt: the user's words (PROMPT_SENT only).
        prompt_id: the host's id of the turn, when it has one.
        tool: the tool use (TOOL_* and FILE_EDITED).
        answer: the agent's final words (TURN_ENDED, SUBAGENT_ENDED), or the summary
            of a compaction (COMPACTED).
        error: what the host says went wrong (TURN_FAILED).
        agent_id, agent_type: set inside a sub-agent.
        transcript: path of the host's transcript; read only below the host's roots.
        reason: why a session ended.
        host_event: the host's own name of the event, needed for the reply.
        extra: host data worth keeping in the journal, small.
    """

    kind: EventKind
    host: str
    session_id: str
    cwd: str = ""
    at_ms: int = 0
    source: StartSource | None = None
    prompt: str | None = None
    prompt_id: str | None = None
    tool: ToolUse | None = None
    answer: str | None = None
    error: str | None = None
    agent_id: str | None = None
    agent_type: str | None = None
    transcript: str | None = None
    reason: str | None = None
    host_event: str = ""
    extra: Mapping[str, Any] = attrs.field(factory=dict)

    @property
    def in_subagent(self) -> bool:
        """Both ids are needed: a main thread may carry one of them."""
        return bool(self.agent_id and self.agent_type)


@attrs.frozen(kw_only=True)
class Answer:
    """What the core wants to say back to the host; the host's adapter words it.

    Attributes:
        kind: the kind of event answered; None when the payload was not understood.
        host_event: the host's own name of the event.
        context: text for the agent's context; empty for none.
        notice: one line for the person at the terminal; empty for none.
    """

    kind: EventKind | None = None
    host_event: str = ""
    context: str = ""
    notice: str = ""


@attrs.frozen(kw_only=True)
class Output:
    """What the hook process prints and how it exits."""

    stdout: str = ""
    stderr: str = ""
    exit: int = 0
