"""Reads what the hooks of Windsurf's agent (Cascade) send. It reads nothing of ours.

Only commands say where they ran. For the rest our client sends the directory that it was
started in, which is the workspace (`--here`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from claude_mem_core.types import (
    Answer,
    Delivery,
    Event,
    EventKind,
    Output,
    ToolUse,
    hookform,
)
from claude_mem_core.types.hookform import Fields, Reader, whole_path, words
from claude_mem_core.types.payload import Payload, read_payload

HOST = "windsurf"
SPOKEN = "### Planner Response"


class Windsurf:
    """The adapter. Pure: the payload in, events out."""

    def parse(self, delivery: Delivery) -> Sequence[Event]:
        """The event of a payload; none for events that say nothing to a memory.

        Raises:
            InvalidInput: the payload is not one of Windsurf's.
        """
        payload = read_payload(delivery)
        name = payload.ident("agent_action_name") or delivery.event
        read = EVENTS.get(name)
        if read is None:
            return []
        info = told(payload)
        base: Fields = {
            "host": HOST,
            "host_event": name,
            "session_id": payload.need("trajectory_id"),
            "prompt_id": payload.ident("execution_id"),
            "at_ms": delivery.at_ms,
            "cwd": whole_path(info.path("cwd")) or delivery.env.get("CLAUDE_PROJECT_DIR", ""),
        }
        return [Event(**{**base, **(read(info) or {})})]

    def reply(self, answer: Answer) -> Output:
        """Nothing: whatever we print could only be shown to the user."""
        return Output()


def told(payload: Payload) -> Payload:
    """What the event itself says: `tool_info`, or what the hook has left of it."""
    found = payload.fields.get("tool_info", payload.fields.get("tool_input"))
    return Payload(found if isinstance(found, Mapping) else {})


def _prompt(info: Payload) -> Fields:
    return hookform.prompt(info.text("user_prompt"))


def _edited(info: Payload) -> Fields:
    given = {"file_path": info.need("file_path", 4096), "edits": info.fields.get("edits")}
    return {"kind": EventKind.FILE_EDITED, "tool": ToolUse(name="Edit", input=given)}


def _ran(info: Payload) -> Fields:
    """A command. What it printed is not told."""
    command = info.text("command_line") or info.text("command")
    tool = ToolUse(name="Bash", input={"command": command or info.need("command_line")})
    return {"kind": EventKind.TOOL_USED, "tool": tool}


def _mcp(info: Payload) -> Fields:
    server, name = info.ident("mcp_server_name") or HOST, info.need("mcp_tool_name")
    given: Any = info.fields.get("mcp_tool_arguments")
    output = info.fields.get("mcp_result")
    tool = ToolUse(name=f"mcp__{server}__{name}", input=given, output=output)
    return {"kind": EventKind.TOOL_USED, "tool": tool}


def _answered(info: Payload) -> Fields:
    """A turn's end. The text tells all that happened; the answer is its last part."""
    said = words(info, "response")
    answer = said.rpartition(SPOKEN)[2].strip() if said else None
    return {"kind": EventKind.TURN_ENDED, "answer": answer or None}


EVENTS: dict[str, Reader] = {
    "pre_user_prompt": _prompt,
    "post_write_code": _edited,
    "post_run_command": _ran,
    "post_mcp_tool_use": _mcp,
    "post_cascade_response": _answered,
}
