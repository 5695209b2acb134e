"""Turns told again from a transcript: prompts, tool uses with their results, answers.

A transcript says the same as hooks do, in other pieces: a tool's call and its result
are two records, and the end of a turn is often told only by the next prompt. `Retelling`
puts the pieces together; each host's reader feeds it.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Any

import attrs

from claude_mem_core.types.events import Event, EventKind, StartSource, ToolUse
from claude_mem_core.types.payload import IDENT, PATH

FROM = "transcript"  # `host_event` of all that was told again
OPEN_CALLS = 512  # calls that wait for their result; the oldest are given up


def epoch_ms(value: Any) -> int:
    """A time of a transcript in milliseconds: ISO text, or a number; 0 when it is none."""
    if isinstance(value, bool):
        return 0
    if isinstance(value, int | float):
        return int(value) if 0 < value < 1e15 else 0
    try:
        found = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return 0
    if found.tzinfo is None:
        found = found.replace(tzinfo=UTC)
    return max(0, int(found.timestamp() * 1000))


def ident(value: Any) -> str:
    """An id as it may stand in an event; empty when it is none."""
    return value if isinstance(value, str) and 0 < len(value) <= IDENT else ""


def folder(value: Any) -> str:
    """A directory as data; empty when it is none."""
    good = isinstance(value, str) and 0 < len(value) <= PATH and "\0" not in value
    return value if good else ""


@attrs.define(kw_only=True)
class Retelling:
    """The state between the records of one transcript.

    Attributes:
        session_id: of the session; nothing is told before it is known.
        path: of the transcript.
        agent_id, agent_type: both of a sub-agent; one alone is a label of the main agent.
        at_ms: of the record that is being read.
    """

    host: str
    path: str = ""
    session_id: str = ""
    cwd: str = ""
    agent_id: str | None = None
    agent_type: str | None = None
    at_ms: int = 0
    _prompt_id: str | None = None
    _started: bool = False
    _open: bool = False  # a turn is on
    _answer: list[str] = attrs.field(factory=list)
    _last_ms: int = 0  # of the last sign of the agent
    _calls: dict[str, tuple[str, Any]] = attrs.field(factory=dict)
    _seen: dict[str, int] = attrs.field(factory=dict)

    @property
    def inner(self) -> bool:
        """Whether a sub-agent wrote this."""
        return bool(self.agent_id and self.agent_type)

    def time(self, value: Any) -> None:
        """The time of what follows; it never goes back."""
        self.at_ms = max(self.at_ms, epoch_ms(value))

    def prompt(self, words: str, number: str = "") -> list[Event]:
        """The user's words; they end the turn before."""
        if not self.session_id or not words.strip():
            return []
        told = [*self.ended(), *self._start()]
        self._open = True
        if self.inner:  # the agent wrote it, as a task for its helper
            self._prompt_id = number or None
            return told
        self._prompt_id = number or self._made_id(words)
        return [*told, self._event(EventKind.PROMPT_SENT, prompt=words)]

    def said(self, words: Any) -> None:
        """The agent's words; those after the last tool use are its answer."""
        if isinstance(words, str) and words.strip():
            self._answer.append(words.strip())
            self._last_ms = self.at_ms

    def called(self, number: str, name: str, given: Any) -> None:
        """A tool is used; its result comes later."""
        self._answer.clear()
        if not name:
            return
        self._calls[number or self._made_id(f"{name} {given}")] = (name, given)
        while len(self._calls) > OPEN_CALLS:
            del self._calls[next(iter(self._calls))]

    def result(self, number: str, output: Any, error: str | None = None) -> list[Event]:
        """The result of a tool use that was told before; of another one nothing."""
        call = self._calls.pop(number, None)
        if call is None or not self.session_id:
            return []
        tool = ToolUse(name=call[0], id=number, input=call[1], output=output, error=error)
        return [*self._start(), self._used(tool)]

    def used(self, tool: ToolUse) -> list[Event]:
        """A tool use that one record tells whole."""
        self._answer.clear()
        if not self.session_id or not tool.name:
            return []
        if not tool.id:
            made = self._made_id(f"{tool.name} {tool.input} {tool.output}")
            tool = attrs.evolve(tool, id=made)
        return [*self._start(), self._used(tool)]

    def ended(self, answer: Any = None) -> list[Event]:
        """The turn is over; its answer is what was said last."""
        words = answer if isinstance(answer, str) and answer.strip() else self._words()
        was, self._open = self._open, False
        self._answer.clear()
        return self._end(words) if was else []

    def rest(self) -> list[Event]:
        """The end of the turn, as far as it can be told; the turn may still go on."""
        return self._end(self._words()) if self._open and self._answer else []

    def _words(self) -> str:
        return "\n".join(self._answer)

    def _end(self, words: str) -> list[Event]:
        if self.inner and not words:
            return []
        kind = EventKind.SUBAGENT_ENDED if self.inner else EventKind.TURN_ENDED
        end = self._event(kind, answer=words or None)
        return [attrs.evolve(end, at_ms=self._last_ms or self.at_ms)]

    def _used(self, tool: ToolUse) -> Event:
        self._open, self._last_ms = True, self.at_ms
        kind = EventKind.TOOL_USED if tool.error is None else EventKind.TOOL_FAILED
        return self._event(kind, tool=tool)

    def _start(self) -> list[Event]:
        if self._started or self.inner:
            return []
        self._started = True
        begun = self._event(EventKind.SESSION_STARTED, source=StartSource.STARTUP)
        return [attrs.evolve(begun, prompt_id=None)]

    def _event(self, kind: EventKind, **fields: Any) -> Event:
        return Event(
            kind=kind, host=self.host, session_id=self.session_id, cwd=self.cwd,
            at_ms=self.at_ms, prompt_id=self._prompt_id, agent_id=self.agent_id,
            agent_type=self.agent_type, transcript=self.path or None, host_event=FROM,
            **fields,
        )  # fmt: skip

    def _made_id(self, words: str) -> str:
        """An id of its own for what the host gave none: the same at every reading."""
        said = hashlib.sha256(f"{self.at_ms}\n{words}".encode("utf-8", "replace"))
        made = f"told-{said.hexdigest()[:24]}"
        times = self._seen[made] = self._seen.get(made, 0) + 1
        return made if times == 1 else f"{made}.{times}"
