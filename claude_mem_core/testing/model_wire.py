"""How two model services word requests and replies; for the scripted server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from claude_mem_core.testing.fake_models import Turn

Json = dict[str, Any]

_numbers = count(1)


@attrs.frozen
class Wire:
    """One service: how its path ends, and how it reads and writes.

    Attributes:
        streams: its answers always come in pieces, whatever the request says.
    """

    path: str
    read: Callable[[Json], tuple[str, list[str]]]
    whole: Callable[[Turn, Json], Json]
    stream: Callable[[Turn, Json], Sequence[str]]
    failure: Callable[[str], Json]
    streams: bool = False


def new_id(prefix: str) -> str:
    return f"{prefix}{next(_numbers):08d}"


def _text_of(content: Any) -> str:
    """The text of a message, without the results of tools."""
    if isinstance(content, str):
        return content
    parts = [p for p in content or () if isinstance(p, dict) and p.get("type") == "text"]
    return "\n".join(str(part.get("text", "")) for part in parts)


def _said(body: Json) -> str:
    texts = [_text_of(m.get("content")) for m in body["messages"] if m.get("role") == "user"]
    return "\n".join(text for text in texts if text)


# Anthropic Messages ----------------------------------------------------------


def _read_messages(body: Json) -> tuple[str, list[str]]:
    return _said(body), [str(tool.get("name")) for tool in body.get("tools") or ()]


def _message(turn: Turn, body: Json) -> Json:
    content: list[Json] = [{"type": "text", "text": turn.text}] if turn.text else []
    for call in turn.calls:
        block = {"type": "tool_use", "id": new_id("toolu_"), "name": call.name}
        content.append({**block, "input": call.args})
    return {
        "id": new_id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "content": content,
        "stop_reason": turn.stop or ("tool_use" if turn.calls else "end_turn"),
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 20},
    }


def _message_events(turn: Turn, body: Json) -> Iterator[Json]:
    message = _message(turn, body)
    opened = {**message, "content": [], "stop_reason": None}
    yield {"type": "message_start", "message": opened}
    for index, block in enumerate(message["content"]):
        yield from _block_events(index, block)
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 20}}
    yield {"type": "message_stop"}


def _block_events(index: int, block: Json) -> Iterator[Json]:
    if block["type"] == "text":
        empty: Json = {"type": "text", "text": ""}
        delta: Json = {"type": "text_delta", "text": block["text"]}
    else:
        empty = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    yield {"type": "content_block_start", "index": index, "content_block": empty}
    yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _message_stream(turn: Turn, body: Json) -> list[str]:
    events = _message_events(turn, body)
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]


def _message_failure(text: str) -> Json:
    return {"type": "error", "error": {"type": "invalid_request_error", "message": text}}


# OpenAI Chat Completions -----------------------------------------------------


def _read_chat(body: Json) -> tuple[str, list[str]]:
    tools = [(tool.get("function") or tool).get("name") for tool in body.get("tools") or ()]
    return _said(body), [str(name) for name in tools]


def _tool_calls(turn: Turn) -> list[Json]:
    return [
        {
            "id": new_id("call_"),
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.args)},
        }
        for call in turn.calls
    ]


def _completion(turn: Turn, body: Json) -> Json:
    message: Json = {"role": "assistant", "content": turn.text or None}
    if turn.calls:
        message["tool_calls"] = _tool_calls(turn)
    finish = turn.stop or ("tool_calls" if turn.calls else "stop")
    return {
        "id": new_id("chatcmpl-"),
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


def _chunk_stream(turn: Turn, body: Json) -> list[str]:
    whole = _completion(turn, body)
    choice = whole["choices"][0]
    deltas: list[Json] = [{"role": "assistant", "content": turn.text}]
    calls = choice["message"].get("tool_calls", ())
    deltas += [{"tool_calls": [{"index": i, **call}]} for i, call in enumerate(calls)]
    rows = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    rows.append({"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]})
    head = {**whole, "object": "chat.completion.chunk", "usage": None}
    chunks = [{**head, "choices": [row]} for row in rows]
    chunks.append({**head, "choices": [], "usage": whole["usage"]})
    return [*(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks), "data: [DONE]\n\n"]


def _chat_failure(text: str) -> Json:
    return {"error": {"message": text, "type": "invalid_request_error", "code": None}}


ANTHROPIC = Wire("/messages", _read_messages, _message, _message_stream, _message_failure)
CHAT = Wire("/chat/completions", _read_chat, _completion, _chunk_stream, _chat_failure)
