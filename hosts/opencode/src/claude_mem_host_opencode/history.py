"""OpenCode's sessions told as events: the rows of its database, or one file a session.

The rows come table by table: sessions, messages, then the parts of all messages.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from claude_mem_core.types import Event, ToolUse, TranscriptFile
from claude_mem_core.types.retelling import Retelling, folder, ident

HOST = "opencode"
DONE = {"completed", "error"}
Record = Mapping[str, Any]


@attrs.define
class Talk:
    """One session, with the user's message that is being put together."""

    told: Retelling
    message: str = ""
    words: list[str] = attrs.field(factory=list)

    def flush(self) -> list[Event]:
        """The user's message, which is whole once another message begins."""
        words, number = "\n".join(self.words), self.message
        self.words.clear()
        return self.told.prompt(words, number) if words else []


class History:
    """Reads all sessions of one database."""

    def __init__(self, file: TranscriptFile) -> None:
        self._path = file.path
        self._talks: dict[str, Talk] = {}
        self._roles: dict[str, str] = {}

    def read(self, record: Record) -> Sequence[Event]:
        """The events that are complete with this row."""
        table = record.get("table")
        if table == "session":
            self._session(record)
        elif table == "message":
            self._roles[str(record.get("id"))] = str(_data(record).get("role"))
        elif table == "part" and (talk := self._talks.get(str(record.get("session_id")))):
            return list(self._part(talk, record))
        return []

    def rest(self) -> Sequence[Event]:
        """The ends of all sessions' last turns."""
        ends: list[Event] = []
        for talk in self._talks.values():
            ends += [*talk.flush(), *talk.told.rest()]
        return ends

    def _session(self, record: Record) -> None:
        own, parent = ident(record.get("id")), ident(record.get("parent_id"))
        told = Retelling(host=HOST, path=self._path, session_id=parent or own)
        told.cwd = folder(record.get("directory"))
        if parent:
            told.agent_id, told.agent_type = own, ident(record.get("agent")) or "agent"
        self._talks[own] = Talk(told)

    def _part(self, talk: Talk, record: Record) -> Iterator[Event]:
        number, part = str(record.get("message_id")), _data(record)
        if number != talk.message:
            yield from talk.flush()
            talk.message = number
        made = record.get("time_created")
        talk.told.time(int(made) if isinstance(made, str) and made.isdigit() else made)
        user = self._roles.get(number) == "user"
        if part.get("type") == "text" and isinstance(part.get("text"), str):
            if not user:
                talk.told.said(part["text"])
            elif part.get("synthetic") is not True:
                talk.words.append(part["text"])
        elif part.get("type") == "tool" and not user:
            yield from _tool(talk.told, part)


def _tool(told: Retelling, part: Record) -> list[Event]:
    state = part.get("state")
    if not isinstance(state, Mapping) or str(state.get("status")) not in DONE:
        return []
    failed = state.get("status") == "error"
    error = str(state.get("error") or "failed") if failed else None
    tool = ToolUse(
        name=ident(part.get("tool")), id=ident(part.get("callID")), input=state.get("input"),
        output=None if failed else state.get("output"), error=error,
    )  # fmt: skip
    return told.used(tool)


def _data(record: Record) -> Record:
    try:
        found = json.loads(str(record.get("data")))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, Mapping) else {}
