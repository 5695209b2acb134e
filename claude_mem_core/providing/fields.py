"""What a service said when it refused: its status and the words of its answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import attrs

from claude_mem_core.clean.vendor import redact
from claude_mem_core.render import shortened, visible_only

BODY_CHARS = 20_000
TOLD_CHARS = 300
REQUEST_IDS = ("request-id", "x-request-id", "x-goog-request-id", "cf-ray")
REQUEST_ID = re.compile(r"[A-Za-z0-9_.:-]{1,100}")
MARKUP = re.compile(r"<[^<>]{1,300}>")
# A key, a token or a long random word: nobody needs it to understand what is wrong.
LONG_WORD = re.compile(
    r"[A-Za-z0-9_+=-]{40,}|\b(?:sk|cm_pro|AIza|gsk|xai|key)[-_][A-Za-z0-9_*.-]{4,}"
)


@attrs.frozen(kw_only=True)
class Refused:
    """An answer that is no reply.

    Attributes:
        status: of HTTP, or the one that the body names; 0 when there is none.
        words: everything it says, in lower case, to look words up in.
        message: its own sentence for people, without anything that looks like a key.
        raw: its body as text.
        headers: by lower name.
        request: the service's id of the request, for its support.
    """

    status: int = 0
    words: str = ""
    message: str = ""
    raw: str = ""
    headers: Mapping[str, str] = attrs.field(factory=dict)
    request: str = ""


def refused(status: int | None, headers: Mapping[str, str] | None, body: Any) -> Refused:
    """Read an answer: `body` is text, bytes, or JSON that was read already."""
    raw = _raw(body)
    parsed = _parsed(body, raw)
    lower = {str(name).lower(): str(value) for name, value in (headers or {}).items()}
    named = _status_in(parsed)
    return Refused(
        status=_real(status or 0) or named,
        words=raw.lower(),
        message=told(_message(parsed) or raw),
        raw=raw,
        headers=lower,
        request=_request(lower),
    )


def _real(status: int) -> int:
    """0 for a status that tells of success: the body says what happened then."""
    return status if status >= 300 else 0


def told(text: str, key: str = "") -> str:
    """A service's words for a log or a person: one line, short, no key in it."""
    bare = text.replace(key, "***") if key else text
    bare = MARKUP.sub(" ", bare[:BODY_CHARS])
    bare = LONG_WORD.sub("***", redact(" ".join(visible_only(bare).split())))
    return shortened(bare, TOLD_CHARS)


def _raw(body: Any) -> str:
    if isinstance(body, bytes):
        body = body[: BODY_CHARS * 4].decode("utf-8", "replace")
    if isinstance(body, str):
        return body[:BODY_CHARS]
    if body is None:
        return ""
    try:
        return json.dumps(body, default=str)[:BODY_CHARS]
    except (ValueError, RecursionError):
        return ""


def _parsed(body: Any, raw: str) -> Any:
    if not isinstance(body, str | bytes):
        return body
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def _error(parsed: Any) -> Any:
    """The part that tells of the error: services nest it in `error`, some in a list."""
    if isinstance(parsed, list) and parsed:
        parsed = parsed[0]
    if isinstance(parsed, dict):
        return parsed.get("error", parsed)
    return None


def _status_in(parsed: Any) -> int:
    """The status that a body names, of a service that says 200 and means 429."""
    error = _error(parsed)
    code = error.get("code", error.get("status")) if isinstance(error, dict) else None
    try:
        value = int(code) if isinstance(code, int | str) else 0
    except ValueError:
        return 0
    return value if 400 <= value <= 599 else 0


def _message(parsed: Any) -> str:
    error = _error(parsed)
    if isinstance(error, str):
        return error
    if not isinstance(error, dict):
        return ""
    texts = (error.get(name) for name in ("message", "detail", "msg", "title"))
    return next((text for text in texts if isinstance(text, str)), "")


def _request(headers: Mapping[str, str]) -> str:
    found = next((headers[name] for name in REQUEST_IDS if name in headers), "")
    return found if REQUEST_ID.fullmatch(found) else ""
