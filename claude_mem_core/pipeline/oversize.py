"""Payloads that the hook cut: what can still be told from their head and tail."""

from __future__ import annotations

import json
import re

import attrs

from claude_mem_core.types import Delivery

FIELD = re.compile(rb'"([a-z_A-Z]{1,40})"\s*:\s*("(?:[^"\\]|\\.){0,4000}"|\d{1,15}|true|false)')
KEPT = frozenset(
    {"session_id", "transcript_path", "cwd", "prompt_id", "permission_mode", "sessionId"}
    | {"hook_event_name", "tool_name", "tool_use_id", "tool_call_id", "agent_id"}
    | {"conversationId", "trajectory_id", "execution_id", "generation_id"}
    | {"agent_type", "conversation_id", "client_type", "file_path", "path", "command"}
)
HEAD = 20_000
ENDS = 2_000


def is_cut(delivery: Delivery) -> bool:
    """Whether only a part came, and not as a document of its own.

    Our hook mends what it cuts, so that nothing private can hide in the seam.
    """
    return delivery.size > len(delivery.stdin) and not _is_json(delivery.stdin)


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def mended(delivery: Delivery) -> Delivery:
    """The same delivery with a small valid payload that says what was left out."""
    fields = _fields(delivery.stdin[:HEAD])
    note = {
        "head": _text(delivery.stdin[HEAD // 2 : HEAD // 2 + ENDS]),
        "tail": _text(delivery.stdin[-ENDS:]),
        "too_large": f"{delivery.size} bytes; only head and tail were kept",
    }
    tool_input = {k: fields.pop(k) for k in ("file_path", "path", "command") if k in fields}
    payload = {**fields, "tool_input": tool_input, "tool_response": note, "tool_output": note}
    return attrs.evolve(delivery, stdin=json.dumps(payload).encode(), size=0)


def _fields(head: bytes) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in FIELD.findall(head):
        key = name.decode()
        if key in KEPT and key not in found:
            found[key] = _value(value)
    return found


def _value(raw: bytes) -> object:
    try:
        return json.loads(raw.decode("utf-8", "replace"))
    except ValueError:
        return ""


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
