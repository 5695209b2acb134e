"""What the settings mean, whether staged or activated: the gateway, or what is missing.

The set-up of cmem.ai writes its key into fields of its own and, later, into those of
OpenRouter with the gateway as base URL. Both are read as they stand; nothing is moved.
"""

from __future__ import annotations

from claude_mem_core.providing import gateway
from claude_mem_core.providing.chat import Endpoint
from claude_mem_core.providing.origins import GATEWAY_KEY
from claude_mem_core.types import Values
from claude_mem_provider_cmem_pro import (
    ACTIVE_BASE_URL,
    ACTIVE_KEY,
    ACTIVE_MODEL,
    BASE_URL,
    KEY,
    MODEL,
    NAME,
)


def key(settings: Values) -> str:
    """The staged key, else the activated one; a key of another service is none."""
    found = (str(settings.get(name) or "").strip() for name in (KEY, ACTIVE_KEY))
    return next((value for value in found if value.startswith(GATEWAY_KEY)), "")


def is_active(settings: Values) -> bool:
    """Whether the fields of OpenRouter hold the gateway's values."""
    return gateway.serves(settings.get(ACTIVE_BASE_URL) or "")


def base_url(settings: Values) -> str:
    """The staged address, else the activated one, else the usual one."""
    active = settings.get(ACTIVE_BASE_URL) if is_active(settings) else ""
    return settings.get(BASE_URL) or active or gateway.BASE_URL


def model(settings: Values) -> str:
    """The staged model, else the activated one, else the usual one."""
    active = (settings.get(ACTIVE_MODEL) or "") if is_active(settings) else ""
    names = active.split(",") if isinstance(active, str) else active
    return settings.get(MODEL) or next(iter(names), "") or gateway.MODEL


def missing(settings: Values) -> str:
    """What is to be set before the first request, with the command; empty: nothing."""
    if not gateway.serves(base_url(settings)):
        return f"{base_url(settings)} is not cmem.ai: mem config set pro-memory-base-url ''"
    if not key(settings):
        return f"it has no key (cm_pro_...): mem auth set {NAME}"
    return ""


def endpoint(settings: Values) -> Endpoint:
    """The gateway with this account's key."""
    return gateway.endpoint(NAME, base_url(settings), model(settings), key(settings))
