"""O24: what a web page or another program could send to the worker.

Looking at the stored text in a browser is in `test_viewer_hostile.py`.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from claude_mem_core.testing.worker import LiveWorker, running
from tests.worker_home import CASES

CASE = CASES / "O24-loopback-api-abuse"
REQUESTS = [json.loads(r) for r in (CASE / "requests.jsonl").read_text("utf-8").splitlines()]
KEY = (CASE / "planted-key.txt").read_text("ascii").strip()
XSS = json.loads((CASE / "xss.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def live() -> Iterator[LiveWorker]:
    with running(tcp=True, settings=json.dumps({"CLAUDE_MEM_TV_TOKEN": KEY})) as worker:
        body = {"text": XSS["narrative"], "title": XSS["title"], "project": "xss"}
        assert worker.ask("POST", "/api/memory/save", body).json["success"]
        yield worker


def send(live: LiveWorker, request: dict[str, Any], *, token: bool) -> tuple[int, str, bytes]:
    """Status, head and body; the page's own headers as they are."""
    headers = {k: v.replace("{{P}}", str(live.port)) for k, v in request["headers"].items()}
    headers.setdefault("Connection", "close")
    if token:
        headers["Authorization"] = f"Bearer {live.token}"
    if request["body"]:
        headers.setdefault("Content-Length", str(len(request["body"])))
    head = f"{request['method']} {request['path']} HTTP/1.1\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in headers.items()) + "\r\n"
    raw = b""
    with socket.create_connection(("127.0.0.1", live.port), 10) as stream:
        stream.sendall(head.encode() + request["body"].encode())
        while part := stream.recv(65_536):
            raw += part
    top, _, body = raw.partition(b"\r\n\r\n")
    return int(top.split()[1]), top.decode("latin-1").lower(), body


@pytest.mark.parametrize("request_", REQUESTS, ids=[r["name"] for r in REQUESTS])
def test_o24_with_the_token(live: LiveWorker, request_: dict[str, Any]) -> None:
    """Only the rules about pages can refuse these: each carries the token."""
    before = live.ask("GET", "/api/stats").json["database"]
    status, head, body = send(live, request_, token=True)
    assert status in request_["want"], body
    assert KEY.encode() not in body
    assert "access-control-allow" not in head
    after = live.ask("GET", "/api/stats").json["database"]
    assert before["observations"] == after["observations"]
    assert live.process.poll() is None


@pytest.mark.parametrize("request_", REQUESTS, ids=[r["name"] for r in REQUESTS])
def test_o24_without_it(live: LiveWorker, request_: dict[str, Any]) -> None:
    status, head, body = send(live, request_, token=False)
    assert status in {400, 401, 403, 404, 405, 413, 415, 421}
    assert KEY.encode() not in body
    assert "access-control-allow" not in head



def test_o24_settings_show_no_key(live: LiveWorker) -> None:
    shown = live.ask("GET", "/api/settings").body.decode()
    assert KEY not in shown
    assert KEY[-5:] not in shown


def test_o24_other_addresses_of_the_machine_refuse(live: LiveWorker) -> None:
    for address in {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None)}:
        if str(address).startswith("127.") or address == "::1":
            continue
        family = socket.AF_INET6 if ":" in str(address) else socket.AF_INET
        with socket.socket(family) as stream:
            stream.settimeout(3)
            assert stream.connect_ex((address, live.port)) != 0


def test_o24_files_are_the_owners(live: LiveWorker) -> None:
    for path in (live.paths.database, live.paths.settings, live.paths.token):
        assert path.stat().st_mode & 0o077 == 0, path
    assert live.paths.data.stat().st_mode & 0o077 == 0


def test_o24_stored_text_comes_back_as_json_text(live: LiveWorker) -> None:
    raw = live.ask("GET", "/api/observations?project=xss")
    assert raw.json["items"][0]["title"] == XSS["title"]
