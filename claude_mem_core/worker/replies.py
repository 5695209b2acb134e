"""Answers in their raw form, and the headers that all of them carry."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
Receive = Callable[[], Awaitable[Message]]
Scope = MutableMapping[str, Any]
Headers = list[tuple[bytes, bytes]]

CSP = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    b"img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    b"require-trusted-types-for 'script'; trusted-types 'none'"
)
SECURITY: Headers = [
    (b"content-security-policy", CSP),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]
JSON_TYPE = (b"content-type", b"application/json")


def to_json(value: Any) -> bytes:
    """A value as UTF-8 JSON; lone surrogates stay escapes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


async def reply(
    send: Send, status: int, value: Any, extra: Iterable[tuple[bytes, bytes]] = ()
) -> None:
    """Send one JSON answer with its length and all security headers."""
    body = to_json(value)
    length = (b"content-length", b"%d" % len(body))
    headers = [JSON_TYPE, length, *SECURITY, *extra]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def refuse(send: Send, status: int, text: str) -> None:
    """Send an error and close the connection, for its body may be unread."""
    extra: Headers = [(b"connection", b"close")]
    if status == 401:
        extra.append((b"www-authenticate", b"Bearer"))
    await reply(send, status, {"error": text}, extra)


def secured(send: Send) -> Send:
    """`send` that adds the security headers where an answer lacks them."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers: Headers = list(message.get("headers", []))
            there = {name.lower() for name, _ in headers}
            headers += [pair for pair in SECURITY if pair[0] not in there]
            message = {**message, "headers": headers}
        await send(message)

    return sending


def _raw(status: bytes, value: Any) -> bytes:
    body = to_json(value)
    headers = [JSON_TYPE, (b"content-length", b"%d" % len(body)), (b"connection", b"close")]
    lines = [name + b": " + text for name, text in [*headers, *SECURITY]]
    return b"\r\n".join([b"HTTP/1.1 " + status, *lines, b"", body])


BAD_REQUEST = _raw(b"400 Bad Request", {"error": "this is no valid HTTP request"})
