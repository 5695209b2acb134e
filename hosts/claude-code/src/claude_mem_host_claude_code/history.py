"""Claude Code's transcripts told as events: one file a session, one record a line.

Prompts carry the id that its hooks report, and so do tool uses; their results stand in
`toolUseResult` as hooks get them. A sub-agent writes a file of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from claude_mem_core.types import Event, TranscriptFile, protocol_text
from claude_mem_core.types.retelling import Retelling, folder, ident

HOST = "claude-code"
INTERRUPTED = "[Request interrupted by user"
Record = Mapping[str, Any]


class History:
    """Reads one session's file; side chains in it are left to their own files."""

    def __init__(self, file: TranscriptFile, *, inner: bool = False) -> None:
        self._told = Retelling(host=HOST, path=file.path)
        self._inner = inner

    def read(self, record: Record) -> Sequence[Event]:
        """The events that are complete with this record."""
        message = record.get("message")
        if not isinstance(message, Mapping) or bool(record.get("isSidechain")) != self._inner:
            return []
        self._about(record)
        if record.get("type") == "assistant":
            self._spoke(record, message)
            return []
        return list(self._heard(record, message)) if record.get("type") == "user" else []

    def rest(self) -> Sequence[Event]:
        """The end of the last turn."""
        return self._told.rest()

    def _about(self, record: Record) -> None:
        told = self._told
        told.session_id = ident(record.get("sessionId")) or told.session_id
        told.cwd = folder(record.get("cwd")) or told.cwd
        told.time(record.get("timestamp"))
        if self._inner:
            told.agent_id = ident(record.get("agentId")) or told.agent_id or "agent"
            told.agent_type = "agent"

    def _spoke(self, record: Record, message: Record) -> None:
        if record.get("isApiErrorMessage"):
            return
        for block in blocks(message.get("content")):
            if block.get("type") == "text":
                self._told.said(block.get("text"))
            elif block.get("type") == "tool_use":
                name = ident(block.get("name"))
                self._told.called(ident(block.get("id")), name, block.get("input"))

    def _heard(self, record: Record, message: Record) -> Iterator[Event]:
        found = blocks(message.get("content"))
        results = [block for block in found if block.get("type") == "tool_result"]
        for block in results:
            output = record.get("toolUseResult") if len(results) == 1 else None
            yield from self._result(block, output)
        if not results and not record.get("isMeta") and not record.get("isCompactSummary"):
            yield from self._prompt(record, found)

    def _prompt(self, record: Record, found: Sequence[Record]) -> Iterator[Event]:
        texts = (block.get("text") for block in found if block.get("type") == "text")
        words = "\n".join(text for text in texts if isinstance(text, str))
        if words.startswith(INTERRUPTED):
            yield from self._told.ended()
        elif not protocol_text.kind_of(words):
            yield from self._told.prompt(words, ident(record.get("promptId")))

    def _result(self, block: Record, output: Any) -> Iterator[Event]:
        number, said = ident(block.get("tool_use_id")), block.get("content")
        if block.get("is_error") is True:
            yield from self._told.result(number, None, error=plain(said))
        else:
            whole = output if isinstance(output, dict | list) else said
            yield from self._told.result(number, whole)


def blocks(content: Any) -> list[Record]:
    """The blocks of a message; a bare text is one."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [b for b in content if isinstance(b, Mapping)] if isinstance(content, list) else []


def plain(content: Any) -> str:
    """The text of a tool's result."""
    texts = (block.get("text") for block in blocks(content))
    return "\n".join(text for text in texts if isinstance(text, str))
