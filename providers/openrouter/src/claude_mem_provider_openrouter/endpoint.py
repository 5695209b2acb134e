"""What the settings mean: an endpoint, or what is missing for one."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Any

from claude_mem_core.providing import gateway
from claude_mem_core.providing.chat import Endpoint, model_advice
from claude_mem_core.providing.origins import host_of, is_private, origin_of
from claude_mem_core.types import Values
from claude_mem_provider_openrouter import (
    APP_NAME,
    BASE_URL,
    DEFAULT_MODEL,
    EFFORT,
    EXTRA_BODY,
    KEY,
    MODEL,
    NAME,
    SITE_URL,
    TEMPERATURE,
)

log = logging.getLogger(__name__)

HOME = "https://openrouter.ai/api/v1"
SITE = "https://github.com/thedotmack/claude-mem"
SEPARATORS = re.compile(r"[\s,]+")
# Fields that say what is asked: they are ours.
OWN = frozenset(
    {"model", "models", "messages", "stream", "max_tokens", "max_completion_tokens"}
)
USUAL_TEMPERATURE = 0.3


def base_url(settings: Values) -> str:
    """The user's own base URL, else OpenRouter's."""
    return settings.get(BASE_URL) or HOME


def models(settings: Values) -> list[str]:
    """The models in the order in which they are to be tried; never empty."""
    given = settings.get(MODEL) or ()
    words = [given] if isinstance(given, str) else given
    found = [model for word in words for model in SEPARATORS.split(word) if model]
    return found or [DEFAULT_MODEL]


def missing(settings: Values) -> str:
    """What is to be set before the first request, with the command; empty: nothing."""
    url = base_url(settings)
    if not origin_of(url):
        return f"{url} is no address: mem config set openrouter-base-url URL"
    if not settings.get(KEY) and not is_private(host_of(url)):
        return f"it has no key: mem auth set {NAME}"
    return ""


def endpoint(settings: Values) -> Endpoint:
    """The endpoint. cmem.ai's gateway gets what it takes, and nothing of OpenRouter's."""
    url, key = base_url(settings), settings.get(KEY) or ""
    if gateway.serves(url):
        return gateway.endpoint(NAME, url, models(settings)[0], key)
    fields = _extra(settings)
    warmth = fields.pop("temperature", USUAL_TEMPERATURE)
    if _is_home(url):
        fields = _at_home(settings, fields)
    return Endpoint(
        provider=NAME,
        base_url=url,
        model=models(settings)[0],
        key=key,
        headers=_headers(settings),
        fields=fields,
        temperature=_temperature(settings, warmth),
        advice=model_advice(MODEL, models(settings)[0]),
    )


def _is_home(url: str) -> bool:
    host = host_of(url)
    return host == "openrouter.ai" or host.endswith(".openrouter.ai")


def _headers(settings: Values) -> dict[str, str]:
    site, name = settings.get(SITE_URL) or SITE, settings.get(APP_NAME) or "claude-mem"
    return {"HTTP-Referer": _plain(site), "X-Title": _plain(name)}


def _plain(text: str) -> str:
    """What may stand in a header."""
    return "".join(char for char in text if char.isascii() and char.isprintable())


def _extra(settings: Values) -> dict[str, Any]:
    """The user's own fields, without those that say what is asked."""
    given = settings.get(EXTRA_BODY) or {}
    if not isinstance(given, Mapping):
        return {}
    for name in sorted(OWN & set(given)):
        log.warning("%s: the field %s is not sent, it is not to be replaced", EXTRA_BODY, name)
    return {name: value for name, value in given.items() if name not in OWN}


def _at_home(settings: Values, fields: dict[str, Any]) -> dict[str, Any]:
    """What only openrouter.ai knows: its price, models to fall back to, reasoning."""
    fields = {**fields, "usage": {"include": True}}
    if len(models(settings)) > 1:
        fields["models"] = models(settings)
    if settings.get(EFFORT):
        fields["reasoning"] = {"effort": settings[EFFORT]}
    return fields


def _temperature(settings: Values, usual: Any) -> float:
    """The user's setting, else the extra body's, else the usual one."""
    for value in (settings.get(TEMPERATURE), usual):
        if isinstance(value, int | float) and 0 <= value <= 2:
            return float(value)
    return USUAL_TEMPERATURE
