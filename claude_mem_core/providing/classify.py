"""One classification of failures for all vendors: what they raise becomes `ProviderError`.

    try:
        message = await client.messages.create(...)
    except anthropic.APIError as error:
        raise from_exception(error, "claude") from None

A provider package calls `from_response` (it read an answer itself), `from_exception` (its
SDK raised), `from_prose` (a reply that is really a refusal) or `unusable`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.providing.fields import Refused, refused, told
from claude_mem_core.providing.waits import wait_of
from claude_mem_core.providing.wording import failure_of, prose_failure

CHAIN = 6
PROSE_CHARS = 600
STRUCTURED = re.compile(r"<(?:observation|summary|skip_summary)\b", re.IGNORECASE)
TIMEOUTS = re.compile(r"timeout|timedout|deadline", re.IGNORECASE)
CONNECTIONS = re.compile(
    r"connect|network|remoteprotocol|readerror|writeerror|closedresource|brokenresource|"
    r"incompleteread|endofstream|transporterror",
    re.IGNORECASE,
)
SAYS = {
    Failure.RATE_LIMIT: "too many requests just now",
    Failure.QUOTA: "the allowance is spent",
    Failure.KEY_REFUSED: "the key was refused",
    Failure.PAYMENT: "the account has no credit",
    Failure.OVERLOAD: "the service is overloaded",
    Failure.OUTAGE: "the service can't be reached",
    Failure.TIMEOUT: "no answer came in time",
    Failure.TOO_LONG: "the conversation is too long for the model",
    Failure.MODEL: "the model is not available",
    Failure.REGION: "the service is not offered where you are",
    Failure.BAD_REQUEST: "the request was refused",
    Failure.UNUSABLE: "the answer can't be used",
}


def from_response(
    status: int,
    headers: Mapping[str, str] | None = None,
    body: Any = None,
    provider: str = "",
) -> ProviderError:
    """The failure that an HTTP answer means.

    Args:
        status: of HTTP; a body that names another one in its error wins over 200.
        headers: in any case of letters.
        body: text, bytes, or JSON that was read already.
        provider: its name; the core fills it in when it is empty.
    """
    return _made(refused(status, headers, body), provider)


def from_exception(error: BaseException, provider: str = "") -> ProviderError:
    """The failure that an exception of an SDK or an HTTP client means.

    It reads `status_code` or `code`, `response` and `body` or `details` where they are;
    what has no answer is a time-out or an outage by its type.
    """
    if isinstance(error, ProviderError):
        return error
    for each in _chain(error):
        if isinstance(each, ProviderError):
            return each
        status = _status(each)
        if status:
            response = getattr(each, "response", None)
            return _made(refused(status, _headers(response), _body(each, response)), provider)
    return _without_answer(error, provider)


def from_prose(text: str, provider: str = "") -> ProviderError | None:
    """The failure that a reply says in words (`You've hit your usage limit`), or None.

    Only a short reply without any of the tags that a real one has is taken for one.
    """
    if len(text) > PROSE_CHARS or STRUCTURED.search(text):
        return None
    failure = prose_failure(text)
    if failure is None:
        return None
    wait = wait_of({}, text)
    return ProviderError(
        failure, _text(failure, told(text)), retry_after_s=wait, provider=provider
    )


def unusable(why: str, provider: str = "") -> ProviderError:
    """An answer that is none: empty, cut off, of another type than asked for."""
    return ProviderError(
        Failure.UNUSABLE, _text(Failure.UNUSABLE, told(why)), provider=provider
    )


def _made(answer: Refused, provider: str) -> ProviderError:
    failure = failure_of(answer)
    text = _text(failure, answer.message, answer.status, answer.request)
    wait = wait_of(answer.headers, answer.raw)
    return ProviderError(failure, text, retry_after_s=wait, provider=provider)


def _text(failure: Failure, message: str, status: int = 0, request: str = "") -> str:
    parts = [SAYS[failure]]
    if status:
        parts[0] += f" (HTTP {status})"
    if message:
        parts.append(message)
    return ": ".join(parts) + (f" [request {request}]" if request else "")


# What SDKs raise ----------------------------------------------------------------------


def _chain(error: BaseException) -> list[BaseException]:
    """The error and what it came from: SDKs wrap what their HTTP client raised."""
    found = [error]
    while len(found) < CHAIN and (cause := found[-1].__cause__ or found[-1].__context__):
        found.append(cause)
    return found


def _status(error: BaseException) -> int:
    for name in ("status_code", "code", "status"):
        value = getattr(error, name, None)
        if isinstance(value, int) and not isinstance(value, bool) and 300 <= value <= 599:
            return value
    value = getattr(getattr(error, "response", None), "status_code", None)
    return value if isinstance(value, int) and value >= 300 else 0


def _headers(response: Any) -> dict[str, str]:
    headers = getattr(response, "headers", None)
    return dict(headers.items()) if isinstance(headers, Mapping) else {}


def _body(error: BaseException, response: Any) -> Any:
    for name in ("body", "details", "response_json"):
        value = getattr(error, name, None)
        if isinstance(value, dict | list | str | bytes) and value:
            return value
    try:
        return response.text if response is not None else str(error)
    except Exception:  # noqa: BLE001 - a stream that was not read has no text
        return str(error)


def _without_answer(error: BaseException, provider: str) -> ProviderError:
    chain = _chain(error)
    names = " ".join(type(each).__name__ for each in chain)
    # SDKs raise a bare error for an error event inside a stream that began well.
    inside = next((_body(each, None) for each in chain if _has_body(each)), None)
    if inside is not None:
        return from_response(200, None, inside, provider)
    if any(isinstance(each, TimeoutError) for each in chain) or TIMEOUTS.search(names):
        failure = Failure.TIMEOUT
    elif any(isinstance(each, OSError) for each in chain) or CONNECTIONS.search(names):
        failure = Failure.OUTAGE
    else:
        failure = Failure.UNUSABLE
    cause = f"{type(chain[-1]).__name__}: {chain[-1]}".rstrip(": ")
    return ProviderError(failure, _text(failure, told(cause)), provider=provider)


def _has_body(error: BaseException) -> bool:
    return isinstance(getattr(error, "body", None), dict | list)
