"""How OpenAI's Responses API words requests and replies; for the scripted server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING, Any

from claude_mem_core.testing.model_wire import Json, Wire, new_id

if TYPE_CHECKING:
    from claude_mem_core.testing.fake_models import Turn


def _read(body: Json) -> tuple[str, list[str]]:
    given = body.get("input") or ()
    if isinstance(given, str):
        return given, []
    texts = [_text(item.get("content")) for item in given if item.get("role") == "user"]
    tools = [str(tool.get("name") or tool.get("type")) for tool in body.get("tools") or ()]
    return "\n".join(text for text in texts if text), tools


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = [part for part in content or () if part.get("type") == "input_text"]
    return "\n".join(str(part.get("text", "")) for part in parts)


def _response(turn: Turn, body: Json) -> Json:
    output: list[Json] = [_message(turn.text)] if turn.text else []
    for call in turn.calls:
        item = {"type": "function_call", "id": new_id("fc_"), "call_id": new_id("call_")}
        item |= {"namespace": call.namespace} if call.namespace else {}
        output.append({**item, "name": call.name, "arguments": json.dumps(call.args)})
    return {
        "id": new_id("resp_"),
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "model": body.get("model"),
        "output": output,
        "usage": {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 40},
            "output_tokens": 20,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 120,
        },
    }


def _message(text: str) -> Json:
    part = {"type": "output_text", "text": text, "annotations": []}
    head = {"type": "message", "id": new_id("msg_"), "role": "assistant"}
    return {**head, "status": "completed", "content": [part]}


def _events(response: Json) -> Iterator[Json]:
    opened = {**response, "status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": opened}
    for index, item in enumerate(response["output"]):
        yield {"type": "response.output_item.added", "output_index": index, "item": item}
        if item["type"] == "message":
            where = {"output_index": index, "item_id": item["id"], "content_index": 0}
            text = item["content"][0]["text"]
            yield {"type": "response.output_text.delta", **where, "delta": text}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": response}


def _stream(turn: Turn, body: Json) -> list[str]:
    numbers = count()
    events = [{**e, "sequence_number": next(numbers)} for e in _events(_response(turn, body))]
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]


def _failure(text: str) -> Json:
    return {"error": {"message": text, "type": "invalid_request_error", "code": None}}


RESPONSES = Wire("/responses", _read, _response, _stream, _failure)
