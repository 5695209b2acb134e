"""Gemini CLI's chats told as events: one file a session.

Newer versions write a record a line, and a message again when its tools have run; older
ones keep one document. Which directory it was stands in a small file beside the chats.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from claude_mem_core.types import Event, ToolUse, TranscriptFile
from claude_mem_core.types.retelling import Retelling, folder, ident

HOST = "gemini"
ROOT = "../.project_root"
# What the program and hooks put around the user's words.
GIVEN = re.compile(r"\s*<(hook_context|session_context)>.*?</\1>\s*", re.DOTALL)
WRAP = re.compile(r"\A<untrusted_context>\n(.*)\n</untrusted_context>\Z", re.DOTALL)
FAILED = {"error", "cancelled"}
Record = Mapping[str, Any]


class History:
    """Reads one chat."""

    def __init__(self, file: TranscriptFile) -> None:
        self._told = Retelling(host=HOST, path=file.path)
        self._told.cwd = folder(file.beside.get(ROOT, b"").decode("utf-8", "replace").strip())
        self._seen: set[str] = set()

    def read(self, record: Record) -> Sequence[Event]:
        """The events that are complete with this record."""
        changed = record.get("$set")
        if isinstance(changed, Mapping):
            return list(self._messages(changed))
        if "sessionId" in record:
            self._about(record)
            return list(self._messages(record))
        return list(self._message(record))

    def rest(self) -> Sequence[Event]:
        """The end of the last turn."""
        return self._told.rest()

    def _about(self, record: Record) -> None:
        told = self._told
        told.session_id = ident(record.get("sessionId"))
        told.time(record.get("startTime"))
        kind = ident(record.get("kind"))
        if kind and kind != "main":
            told.agent_id, told.agent_type = told.session_id, kind

    def _messages(self, record: Record) -> Iterator[Event]:
        found = record.get("messages")
        for message in found if isinstance(found, list) else []:
            if isinstance(message, Mapping):
                yield from self._message(message)

    def _message(self, message: Record) -> Iterator[Event]:
        number = ident(message.get("id"))
        self._told.time(message.get("timestamp"))
        if message.get("type") == "user":
            words = GIVEN.sub("", text_of(message.get("content")))
            if self._new(number):
                yield from self._told.prompt(words, number)
        elif message.get("type") == "gemini":
            yield from self._tools(message)
            words = text_of(message.get("content"))
            if words.strip() and self._new(f"said {number}"):
                self._told.said(words)

    def _tools(self, message: Record) -> Iterator[Event]:
        calls = message.get("toolCalls")
        for call in calls if isinstance(calls, list) else []:
            if isinstance(call, Mapping) and self._new(f"tool {call.get('id')}"):
                self._told.time(call.get("timestamp"))
                yield from self._told.used(_tool(call))

    def _new(self, name: str) -> bool:
        known = name in self._seen
        self._seen.add(name)
        return not known


def _tool(call: Record) -> ToolUse:
    said = "\n".join(_outputs(call.get("result")))
    failed = str(call.get("status")) in FAILED
    return ToolUse(
        name=ident(call.get("name")), id=ident(call.get("id")), input=call.get("args"),
        output=None if failed else said, error=said or "failed" if failed else None,
    )  # fmt: skip


def _outputs(result: Any) -> Iterator[str]:
    """The texts of a tool's result, without the program's own frame."""
    for part in result if isinstance(result, list) else []:
        response = part.get("functionResponse") if isinstance(part, Mapping) else None
        inner = response.get("response") if isinstance(response, Mapping) else None
        said = inner.get("output", inner.get("error")) if isinstance(inner, Mapping) else None
        if isinstance(said, str):
            framed = WRAP.match(said)
            yield framed[1] if framed else said


def text_of(content: Any) -> str:
    """The words of a message; parts that are no text say nothing."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))
