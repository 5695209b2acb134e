"""What a run of Claude Code says, line by line: its result, and the plan's windows."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

import attrs

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.providing.classify import from_prose, from_response, unusable
from claude_mem_core.providing.programs import Ran
from claude_mem_core.types import Window
from claude_mem_provider_claude import NAME

Json = Mapping[str, Any]
NOT_YOURS = "(not your usage limit)"


@attrs.frozen(kw_only=True)
class Told:
    """What a run said.

    Attributes:
        result: its last word; empty when it ended without one.
        limits: what it said of the plan's windows.
        model: the model that answered.
        last: its last words on stderr, for a run without a result.
    """

    result: Json = attrs.field(factory=dict)
    limits: Json = attrs.field(factory=dict)
    model: str = ""
    last: str = ""


def read(ran: Ran) -> Told:
    """The lines of a run; what is no JSON object is skipped."""
    told = Told(last=ran.err)
    for line in ran.out.splitlines():
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict):
            told = _with(told, event)
    return told


def _with(told: Told, event: dict[str, Any]) -> Told:
    kind = event.get("type")
    if kind == "result":
        return attrs.evolve(told, result=event)
    if kind == "rate_limit_event" and isinstance(event.get("rate_limit_info"), dict):
        return attrs.evolve(told, limits=event["rate_limit_info"])
    message = event.get("message")
    if kind == "assistant" and isinstance(message, dict):
        name = str(message.get("model") or "")
        return told if name.startswith("<") else attrs.evolve(told, model=name)
    return told


def failure_of(told: Told) -> ProviderError | None:
    """The failure that a run ended with; None when it has an answer."""
    result = told.result
    if not result:
        said = from_prose(told.last, NAME)
        return said or unusable(f"Claude Code ended without a result: {told.last}", NAME)
    text = str(result.get("result") or result.get("errors") or "")
    if not result.get("is_error"):
        return None
    rejected = _rejected(told.limits, text)
    if rejected is not None:
        return rejected
    status = result.get("api_error_status")
    words = text.replace(NOT_YOURS, "")
    if type(status) is int:
        return from_prose(words, NAME) or from_response(status, None, _body(words), NAME)
    return from_prose(words, NAME) or unusable(words or "Claude Code failed", NAME)


def _body(text: str) -> Json:
    return {"error": {"message": text}}


def _rejected(limits: Json, text: str) -> ProviderError | None:
    """A window of the plan is used up: it says until when."""
    resets = limits.get("resetsAt")
    if limits.get("status") != "rejected" or type(resets) not in (int, float):
        return None
    left = max(float(resets or 0) - time.time(), 0.0)
    return ProviderError(Failure.QUOTA, text, retry_after_s=left, provider=NAME)


def windows_of(limits: Json) -> tuple[Window, ...]:
    """How far each window of the plan is used; overage only while it is in use."""
    unified = limits.get("unifiedWindows")
    found: dict[str, Any] = dict(unified) if isinstance(unified, dict) else {}
    name = limits.get("rateLimitType")
    if isinstance(name, str) and name not in found:
        found[name] = limits
    if not limits.get("isUsingOverage"):
        found.pop("overage", None)
    return tuple(_window(str(k), v) for k, v in found.items() if isinstance(v, dict))


def _window(name: str, said: Json) -> Window:
    used, resets = _number(said.get("utilization")), _number(said.get("resetsAt"))
    return Window(
        name=name,
        used=used,
        resets_at_ms=int(resets * 1000),
        rejected=said.get("status") == "rejected",
    )


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
