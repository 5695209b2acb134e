"""The gateway of cmem.ai: what it takes, and what it says when it refuses.

It speaks Chat Completions, in one piece, and takes no field beyond the plain ones. One
key, never a pool; the key goes nowhere else and no other key goes there (`origins`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from claude_mem_core.errors import ProviderError
from claude_mem_core.providing.advice import is_shown
from claude_mem_core.providing.chat import Endpoint
from claude_mem_core.providing.fields import told
from claude_mem_core.providing.origins import is_gateway

BASE_URL = "https://cmem.ai/api/inference/v1"
MODEL = "cmem-observer"


def endpoint(provider: str, base_url: str, model: str, key: str) -> Endpoint:
    """The gateway as an endpoint."""
    return Endpoint(
        provider=provider,
        base_url=base_url,
        model=model or MODEL,
        key=key,
        stream=False,
        told=refusal,
    )


def serves(base_url: str) -> bool:
    """Whether a base URL is the gateway's."""
    return is_gateway(base_url)


def refusal(error: ProviderError, body: Any) -> ProviderError:
    """The failure in the gateway's own words: its message, what to do, where, the request.

    A link is kept only when it is one of cmem.ai's own.
    """
    said = _envelope(body)
    text = told(said.get("message", "")) or str(error)
    number = told(said.get("request_id", ""))
    url = said.get("url", "")
    return ProviderError(
        error.failure,
        f"{text} [request {number}]" if number and number not in text else text,
        retry_after_s=error.retry_after_s,
        provider=error.provider,
        action=told(said.get("action", "")),
        url=url if is_shown(url) else "",
    )


def _envelope(body: Any) -> dict[str, str]:
    """`{code, message, action, url, request_id}`, as it is or inside `error`."""
    found = body.get("error", body) if isinstance(body, Mapping) else {}
    if not isinstance(found, Mapping):
        return {}
    return {str(name): value for name, value in found.items() if isinstance(value, str)}
