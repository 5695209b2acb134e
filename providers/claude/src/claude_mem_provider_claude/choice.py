"""Which way to Claude the settings mean, with which model, and what is missing for it."""

from __future__ import annotations

import logging
import os

from claude_mem_core.providing.origins import origin_of
from claude_mem_core.providing.programs import found
from claude_mem_core.types import Model, Room, Values
from claude_mem_provider_claude import (
    BASE_URL,
    DEFAULT_MODEL,
    FAST,
    KEY,
    METHOD,
    MODEL,
    NAME,
    ORIGIN,
    PATH,
    SMART,
    TOKEN,
    USES,
)

log = logging.getLogger(__name__)

ALIASES = {
    "haiku": "claude-haiku-4-5-20251001",
    "sonnet": "claude-sonnet-5",
    "opus": "claude-opus-4-8",
}
TIERS = {"$TIER:fast": (FAST, "haiku"), "$TIER:smart": (SMART, "sonnet")}
WINDOW, LONG_WINDOW, LONG = 200_000, 1_000_000, "[1m]"
PLACES = (
    "~/.local/bin/claude",
    "~/.claude/local/claude",
    "/opt/homebrew/bin/claude",
    "/usr/local/bin/claude",
)


def opened(settings: Values) -> Model:
    """Claude in the way that the settings and keys mean."""
    if method(settings) == "subscription":
        from claude_mem_provider_claude.subscription import SubscriptionModel

        return SubscriptionModel(settings)
    from claude_mem_provider_claude.api import ApiModel

    return ApiModel(settings)


def method(settings: Values) -> str:
    """`subscription`, `api-key` or `gateway`.

    A base URL, key or token that the user set wins over the subscription: then nothing
    falls back to a login, or to Anthropic's own address.
    """
    if settings.get(BASE_URL):
        return "gateway"
    chosen = settings.get(METHOD) or "subscription"
    keyed = settings.get(KEY) or settings.get(TOKEN)
    return "api-key" if keyed and chosen == "subscription" else str(chosen)


def base_url(settings: Values) -> str:
    """Anthropic's address or the gateway's; the SDK adds `/v1` itself."""
    own = str(settings.get(BASE_URL) or "").strip().rstrip("/").removesuffix("/v1")
    return own or (ORIGIN if method(settings) == "api-key" else "")


def model(settings: Values) -> str:
    """The model's full name; a gateway knows names that nobody here does."""
    name = str(settings.get(MODEL) or DEFAULT_MODEL)
    if name in TIERS:
        key, usual = TIERS[name]
        name = str(settings.get(key) or usual)
    if method(settings) == "gateway":
        return name
    full = ALIASES.get(name.lower(), name)
    if full.startswith(("claude-", "anthropic.")):
        return full
    log.warning("%s %r is no Claude model; %s is asked", MODEL, name, DEFAULT_MODEL)
    return DEFAULT_MODEL


def room(settings: Values) -> Room:
    """The window of the model, if it is Claude's, and the user's own limit on a batch."""
    name, uses = model(settings), int(settings.get(USES) or 0)
    if not name.startswith("claude-"):
        return Room(uses=uses)
    return Room(window=LONG_WINDOW if name.endswith(LONG) else WINDOW, uses=uses)


def small(settings: Values) -> str:
    """The model for simple work; a gateway's models have names that nobody here knows."""
    return "" if method(settings) == "gateway" else model({**settings, MODEL: "$TIER:fast"})


def program(settings: Values) -> str:
    """The path of Claude Code; empty when it is not there."""
    named = str(settings.get(PATH) or "claude")
    usual = PLACES if named == "claude" else ()
    return next((path for path in map(found, (named, *usual)) if path), "")


def missing(settings: Values) -> str:
    """What is to be set before the first request, with the command; empty: nothing."""
    way = method(settings)
    if way == "subscription" and not program(settings):
        named = os.path.basename(str(settings.get(PATH) or "claude"))
        text = f"Claude Code ({named}) is not there: mem config set claude-path PATH"
        return f"{text}; or use an API key: mem auth set {NAME}"
    if way == "gateway" and not origin_of(base_url(settings)):
        return "the gateway has no address: mem config set claude-base-url URL"
    if way == "api-key" and not (settings.get(KEY) or settings.get(TOKEN)):
        return f"it has no key: mem auth set {NAME}"
    return ""
