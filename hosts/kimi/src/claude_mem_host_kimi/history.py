"""Kimi Code's journal of a session told as events, as version 2.1.0 writes it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from claude_mem_core.types import Event, TranscriptFile
from claude_mem_core.types.retelling import Retelling, folder, ident

HOST = "kimi"
STATE = "../../state.json"
Record = Mapping[str, Any]


class History:
    """Reads the main agent's journal; the session's id and place stand beside it."""

    def __init__(self, file: TranscriptFile) -> None:
        self._told = Retelling(host=HOST, path=file.path)
        state = _state(file.beside.get(STATE, b""))
        self._told.session_id = ident(state.get("id")) or _from_path(file.path)
        self._told.cwd = folder(state.get("cwd") or state.get("workDir"))

    def read(self, record: Record) -> Sequence[Event]:
        """The events that are complete with this record."""
        self._told.time(record.get("time"))
        event = record.get("event")
        if isinstance(event, Mapping):
            known = LOOP.get(str(event.get("type")))
            return known(self, event) if known else []
        if record.get("type") == "turn.prompt":
            return self._prompt(record)
        if record.get("type") == "turn.ended":
            return self._told.ended()
        return []

    def rest(self) -> Sequence[Event]:
        """The end of the last turn."""
        return self._told.rest()

    def _prompt(self, record: Record) -> list[Event]:
        origin = record.get("origin")
        if isinstance(origin, Mapping) and origin.get("kind") != "user":
            return []
        return self._told.prompt(text_of(record.get("input")), ident(record.get("promptId")))

    def _spoke(self, event: Record) -> list[Event]:
        part = event.get("part")
        if isinstance(part, Mapping) and part.get("type") == "text":
            self._told.said(part.get("text"))
        return []

    def _called(self, event: Record) -> list[Event]:
        number, name = ident(event.get("toolCallId")), ident(event.get("name"))
        self._told.called(number, name, event.get("args"))
        return []

    def _result(self, event: Record) -> list[Event]:
        result = event.get("result")
        found = result if isinstance(result, Mapping) else {}
        output, number = found.get("output"), ident(event.get("toolCallId"))
        if found.get("isError") is True:
            return self._told.result(number, None, error=text_of(output))
        return self._told.result(number, output)


LOOP: dict[str, Callable[[History, Record], list[Event]]] = {
    "content.part": History._spoke,
    "tool.call": History._called,
    "tool.result": History._result,
}


def text_of(content: Any) -> str:
    """The words of a list of parts, or of a bare text."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))


def _from_path(path: str) -> str:
    """`.../SESSION/agents/main/wire.jsonl` names the session."""
    parts = path.replace("\\", "/").split("/")
    return ident(parts[-4]) if len(parts) > 3 else ""


def _state(raw: bytes) -> Record:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, Mapping) else {}
