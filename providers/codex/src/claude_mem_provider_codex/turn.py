"""What Codex tells of a turn: its answer, what it cost, the plan's windows, why it failed."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any

import attrs

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.providing.classify import from_prose, from_response, unusable
from claude_mem_core.types import Reply, Usage, Window
from claude_mem_provider_codex import NAME

Json = Mapping[str, Any]

KINDS = {
    "contextWindowExceeded": Failure.TOO_LONG,
    "usageLimitExceeded": Failure.QUOTA,
    "sessionBudgetExceeded": Failure.QUOTA,
    "rateLimitExceeded": Failure.RATE_LIMIT,
    "serverOverloaded": Failure.OVERLOAD,
    "flexUnavailable": Failure.OVERLOAD,
    "policyCapacityUnavailable": Failure.OVERLOAD,
    "internalServerError": Failure.OUTAGE,
    "modelNotFound": Failure.MODEL,
    "unauthorized": Failure.KEY_REFUSED,
    "badRequest": Failure.BAD_REQUEST,
    "cyberPolicy": Failure.BAD_REQUEST,
    "bioPolicy": Failure.BAD_REQUEST,
    "misalignmentPolicyViolation": Failure.BAD_REQUEST,
    "inferenceHookDenied": Failure.BAD_REQUEST,
}
EFFORT_REFUSED = re.compile(r"\breasoning.{0,3}effort\b", re.IGNORECASE)
WORDS = (
    (Failure.MODEL, re.compile(r"\bmodel\b.{0,80}not supported", re.IGNORECASE)),
    (
        Failure.KEY_REFUSED,
        re.compile(r"refresh token|log ?in again|sign in again", re.IGNORECASE),
    ),
    (Failure.TIMEOUT, re.compile(r"timed? ?out|idle timeout", re.IGNORECASE)),
    (
        Failure.OUTAGE,
        re.compile(r"disconnected|error sending request|connection", re.IGNORECASE),
    ),
)
PLAIN = frozenset({"userMessage", "agentMessage", "reasoning", "plan", "contextCompaction"})
NAMES = {300: "five_hour", 10_080: "seven_day"}


@attrs.define
class Turn:
    """A turn as far as it has come."""

    model: str = ""
    text: str = ""
    usage: Usage = attrs.field(factory=Usage)
    windows: tuple[Window, ...] = ()
    last_error: Json = attrs.field(factory=dict)

    def take(self, event: Json) -> Reply | None:
        """One thing that Codex tells; the reply when the turn is over.

        Raises:
            ProviderError: the turn failed, or Codex set about doing something.
        """
        params = event.get("params")
        found: Json = params if isinstance(params, Mapping) else {}
        match event.get("method"):
            case "item/started" | "item/completed":
                self._item(_part(found, "item"))
            case "thread/tokenUsage/updated":
                self.usage = _usage(_part(_part(found, "tokenUsage"), "total"))
            case "account/rateLimits/updated":
                self.windows = windows_of(_part(found, "rateLimits")) or self.windows
            case "error":
                self.last_error = _part(found, "error")
            case "turn/completed":
                return self._over(_part(found, "turn"))
        return None

    def _item(self, item: Json) -> None:
        kind = str(item.get("type"))
        if kind not in PLAIN:
            raise unusable(f"Codex wanted to do something ({kind}) instead of answering", NAME)
        if kind == "agentMessage" and isinstance(item.get("text"), str):
            self.text = item["text"]

    def _over(self, turn: Json) -> Reply:
        status = str(turn.get("status"))
        if status != "completed":
            raise self.failure(_part(turn, "error") or self.last_error)
        return Reply(
            text=self.text,
            usage=self.usage,
            stop=status,
            model=self.model,
            windows=self.windows,
        )

    def failure(self, error: Json) -> ProviderError:
        """The failure that an error of Codex means."""
        message = str(error.get("message") or "Codex gave no reason")
        info = error.get("codexErrorInfo")
        kind, status = _kind(info, message), _status(info)
        if kind is None and status:
            return from_response(status, None, {"error": {"message": message}}, NAME)
        if kind is None:
            return from_prose(message, NAME) or unusable(message, NAME)
        wait = self._wait() if kind in {Failure.QUOTA, Failure.RATE_LIMIT} else None
        return ProviderError(kind, message, retry_after_s=wait, provider=NAME)

    def _wait(self) -> float | None:
        """Seconds until every window that is used up has begun anew."""
        ends = [w.resets_at_ms / 1000 for w in self.windows if w.rejected and w.resets_at_ms]
        return max(max(ends) - time.time(), 0.0) if ends else None


def windows_of(limits: Json) -> tuple[Window, ...]:
    """The plan's windows, by the names they have with other subscriptions."""
    found = (_part(limits, name) for name in ("primary", "secondary"))
    return tuple(_window(said) for said in found if "usedPercent" in said)


def _window(said: Json) -> Window:
    used, resets = said.get("usedPercent"), said.get("resetsAt")
    minutes = said.get("windowDurationMins")
    part = used / 100 if isinstance(used, int | float) else 0.0
    return Window(
        name=NAMES.get(minutes, f"{minutes} minutes") if isinstance(minutes, int) else "plan",
        used=part,
        resets_at_ms=resets * 1000 if isinstance(resets, int) else 0,
        rejected=part >= 1,
    )


def _part(value: Json, name: str) -> Json:
    found = value.get(name)
    return found if isinstance(found, Mapping) else {}


def _kind(info: Any, message: str) -> Failure | None:
    if EFFORT_REFUSED.search(message):
        return Failure.MODEL  # it stays refused until the setting is changed
    if isinstance(info, str) and info in KINDS:
        return KINDS[info]
    if _status(info):
        return None
    return next((kind for kind, words in WORDS if words.search(message)), None)


def _status(info: Any) -> int:
    """The HTTP status inside `{"httpConnectionFailed": {"httpStatusCode": 404}}`."""
    inner = next(iter(info.values()), None) if isinstance(info, Mapping) and info else None
    status = inner.get("httpStatusCode") if isinstance(inner, Mapping) else None
    return status if isinstance(status, int) and status >= 300 else 0


def _usage(total: Json) -> Usage:
    def count(name: str) -> int:
        value = total.get(name)
        return value if type(value) is int else 0

    return Usage(
        input_tokens=count("inputTokens"),
        output_tokens=count("outputTokens"),
        cached_tokens=count("cachedInputTokens"),
    )
