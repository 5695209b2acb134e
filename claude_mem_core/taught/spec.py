"""What a user's TOML file says about a program: its events, its words, its own files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from claude_mem_core.types import EventKind

# Where a payload holds what, unless the file says otherwise: the words of Claude Code,
# which other programs have taken over.
FIELDS: Mapping[str, str] = {
    "event": "hook_event_name",
    "session": "session_id",
    "cwd": "cwd",
    "source": "source",
    "prompt": "prompt",
    "prompt_id": "prompt_id",
    "tool": "tool_name",
    "tool_id": "tool_use_id",
    "input": "tool_input",
    "output": "tool_response",
    "error": "error",
    "duration_ms": "duration_ms",
    "answer": "last_assistant_message",
    "agent": "agent_id",
    "agent_type": "agent_type",
    "reason": "reason",
}


@attrs.frozen(kw_only=True)
class EventSpec:
    """One event of the program, by the word that ends its command.

    Attributes:
        kind: what it is to us.
        context: whether the program takes what the command prints for its agent.
        fields: where the payload of this event holds what, where it differs from the rest.
    """

    kind: EventKind
    context: bool = False
    fields: Mapping[str, str] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class ContextSpec:
    """How the program wants the context.

    Attributes:
        json: the path to it in the JSON that is printed; empty: it is printed as it is.
        fixed: what else that JSON holds, always.
        limit: the program cuts what is longer, in characters; 0 for no limit.
    """

    json: str = ""
    fixed: Mapping[str, Any] = attrs.field(factory=dict)
    limit: int = 0


@attrs.frozen(kw_only=True)
class HooksSpec:
    """The program's own JSON file of commands that it runs at its events.

    Attributes:
        file: its path; `~` and `$NAME` at its beginning are filled in.
        at: the path to the list of one event; `{event}` is the event's word.
        entry: what is put into that list; `{command}` is the command line.
    """

    file: str
    at: str
    entry: Any = "{command}"


@attrs.frozen(kw_only=True)
class McpSpec:
    """The program's JSON file of MCP servers: the file, and the path to its object."""

    file: str
    at: str = "mcpServers"


@attrs.frozen(kw_only=True)
class Spec:
    """The whole file."""

    name: str
    title: str = ""
    events: Mapping[str, EventSpec] = attrs.field(factory=dict)
    fields: Mapping[str, str] = attrs.field(factory=dict)
    context: ContextSpec = attrs.field(factory=ContextSpec)
    hooks: HooksSpec | None = None
    mcp: McpSpec | None = None

    @property
    def label(self) -> str:
        """The program's name as people write it."""
        return self.title or self.name

    def where(self, event: EventSpec | None) -> Mapping[str, str]:
        """The path to each thing in a payload of this event."""
        return {**FIELDS, **self.fields, **(event.fields if event else {})}
