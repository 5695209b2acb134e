"""Request bodies: read with a limit, checked, never trusted."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from typing import Any

from claude_mem_core.convert import SURROGATE, json_loads_bounded
from claude_mem_core.errors import InvalidInput
from claude_mem_core.worker.auth import body_limit, check_type
from claude_mem_core.worker.check import check
from claude_mem_core.worker.reading import read_body
from claude_mem_core.worker.refusal import Refused, Right
from claude_mem_core.worker.replies import Receive, Scope
from claude_mem_core.worker.spec import Endpoint, Schema

OPEN_S = 5.0  # in which somebody who has not proved himself must have sent his body
INLINE = 1 << 20  # a larger body is read off the event loop: hooks must not wait for it


async def json_body(endpoint: Endpoint, scope: Scope, receive: Receive) -> Any:
    """The checked JSON body that `endpoint` declares; None when there is none.

    Raises:
        Refused: 408, 413, 415.
        InvalidInput: it is no JSON, or not as declared.
    """
    local, right = scope["state"]["local"], scope["state"]["right"]
    most = body_limit(local=local, right=right)
    try:
        async with asyncio.timeout(OPEN_S if right is Right.NONE else None):
            raw = await read_body(receive, most)
    except TimeoutError as error:
        raise Refused(408, "the body did not come in time") from error
    _check_hash(scope, raw)
    if endpoint.body is None or (not raw.strip() and endpoint.body_optional):
        if raw:
            check_type(scope["headers"])
        return {} if endpoint.body is not None else None
    check_type(scope["headers"])
    if len(raw) > INLINE:
        return await asyncio.to_thread(_checked, raw, most, endpoint.body)
    return _checked(raw, most, endpoint.body)


def _checked(raw: bytes, most: int, schema: Schema) -> Any:
    value = storable(json_loads_bounded(raw, most))
    check(value, schema, "the body")
    return value


def storable(value: Any) -> Any:
    """The value with U+FFFD for what no text column takes: NUL, unpaired surrogates.

    A whole number is an int however it was written, as JSON has it.
    """
    if isinstance(value, str):
        text = value.replace("\0", "\ufffd")
        return text if text.isascii() else SURROGATE.sub("\ufffd", text)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, list):
        return [storable(item) for item in value]
    if isinstance(value, dict):
        return {storable(key): storable(item) for key, item in value.items()}
    return value


def _check_hash(scope: Scope, raw: bytes) -> None:
    """A proof made with the token covers the body too."""
    promised = scope["state"].get("body_hash")
    if promised is None:
        return
    if not hmac.compare_digest(promised, hashlib.sha256(raw).hexdigest()):
        raise InvalidInput("the body is not the one that was proved")
