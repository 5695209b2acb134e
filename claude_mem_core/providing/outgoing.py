"""The one HTTP client that may leave this machine; vendor SDKs are built with it.

    http = outgoing.client(url, settings, key=key, stream=True)
    sdk = AsyncOpenAI(api_key=key, base_url=url, http_client=http, max_retries=0)

It talks to one origin only, over https (plain http on this machine), follows no
redirect, reads no proxy, key or certificate from the environment, takes no compressed
and no overlong answer, and ends a silence. Retries are the core's: switch the SDK's off.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import cache
from typing import TYPE_CHECKING, Any

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.providing.origins import checked_address, checked_key, origin_of
from claude_mem_core.types import Values

if TYPE_CHECKING:
    import ssl

    from httpx2 import AsyncBaseTransport, AsyncClient, Request, Response

TIMEOUT = "CLAUDE_MEM_LLM_TIMEOUT_MS"
IDLE = "CLAUDE_MEM_LLM_STREAM_IDLE_TIMEOUT_MS"
PROXY = "CLAUDE_MEM_HTTP_PROXY"
CA_FILE = "CLAUDE_MEM_CA_FILE"
CONNECT_S = 20.0
ANSWER_BYTES = 16_000_000
PAGE = "text/html"


def client(url: str, settings: Values, *, key: str = "", stream: bool = False) -> AsyncClient:
    """An HTTP client that can reach the origin of `url` and nothing else.

    Args:
        url: the service's address; only its origin counts.
        settings: the time-outs, proxy and certificates of the user.
        key: the key that will go along; checked against where it goes.
        stream: whether answers come in pieces; a silence of the idle window ends them,
            else the request's deadline does.

    Raises:
        ProviderError: the address may not be called, or not with this key.
    """
    from httpx2 import AsyncClient, Timeout

    read = float(settings.get(IDLE if stream else TIMEOUT, 180_000)) / 1000
    return AsyncClient(
        transport=transport(url, settings, key=key),
        follow_redirects=False,
        trust_env=False,
        timeout=Timeout(read, connect=min(CONNECT_S, read)),
    )


def transport(url: str, settings: Values, *, key: str = "") -> AsyncBaseTransport:
    """The transport below `client`, for SDKs that make their own client.

    Raises:
        ProviderError: as for `client`.
    """
    from httpx2 import AsyncHTTPTransport

    origin = checked_address(url, with_key=bool(key))
    checked_key(key, url)
    inner = AsyncHTTPTransport(
        trust_env=False, verify=_certificates(settings), proxy=settings.get(PROXY) or None
    )
    return _guarded(inner, origin)


def _certificates(settings: Values) -> ssl.SSLContext:
    file = settings.get(CA_FILE)
    if not file:
        return _usual()
    import ssl

    try:
        return ssl.create_default_context(cafile=str(file))
    except OSError as error:
        text = f"{CA_FILE} {file}: {error.strerror or error}"
        raise ProviderError(Failure.OUTAGE, text) from None


@cache
def _usual() -> ssl.SSLContext:
    """The certificates that are trusted without a word of the user; reading them takes time."""
    from httpx2 import create_ssl_context

    return create_ssl_context(trust_env=False)


def _guarded(inner: AsyncBaseTransport, origin: str) -> AsyncBaseTransport:
    """Made in a function, since the base class is imported late."""
    from httpx2 import AsyncBaseTransport

    class Guarded(AsyncBaseTransport):
        async def handle_async_request(self, request: Request) -> Response:
            if origin_of(str(request.url)) != origin:
                raise ProviderError(
                    Failure.BAD_REQUEST,
                    f"a request to another address than {origin} was stopped",
                )
            request.headers["accept-encoding"] = "identity"
            response = await inner.handle_async_request(request)
            try:
                return _checked(response, origin)
            except ProviderError:
                await response.aclose()
                raise

        async def aclose(self) -> None:
            await inner.aclose()

    return Guarded()


def _checked(response: Response, origin: str) -> Response:
    status, headers = response.status_code, response.headers
    if 300 <= status < 400:
        to = origin_of(headers.get("location", "")) or "another address"
        text = (
            f"{origin} sends on to {to}; no redirect is followed. Set the base URL to the place"
        )
        raise ProviderError(Failure.BAD_REQUEST, text)
    if headers.get("content-encoding", "identity") != "identity":
        raise ProviderError(Failure.UNUSABLE, f"{origin} answers compressed, unasked")
    if status < 400 and headers.get("content-type", "").lower().startswith(PAGE):
        raise ProviderError(
            Failure.UNUSABLE, f"{origin} answers with a web page; check the base URL"
        )
    response.stream = _limited(response.stream, origin)
    return response


def _limited(stream: Any, origin: str) -> Any:
    from httpx2 import AsyncByteStream

    class Limited(AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            seen = 0
            async for part in stream:
                seen += len(part)
                if seen > ANSWER_BYTES:
                    raise ProviderError(
                        Failure.UNUSABLE,
                        f"{origin} answers with more than {ANSWER_BYTES:,} bytes",
                    )
                yield part

        async def aclose(self) -> None:
            await stream.aclose()

    return Limited()
