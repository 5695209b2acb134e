"""Reads what Cursor's hooks send, and words the answers for it.

A workspace of Cursor can have several folders. A session belongs to the first of them; an
event belongs to the folder that it is about, so that the rules of that folder hold for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from claude_mem_core.types import (
    Answer,
    Delivery,
    Event,
    EventKind,
    Output,
    StartSource,
    ToolUse,
    hookform,
)
from claude_mem_core.types.hookform import Fields, Reader, whole_path, words
from claude_mem_core.types.payload import PATH, Payload, missing, read_payload
from claude_mem_host_cursor import transcript

HOST = "cursor"
MOST_FOLDERS = 8


class Cursor:
    """The adapter. Pure: the payload in, events out."""

    def parse(self, delivery: Delivery) -> Sequence[Event]:
        """The events of a payload: one, but one for each folder at a session's start.

        Raises:
            InvalidInput: the payload is not one of Cursor's.
        """
        payload = read_payload(delivery)
        name = payload.ident("hook_event_name") or delivery.event
        read = EVENTS.get(name)
        if read is None:
            return []
        fields, folders = read(payload) or {}, roots(payload)
        base: Fields = {
            "host": HOST,
            "host_event": name,
            "session_id": _session(payload),
            "prompt_id": payload.ident("generation_id"),
            "at_ms": delivery.at_ms,
            "transcript": whole_path(payload.path("transcript_path")),
        }
        if fields["kind"] is not EventKind.SESSION_STARTED:
            return [Event(**{**base, **fields, "cwd": place(payload, folders)})]
        return [
            Event(**{**base, **fields, "cwd": cwd, "extra": {"folder": at} if at else {}})
            for at, cwd in enumerate(folders[:MOST_FOLDERS] or [""])
        ]

    def reply(self, answer: Answer) -> Output:
        """What each event may be told; a prompt is always let through."""
        body: dict[str, Any] = {}
        if answer.kind is EventKind.SESSION_STARTED and answer.context:
            body["additional_context"] = answer.context
        if answer.host_event == "beforeSubmitPrompt":
            body["continue"] = True
        return Output(stdout=json.dumps(body))

    def final_answer(self, lines: Sequence[bytes]) -> str | None:
        """The last turn's answer in the lines of a transcript."""
        return transcript.final_answer(lines)


def _session(payload: Payload) -> str:
    """The conversation; older versions name it otherwise."""
    names = ("conversation_id", "session_id", "generation_id")
    found = next(filter(None, map(payload.ident, names)), None)
    return found or payload.need("id")


# Folders --------------------------------------------------------------------------------


def roots(payload: Payload) -> list[str]:
    """The folders of the workspace, as paths of this system."""
    given = payload.fields.get("workspace_roots")
    named = given if isinstance(given, list) else [given]
    return list(dict.fromkeys(map(native, filter(_is_path, named))))


def _is_path(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= PATH and "\0" not in value


def native(path: str) -> str:
    """`/c:/x`, as Cursor has it on Windows, as `c:/x`."""
    return path[1:] if path[:1] == "/" and path[2:3] == ":" else path


def place(payload: Payload, folders: Sequence[str]) -> str:
    """Where an event happened: the folder of its file, or of its command, or the first."""
    cwd = whole_path(native(payload.path("cwd") or ""))
    if cwd:
        return cwd
    file = native(payload.path("file_path") or "")
    return next(_around(file, folders), folders[0] if folders else "")


def _around(file: str, folders: Iterable[str]) -> Iterator[str]:
    """The folders that a file lies in, the innermost first."""
    path = file.replace("\\", "/")
    inside = (f for f in folders if path.startswith(f.replace("\\", "/").rstrip("/") + "/"))
    return iter(sorted(inside, key=len, reverse=True))


# Events ---------------------------------------------------------------------------------


def _started(payload: Payload) -> Fields:
    """A new conversation: Cursor has no event for one that is opened again."""
    return {"kind": EventKind.SESSION_STARTED, "source": StartSource.STARTUP}


def _prompt(payload: Payload) -> Fields:
    return hookform.prompt(payload.text("prompt"))


def _shell(payload: Payload) -> Fields:
    """A command that ran; whether it failed, only its words tell."""
    command = payload.text("command") or _inner(payload, "command")
    if not command:
        missing("command")
    output = payload.fields.get("output", payload.fields.get("tool_output"))
    spent = payload.number("duration")
    tool = ToolUse(name="Bash", input={"command": command}, output=output, duration_ms=spent)
    return {"kind": EventKind.TOOL_USED, "tool": tool}


def _inner(payload: Payload, name: str) -> str:
    """A field that stands inside when the hook had to cut the payload."""
    given = payload.fields.get("tool_input")
    value = given.get(name) if isinstance(given, dict) else None
    return value if isinstance(value, str) else ""


def _mcp(payload: Payload) -> Fields:
    """An MCP tool's use; the name of its server is not told."""
    name = payload.need("tool_name")
    output = payload.fields.get("result_json", payload.fields.get("tool_output"))
    tool = ToolUse(
        name=name if name.startswith("mcp__") else f"mcp__{HOST}__{name}",
        input=_value(payload.fields.get("tool_input")),
        output=_value(output),
        duration_ms=payload.number("duration"),
    )
    return {"kind": EventKind.TOOL_USED, "tool": tool}


def _value(text: Any) -> Any:
    """JSON that came as a text."""
    if not isinstance(text, str) or text.strip()[:1] not in {"{", "["}:
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _edited(payload: Payload) -> Fields:
    path = native(payload.text("file_path") or _inner(payload, "file_path"))
    if not path:
        missing("file_path")
    tool = ToolUse(name="Edit", input={"file_path": path, "edits": payload.fields.get("edits")})
    return {"kind": EventKind.FILE_EDITED, "tool": tool}


def _answered(payload: Payload) -> Fields:
    """What the agent said; its last words of a turn are the turn's answer."""
    return {"kind": EventKind.TURN_ENDED, "answer": words(payload, "text")}


def _stopped(payload: Payload) -> Fields:
    """A turn's end. Its answer came before, or stands in the transcript."""
    status = payload.ident("status") or ""
    if status == "error":
        error = words(payload, "error_message") or "the turn ended in an error"
        return {"kind": EventKind.TURN_FAILED, "error": error}
    return {"kind": EventKind.TURN_ENDED, "extra": {"status": status} if status else {}}


def _subagent_ended(payload: Payload) -> Fields:
    return {
        "kind": EventKind.SUBAGENT_ENDED,
        "agent_id": payload.ident("subagent_id"),
        "agent_type": payload.ident("subagent_type"),
        "answer": words(payload, "summary"),
    }


EVENTS: dict[str, Reader] = {
    "sessionStart": _started,
    "beforeSubmitPrompt": _prompt,
    "afterShellExecution": _shell,
    "afterMCPExecution": _mcp,
    "afterFileEdit": _edited,
    "afterAgentResponse": _answered,
    "subagentStop": _subagent_ended,
    "preCompact": hookform.compacting,
    "stop": _stopped,
    "sessionEnd": hookform.ended,
}
