"""How Gemini words requests and replies; for the scripted server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from claude_mem_core.testing.model_wire import Json, Wire, new_id

if TYPE_CHECKING:
    from claude_mem_core.testing.fake_models import Turn


def _read(body: Json) -> tuple[str, list[str]]:
    said = [_text(content) for content in body.get("contents", ()) if _by_user(content)]
    tools = [
        str(function.get("name"))
        for tool in body.get("tools") or ()
        for function in tool.get("functionDeclarations") or ()
    ]
    return "\n".join(text for text in said if text), tools


def _by_user(content: Any) -> bool:
    return isinstance(content, dict) and content.get("role", "user") == "user"


def _text(content: Json) -> str:
    parts = content.get("parts") or ()
    return "\n".join(str(part["text"]) for part in parts if "text" in part)


def _answer(turn: Turn, body: Json) -> Json:
    parts: list[Json] = [{"text": turn.text}] if turn.text else []
    for call in turn.calls:
        parts.append(
            {"functionCall": {"id": new_id("fc-"), "name": call.name, "args": call.args}}
        )
    content = {"role": "model", "parts": parts}
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}
    return {
        "candidates": [{"index": 0, "content": content, "finishReason": turn.stop or "STOP"}],
        "usageMetadata": {**usage, "cachedContentTokenCount": 40},
        "modelVersion": "fake-model",
        "responseId": new_id("gem-"),
    }


def _stream(turn: Turn, body: Json) -> list[str]:
    return [f"data: {json.dumps(_answer(turn, body))}\r\n\r\n"]


def _failure(text: str) -> Json:
    return {"error": {"message": text, "status": "INVALID_ARGUMENT"}}


GEMINI = Wire(":generateContent", _read, _answer, _stream, _failure)
GEMINI_STREAM = Wire(":streamGenerateContent", _read, _answer, _stream, _failure, streams=True)
