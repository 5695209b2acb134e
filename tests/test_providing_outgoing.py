"""The one way out: one origin, no redirect, no environment, a limit on what comes back."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.providing import outgoing
from claude_mem_core.providing.classify import from_exception
from claude_mem_core.providing.origins import (
    checked_address,
    is_private,
    may_go,
    origin_of,
)

pytestmark = pytest.mark.anyio
KEY = "sk-planted-0123456789abcdef"
Handle = Callable[[BaseHTTPRequestHandler], None]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Server:
    """Answers every request with `handle`; keeps the headers it saw."""

    def __init__(self, handle: Handle) -> None:
        self.seen: list[dict[str, str]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

            def do_GET(self) -> None:
                outer.seen.append({k.lower(): v for k, v in self.headers.items()})
                handle(self)

            do_POST = do_GET

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"


@contextmanager
def serving(handle: Handle) -> Iterator[Server]:
    server = Server(handle)
    thread = threading.Thread(target=server.http.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.http.shutdown()
        server.http.server_close()


def answer(body: bytes = b"{}", status: int = 200, **headers: str) -> Handle:
    def handle(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        given = {"Content_Type": "application/json", **headers}
        for name, value in given.items():
            request.send_header(name.replace("_", "-"), value)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    return handle


async def got(url: str, target: str = "", settings: Any = None, **more: Any) -> Any:
    async with outgoing.client(url, settings or {}, **more) as http:
        return await http.get(target or url)


async def failure(url: str, target: str = "", **more: Any) -> ProviderError:
    try:
        await got(url, target, **more)
    except Exception as error:  # noqa: BLE001 - a provider would see just that
        return from_exception(error)
    raise AssertionError("it went through")


async def test_an_answer_comes_back() -> None:
    with serving(answer(b'{"a": 1}')) as server:
        assert (await got(server.url)).json() == {"a": 1}
        assert server.seen[0]["accept-encoding"] == "identity"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_no_redirect_is_followed(status: int) -> None:
    with (
        serving(answer()) as thief,
        serving(answer(b"", status, Location=f"{thief.url}/x")) as server,
    ):
        found = await failure(server.url, key=KEY)
        assert found.failure is Failure.BAD_REQUEST
        assert thief.url in str(found)
        assert thief.seen == []


async def test_another_origin_is_not_called() -> None:
    with serving(answer()) as thief, serving(answer()) as server:
        await failure(server.url, thief.url)
        assert thief.seen == []
        await failure(server.url, server.url.replace("127.0.0.1", "localhost"))
        assert server.seen == []


async def test_the_environment_names_no_proxy_and_no_key(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login a password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    with serving(answer()) as proxy, serving(answer()) as server:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        await got(server.url)
        assert proxy.seen == []
        assert "authorization" not in server.seen[0]


async def test_a_proxy_of_the_settings_is_used() -> None:
    with serving(answer(b'{"by": "proxy"}')) as proxy, serving(answer()) as server:
        settings = {"CLAUDE_MEM_HTTP_PROXY": proxy.url}
        assert (await got(server.url, settings=settings)).json() == {"by": "proxy"}
        assert server.seen == []


async def test_an_overlong_answer_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outgoing, "ANSWER_BYTES", 1_000)
    with serving(answer(b"x" * 2_000)) as server:
        assert (await failure(server.url)).failure is Failure.UNUSABLE


async def test_a_compressed_answer_is_refused() -> None:
    with serving(answer(gzip.compress(b"0" * 10_000_000), Content_Encoding="gzip")) as server:
        assert (await failure(server.url)).failure is Failure.UNUSABLE


async def test_a_web_page_is_no_answer() -> None:
    with serving(answer(b"<html>", Content_Type="text/html")) as server:
        found = await failure(server.url)
        assert found.failure is Failure.UNUSABLE
        assert "base URL" in str(found)


async def test_a_silence_ends_a_request() -> None:
    release = threading.Event()
    with serving(lambda _: release.wait(20) and None) as server:  # type: ignore[func-returns-value]
        settings = {
            "CLAUDE_MEM_LLM_STREAM_IDLE_TIMEOUT_MS": 300,
            "CLAUDE_MEM_LLM_TIMEOUT_MS": 300,
        }
        for stream in (True, False):
            found = await failure(server.url, settings=settings, stream=stream)
            assert found.failure is Failure.TIMEOUT
        release.set()


async def test_a_refused_connection_is_an_outage() -> None:
    with serving(answer()) as server:
        url = server.url
    assert (await failure(url)).failure is Failure.OUTAGE


# Addresses and keys ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "with_key", "fine"),
    [
        ("https://api.example/v1", True, True),
        ("http://api.example/v1", False, False),
        ("http://127.0.0.1:11434/v1", True, True),
        ("http://localhost:1234", True, True),
        ("http://[::1]:8000/v1", True, True),
        ("http://192.168.1.5:11434", False, True),
        ("http://192.168.1.5:11434", True, False),
        ("http://box.local:1234", False, True),
        ("http://172.32.0.1", False, False),
        ("http://127.0.0.1.evil.example", False, False),
        ("http://localhost.evil.example", False, False),
        ("ftp://x.example", False, False),
        ("file:///etc/passwd", False, False),
        ("https://", False, False),
        ("", False, False),
        ("https://[broken", False, False),
        ("https://x.example:99999", False, False),
    ],
)
async def test_where_a_request_may_go(url: str, with_key: bool, fine: bool) -> None:
    try:
        checked_address(url, with_key=with_key)
    except ProviderError:
        assert not fine
    else:
        assert fine


@pytest.mark.parametrize(
    ("key", "url", "fine"),
    [
        ("cm_pro_a", "https://cmem.ai/api", True),
        ("cm_pro_a", "https://api.cmem.ai/x", True),
        ("cm_pro_a", "https://evilcmem.ai", False),
        ("cm_pro_a", "https://cmem.ai.evil.example", False),
        ("cm_pro_a", "https://evil.example/?x=cmem.ai", False),
        ("cm_pro_a", "https://cmem.ai@evil.example", False),
        ("cm_pro_a", "http://127.0.0.1:1", False),
        (" cm_pro_a", "https://evil.example", False),
        ("sk-or-1", "https://cmem.ai", False),
        ("sk-or-1", "https://openrouter.ai", True),
        ("", "https://cmem.ai", True),
    ],
)
async def test_which_key_may_go_where(key: str, url: str, fine: bool) -> None:
    assert may_go(key, url) is fine
    if not fine:
        with pytest.raises(ProviderError) as caught:
            outgoing.client(url, {}, key=key)
        assert key.strip() not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("HTTPS://API.Example:443/v1?x#y", "https://api.example"),
        ("https://user:pw@api.example:8443/v1", "https://api.example:8443"),
        ("http://[::1]:80/", "http://[::1]"),
        ("https://api.example./", "https://api.example"),
    ],
)
async def test_an_origin_has_one_spelling(url: str, origin: str) -> None:
    assert origin_of(url) == origin


@pytest.mark.parametrize(
    "host", ["10.1.2.3", "172.16.0.1", "172.31.255.1", "192.168.0.9", "a.local"]
)
async def test_private_hosts(host: str) -> None:
    assert is_private(host)
