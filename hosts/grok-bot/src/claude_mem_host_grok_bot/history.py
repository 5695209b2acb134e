"""Grok Bot's transcripts told as events, labelled with the agent that wrote them.

One JSON object a line: `{"role": "user" | "assistant", "message": {"content": [...]}}`,
with tool calls and their results as blocks. The seat's own folder counts as its project.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from claude_mem_core.types import Event, ToolUse, TranscriptFile, protocol_text
from claude_mem_core.types.retelling import Retelling, ident

HOST = "grok-bot"
FOLDER = "agent-transcripts"
Record = Mapping[str, Any]


class History:
    """Reads one transcript; the session is named like the file."""

    def __init__(self, file: TranscriptFile) -> None:
        *folders, name = file.path.replace("\\", "/").split("/")
        at = len(folders) - 1 - folders[::-1].index(FOLDER) if FOLDER in folders else 0
        own = at >= 2 and folders[at - 2] == "agents"  # the folder lies in a seat
        agent = folders[at - 1] if own else (folders[at + 1 :] or [""])[0]
        root = folders[: at - 2] if own else folders[:at]
        self._told = Retelling(host=HOST, path=file.path, session_id=ident(name[:-6]))
        self._told.agent_id = ident(agent) or None
        self._told.cwd = "/".join([*root, "agents", agent])

    def read(self, record: Record) -> Sequence[Event]:
        """The events that are complete with this record."""
        message = record.get("message")
        content = message.get("content") if isinstance(message, Mapping) else message
        self._told.time(record.get("timestamp"))
        found = blocks(content)
        if record.get("role") == "assistant":
            return list(self._spoke(found))
        return list(self._heard(found)) if record.get("role") == "user" else []

    def rest(self) -> Sequence[Event]:
        """The end of the last turn."""
        return self._told.rest()

    def _spoke(self, found: Sequence[Record]) -> Iterator[Event]:
        for block in found:
            kind = block.get("type")
            if kind == "text":
                self._told.said(block.get("text"))
            elif kind == "tool_use":
                yield from self._called(block)
            elif kind == "tool_result":
                yield from self._result(block)

    def _called(self, block: Record) -> list[Event]:
        """A call; without an id its result will not be told, so it is told at once."""
        number, name = ident(block.get("id")), ident(block.get("name"))
        if not number:
            return self._told.used(ToolUse(name=name, input=block.get("input")))
        self._told.called(number, name, block.get("input"))
        return []

    def _heard(self, found: Sequence[Record]) -> Iterator[Event]:
        results = [block for block in found if block.get("type") == "tool_result"]
        for block in results:
            yield from self._result(block)
        words = "\n".join(text_of(found))
        if words and not results and not protocol_text.kind_of(words):
            yield from self._told.prompt(words)

    def _result(self, block: Record) -> list[Event]:
        said = block.get("content")
        number = ident(block.get("tool_use_id"))
        if block.get("is_error") is True:
            return self._told.result(number, None, error="\n".join(text_of(blocks(said))))
        return self._told.result(number, said)


def blocks(content: Any) -> list[Record]:
    """The blocks of a message; a bare text is one."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [b for b in content if isinstance(b, Mapping)] if isinstance(content, list) else []


def text_of(found: Sequence[Record]) -> list[str]:
    """The texts of blocks."""
    texts = (block.get("text") for block in found if block.get("type") == "text")
    return [text for text in texts if isinstance(text, str)]
