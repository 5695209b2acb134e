"""Codex CLI's rollouts told as events: one file a thread, one record a line.

Tool uses are worded as its hooks word them. A sub-agent is a thread with a file of its
own; its first record names the thread that it works for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from claude_mem_core.types import Event, TranscriptFile
from claude_mem_core.types.retelling import Retelling, folder, ident

HOST = "codex"
SHELLS = {"exec_command", "shell", "local_shell", "shell_command", "container.exec"}
# What the program puts before a command's own output.
HEAD = re.compile(r"\A(?:Chunk ID|Wall time|Exit code|Process exited|Original token).*?^Output:\n",
                  re.DOTALL | re.MULTILINE)  # fmt: skip
EXIT = re.compile(r"^(?:Process exited with code|Exit code:) ([1-9]\d{0,2})$", re.MULTILINE)
Record = Mapping[str, Any]


class History:
    """Reads one rollout."""

    def __init__(self, file: TranscriptFile) -> None:
        self._told = Retelling(host=HOST, path=file.path)

    def read(self, record: Record) -> Sequence[Event]:
        """The events that are complete with this record."""
        payload = record.get("payload")
        if not isinstance(payload, Mapping):
            return []
        self._told.time(record.get("timestamp"))
        kind = str(record.get("type"))
        if kind in {"session_meta", "turn_context"}:
            self._about(payload, first=kind == "session_meta")
            return []
        known = KINDS.get(f"{kind}.{payload.get('type')}")
        return known(self, payload) if known else []

    def rest(self) -> Sequence[Event]:
        """The end of the last turn."""
        return self._told.rest()

    def _about(self, payload: Record, *, first: bool) -> None:
        told = self._told
        told.cwd = folder(payload.get("cwd")) or told.cwd
        if not first or told.session_id:  # a fork repeats the head of the thread it left
            return
        own = ident(payload.get("id")) or ident(payload.get("session_id"))
        parent, role = parent_of(payload)
        told.session_id = parent or own
        if parent and parent != own:
            told.agent_id, told.agent_type = own, role

    def _message(self, payload: Record) -> list[Event]:
        return self._told.prompt(_text(payload.get("message")), "")

    def _item(self, payload: Record) -> list[Event]:
        item = payload.get("item")
        if not isinstance(item, Mapping) or item.get("type") != "UserMessage":
            return []
        return self._told.prompt(_text(item.get("content")), ident(item.get("id")))

    def _spoke(self, payload: Record) -> list[Event]:
        if payload.get("role") == "assistant":
            self._told.said(_text(payload.get("content")))
        return []

    def _called(self, payload: Record) -> list[Event]:
        name, given = _worded(payload)
        self._told.called(ident(payload.get("call_id")), name, given)
        return []

    def _result(self, payload: Record) -> list[Event]:
        output = payload.get("output")
        text = output.get("content") if isinstance(output, Mapping) else output
        said = _text(text)
        failed = EXIT.search(said[:400])
        said = HEAD.sub("", said)
        number = ident(payload.get("call_id"))
        if failed:
            return self._told.result(number, None, error=f"Exit code {failed[1]}\n{said}")
        return self._told.result(number, said)

    def _ended(self, payload: Record) -> list[Event]:
        return self._told.ended(payload.get("last_agent_message"))


KINDS: dict[str, Callable[[History, Record], list[Event]]] = {
    "event_msg.user_message": History._message,
    "event_msg.item_completed": History._item,
    "event_msg.task_complete": History._ended,
    "event_msg.turn_complete": History._ended,
    "event_msg.turn_aborted": History._ended,
    "response_item.message": History._spoke,
    "response_item.function_call": History._called,
    "response_item.custom_tool_call": History._called,
    "response_item.local_shell_call": History._called,
    "response_item.function_call_output": History._result,
    "response_item.custom_tool_call_output": History._result,
}


def parent_of(payload: Record) -> tuple[str, str]:
    """The thread that a sub-agent's works for, and the sub-agent's role."""
    source = payload.get("source")
    inner = source.get("subagent") if isinstance(source, Mapping) else None
    if inner is None:
        return "", ""
    spawn = inner.get("thread_spawn") if isinstance(inner, Mapping) else None
    found = spawn if isinstance(spawn, Mapping) else {}
    parent = ident(found.get("parent_thread_id")) or ident(payload.get("forked_from_id"))
    role = ident(found.get("agent_role")) or ident(inner) or "agent"
    return parent or ident(payload.get("session_id")) or ident(payload.get("id")), role


def _worded(payload: Record) -> tuple[str, Any]:
    """Name and input of a tool as the hooks report them."""
    name, space = ident(payload.get("name")), ident(payload.get("namespace"))
    given = payload.get("arguments", payload.get("input", payload.get("action")))
    if isinstance(given, str) and payload.get("type") == "function_call":
        given = _parsed(given)
    if name == "apply_patch" and isinstance(given, str):
        return name, {"command": given}
    if (name in SHELLS or not name) and isinstance(given, Mapping):
        return "Bash", {"command": _command(given)}
    return (f"{space}__{name}" if space.startswith("mcp__") else name), given


def _command(given: Record) -> str:
    command = given.get("cmd", given.get("command", ""))
    if not isinstance(command, list):
        return str(command)
    words = [str(word) for word in command]
    return words[-1] if words[1:2] == ["-lc"] else " ".join(words)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _text(content: Any) -> str:
    """The words of a message, an item or an output."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))
