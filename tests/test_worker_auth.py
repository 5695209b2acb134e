"""Proofs and pages on TCP: a real worker, raw requests."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.testing.worker import LiveWorker, running
from claude_mem_core.worker.auth import mac

Answer = tuple[int, dict[str, str], bytes]


@pytest.fixture(scope="module")
def live() -> Iterator[LiveWorker]:
    with running(tcp=True) as worker:
        yield worker


def exchange(live: LiveWorker, data: bytes, timeout: float = 10.0) -> Answer:
    """Bytes in, (status, headers, body) out; status 0 when it was closed without a word."""
    raw = b""
    with socket.create_connection(("127.0.0.1", live.port), timeout) as stream:
        stream.sendall(data)
        try:
            while part := stream.recv(65_536):
                raw += part
        except ConnectionError:
            pass
    head, _, body = raw.partition(b"\r\n\r\n")
    if not head:
        return 0, {}, b""
    lines = head.decode("latin-1").split("\r\n")
    pairs = (line.split(":", 1) for line in lines[1:])
    return int(lines[0].split()[1]), {k.lower(): v.strip() for k, v in pairs}, body


def http(
    live: LiveWorker, method: str, path: str, body: Any = None, *, token: str | None = "own",
    **headers: str,
) -> Answer:
    """One request with good headers, changed by `headers` (underscores for dashes)."""
    lines = {"Host": f"127.0.0.1:{live.port}", "Connection": "close"}
    if token is not None:
        lines["Authorization"] = "Bearer " + (live.token if token == "own" else token)
    data = b""
    if body is not None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        lines |= {"Content-Type": "application/json", "Content-Length": str(len(data))}
    lines |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = f"{method} {path} HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in lines.items())
    return exchange(live, head.encode("latin-1") + b"\r\n" + data)


def test_health_without_proof_says_ok_and_nothing_else(live: LiveWorker) -> None:
    for path in ("/health", "/api/health"):
        status, _, body = http(live, "GET", path, token=None)
        assert (status, json.loads(body)) == (200, {"status": "ok"})
    status, _, body = http(live, "GET", "/api/health")
    assert json.loads(body)["pid"] == live.pid


def test_the_socket_needs_no_token_and_tells_all(live: LiveWorker) -> None:
    found = live.ask("GET", "/api/health").json
    assert found["version"]
    assert found["port"] == live.port


@pytest.mark.parametrize("token", [None, "", "wrong", "0" * 64])
@pytest.mark.parametrize("path", ["/api/version", "/api/settings", "/stream", "/nothing"])
def test_without_proof_nobody_learns_what_there_is(
    live: LiveWorker, token: str | None, path: str
) -> None:
    status, headers, body = http(live, "GET", path, token=token)
    assert status == 401
    assert headers["www-authenticate"] == "Bearer"
    assert set(json.loads(body)) == {"error"}


def test_two_tokens_are_none(live: LiveWorker) -> None:
    head = (
        f"GET /api/version HTTP/1.1\r\nHost: 127.0.0.1:{live.port}\r\nConnection: close\r\n"
        f"Authorization: Bearer {live.token}\r\nAuthorization: Bearer {live.token}\r\n\r\n"
    )
    assert exchange(live, head.encode())[0] == 401


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_our_own_names_are_served(live: LiveWorker, host: str) -> None:
    assert http(live, "GET", "/api/version", Host=f"{host}:{live.port}")[0] == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example:{P}", "localhost.:{P}", "127.0.0.1", "0.0.0.0:{P}", "", "LOCALHOST:{P}",
     "127.0.0.1:{P}, evil", "127.0.0.1:{P} ", "user@127.0.0.1:{P}", "127.0.0.1:0{P}"],
)  # fmt: skip
def test_other_names_are_not(live: LiveWorker, host: str) -> None:
    named = host.replace("{P}", str(live.port))
    for path in ("/api/version", "/api/health", "/", "/nothing"):
        if named.strip() == f"127.0.0.1:{live.port}":
            continue  # spaces around a header's value are not part of it
        assert http(live, "GET", path, Host=named)[0] == 421


def test_hosts_come_once_and_targets_are_paths(live: LiveWorker) -> None:
    good = f"Host: 127.0.0.1:{live.port}\r\n"
    auth = f"Authorization: Bearer {live.token}\r\nConnection: close\r\n\r\n"
    for target, hosts in [
        ("/api/version", ""), ("/api/version", good + good),
        (f"http://127.0.0.1:{live.port}/api/version", good), ("//api/version", good),
        ("/api/version", "Host: evil.example\r\n 127.0.0.1\r\n"),
    ]:  # fmt: skip
        status, _, _ = exchange(live, f"GET {target} HTTP/1.1\r\n{hosts}{auth}".encode())
        assert status == 400


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://localhost:3000", "", "file://"]
)
def test_other_pages_get_nothing(live: LiveWorker, origin: str) -> None:
    for path in ("/api/version", "/api/health", "/"):
        status, headers, _ = http(live, "GET", path, Origin=origin)
        assert status == 403
        assert not any(name.startswith("access-control") for name in headers)


def test_our_own_page_is_served(live: LiveWorker) -> None:
    own = f"http://127.0.0.1:{live.port}"
    status, headers, _ = http(
        live, "GET", "/api/version", Origin=own, Sec_Fetch_Site="same-origin"
    )
    assert status == 200
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_other_sites_start_is_refused(live: LiveWorker, site: str) -> None:
    assert http(live, "GET", "/api/version", Sec_Fetch_Site=site)[0] == 403
    assert http(live, "GET", "/", Sec_Fetch_Site=site, Sec_Fetch_Mode="no-cors")[0] == 403


def test_a_link_may_open_the_page_and_only_the_page(live: LiveWorker) -> None:
    """`mem open` gives the browser a file, which forwards it: a navigation across sites."""
    fetch = {
        "Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate",
        "Sec_Fetch_Dest": "document",
    }  # fmt: skip
    assert http(live, "GET", "/", token=None, **fetch)[0] == 200
    assert http(live, "GET", "/api/version", **fetch)[0] == 403
    framed = {**fetch, "Sec_Fetch_Dest": "iframe"}
    assert http(live, "GET", "/", token=None, **framed)[0] == 403


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "",
     "text/plain; application/json", "application/json-patch+json, text/plain",
     "application/json; charset=utf-16"],
)  # fmt: skip
def test_only_json_is_json(live: LiveWorker, kind: str) -> None:
    body = {"text": "planted", "project": "x"}
    assert http(live, "POST", "/api/memory/save", body, Content_Type=kind)[0] == 415


def test_a_huge_body_is_refused_before_it_is_sent(live: LiveWorker) -> None:
    head = (
        f"POST /api/import HTTP/1.1\r\nHost: 127.0.0.1:{live.port}\r\n"
        f"Authorization: Bearer {live.token}\r\nContent-Type: application/json\r\n"
        "Content-Length: 5000000000\r\n\r\n{"
    )
    begun = time.monotonic()
    assert exchange(live, head.encode())[0] == 413
    assert time.monotonic() - begun < 3


def test_a_body_in_chunks_has_the_same_limit(live: LiveWorker) -> None:
    head = (
        f"POST /api/import HTTP/1.1\r\nHost: 127.0.0.1:{live.port}\r\n"
        f"Authorization: Bearer {live.token}\r\nContent-Type: application/json\r\n"
        "Transfer-Encoding: chunked\r\n\r\n"
    )
    piece = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    status = 0
    with socket.create_connection(("127.0.0.1", live.port), 20) as stream:
        try:
            stream.sendall(head.encode())
            for _ in range(40):
                stream.sendall(piece)
        except ConnectionError:
            pass
        stream.settimeout(10)
        try:
            status = int(stream.recv(1000).split()[1])
        except (ConnectionError, IndexError):
            status = 413  # it hung up on us while we were still sending
    assert status == 413


def test_the_head_has_a_limit(live: LiveWorker) -> None:
    assert http(live, "GET", "/api/version", X_Long="a" * 600_000)[0] in {0, 400}
    assert http(live, "GET", "/api/version")[0] == 200


def test_who_says_nothing_is_hung_up_on(live: LiveWorker) -> None:
    with socket.create_connection(("127.0.0.1", live.port), 10) as stream:
        stream.sendall(b"GET / HTTP/1.1\r\n")
        begun = time.monotonic()
        with suppress(ConnectionError):
            assert stream.recv(100) == b""
        assert time.monotonic() - begun < 8


def test_a_crowd_on_tcp_does_not_hold_up_the_socket(live: LiveWorker) -> None:
    crowd = [socket.create_connection(("127.0.0.1", live.port), 10) for _ in range(80)]
    try:
        assert live.ask("GET", "/api/health", timeout=2).status == 200
        refused = 0
        for stream in crowd:
            stream.settimeout(0.05)
            try:
                refused += stream.recv(1) == b""
            except TimeoutError:
                continue
            except ConnectionError:
                refused += 1
        assert refused >= 16
    finally:
        for stream in crowd:
            stream.close()


def test_every_answer_has_the_security_headers(live: LiveWorker) -> None:
    for path, token in [("/", None), ("/api/version", "own"), ("/nope", "own"), ("/", "x"),
                        ("/api/version", None), ("/nope<script>", "own")]:  # fmt: skip
        _, headers, body = http(live, "GET", path, token=token)
        assert headers["x-content-type-options"] == "nosniff"
        assert "script-src 'self'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "set-cookie" not in headers
        assert b"<script>" not in body
    _, headers, _ = exchange(live, b"NONSENSE\r\n\r\n")
    assert headers["x-content-type-options"] == "nosniff"


def test_the_server_proves_itself_for_its_port(live: LiveWorker) -> None:
    nonce = "n" * 20
    status, _, body = http(live, "GET", f"/prove?n={nonce}", token=None)
    found = json.loads(body)
    assert status == 200
    good = mac(live.token, "srv", nonce, str(live.port), found["start_id"])
    assert found["proof"] == good
    for bad in ("", "short", "x" * 200, "%22%0a" * 10):
        assert http(live, "GET", f"/prove?n={bad}", token=None)[0] == 400


def proof(live: LiveWorker, path: str, body: bytes = b"", *, age: int = 0, key: str = "") -> str:
    start_id = live.ask("GET", "/api/health").json["start_id"]
    nonce = f"{int(time.time()) - age}-{os.urandom(12).hex()}"
    hashed = hashlib.sha256(body).hexdigest()
    method = "POST" if body else "GET"
    made = mac(key or live.token, "cli", nonce, start_id, method, path, hashed)
    return f"Mem r={nonce}, b={hashed}, m={made}"


def test_a_proof_lets_in_without_the_token_once(live: LiveWorker) -> None:
    good = proof(live, "/api/version")
    assert http(live, "GET", "/api/version", token=None, Authorization=good)[0] == 200
    assert http(live, "GET", "/api/version", token=None, Authorization=good)[0] == 401


def test_a_proof_is_for_one_request(live: LiveWorker) -> None:
    other = proof(live, "/api/stats")
    assert http(live, "GET", "/api/version", token=None, Authorization=other)[0] == 401
    old = proof(live, "/api/version", age=120)
    assert http(live, "GET", "/api/version", token=None, Authorization=old)[0] == 401
    forged = proof(live, "/api/version", key="0" * 64)
    assert http(live, "GET", "/api/version", token=None, Authorization=forged)[0] == 401


def test_a_proof_covers_the_body(live: LiveWorker) -> None:
    path, body = "/api/processing", b'{"isProcessing": true}'
    good = proof(live, path, body)
    other = b'{"isProcessing":false}'
    assert http(live, "POST", path, other, token=None, Authorization=good)[0] == 400
    again = proof(live, path, body)
    assert http(live, "POST", path, body, token=None, Authorization=again)[0] == 200


def opened(live: LiveWorker) -> str:
    code = live.ask("POST", "/api/admin/open", {}).json["code"]
    status, headers, body = http(live, "POST", "/api/session", {"code": code}, token=None)
    assert status == 200
    assert "set-cookie" not in headers
    assert http(live, "POST", "/api/session", {"code": code}, token=None)[0] == 401
    return str(json.loads(body)["token"])


def test_a_code_opens_one_session_with_few_rights(live: LiveWorker) -> None:
    session = opened(live)
    assert http(live, "GET", "/api/settings", token=session)[0] == 200
    assert http(live, "POST", "/api/admin/shutdown", {}, token=session)[0] == 403
    assert http(live, "POST", "/api/import", {}, token=session)[0] == 403
    assert http(live, "POST", "/api/admin/open", {}, token=session)[0] == 403
    for key, value in [("CLAUDE_MEM_WORKER_PORT", 40000), ("CLAUDE_MEM_PROVIDER", "x")]:
        status, _, body = http(live, "POST", "/api/settings", {key: value}, token=session)
        assert status == 403
        assert "machine" in json.loads(body)["error"]
    change = {"CLAUDE_MEM_CONTEXT_OBSERVATIONS": 42}
    assert http(live, "POST", "/api/settings", change, token=session)[0] == 200
    assert live.ask("GET", "/api/settings").json["CLAUDE_MEM_CONTEXT_OBSERVATIONS"] == "42"


def test_wrong_codes_and_tokens_in_the_address_open_nothing(live: LiveWorker) -> None:
    assert http(live, "POST", "/api/session", {"code": "x" * 22}, token=None)[0] == 401
    for name in ("token", "access_token", "key"):
        path = f"/api/version?{name}={live.token}"
        assert http(live, "GET", path, token=None)[0] == 401


def test_only_loopback_is_listened_on(live: LiveWorker) -> None:
    rows = Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]
    mine = [row.split()[1] for row in rows if row.split()[3] == "0A"]
    port = f"{live.port:04X}"
    assert [a for a in mine if a.endswith(":" + port)] == ["0100007F:" + port]


def test_the_token_is_nowhere_but_in_its_file(live: LiveWorker) -> None:
    token = live.token.encode()
    for path in live.paths.data.rglob("*"):
        if path.is_file() and path != live.paths.token:
            assert token not in path.read_bytes(), path
    assert live.paths.token.stat().st_mode & 0o777 == 0o600
