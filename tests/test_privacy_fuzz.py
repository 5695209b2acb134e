"""What stands between private tags is in no file, whatever route it came by.

One real worker takes generated payloads over every route; then every file of the data
directory is searched for the marker, in several encodings.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claude_mem_core.cli.client import WorkerClient
from claude_mem_core.testing.worker import LiveWorker, data_dir, start

MARKER = "XyzzyPrivateMarker"
ROUTES = ("prompt", "tool_input", "tool_response", "failure", "answer", "api", "save", "nested")

noise = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="<>\0"), max_size=40)
opening = st.sampled_from(["<private>", "<PRIVATE>", "< private >", '<private note="x">'])
closing = st.sampled_from(["</private>", "</Private>", "</ private >", ""])


@st.composite
def hidden(draw: st.DrawFn) -> str:
    """Text with a private region; now and then nested, unclosed or doubled."""
    inner = draw(noise) + MARKER + draw(noise)
    if draw(st.booleans()):
        inner = f"{draw(noise)}<private>{inner}</private>{MARKER}"
    region = draw(opening) + inner + draw(closing)
    return draw(noise) + region


@pytest.fixture(scope="module")
def live() -> Iterator[LiveWorker]:
    with data_dir() as paths:
        worker = start(paths)
        yield worker
        if worker.process.poll() is None:
            worker.stop()


class Sender:
    """Sends one private text by one route, as one of many sessions."""

    def __init__(self, live: LiveWorker) -> None:
        self.client = WorkerClient(live.paths)
        self.count = 0

    def send(self, route: str, text: str) -> None:
        self.count += 1
        session = f"fuzz-{self.count // 5}"
        getattr(self, f"_{route}")(session, text)

    def hook(self, event: str, session: str, **fields: Any) -> None:
        payload = {
            "session_id": session, "cwd": "/srv/fuzz", "hook_event_name": event, **fields,
        }  # fmt: skip
        key = f"{time.time_ns():020d}-{self.count}"
        headers = {"x-mem-host": "claude-code", "x-mem-event": event, "x-mem-key": key}
        answer = post_hook(self.client, json.dumps(payload).encode(), headers)
        assert answer == 200

    def _prompt(self, session: str, text: str) -> None:
        self.hook("UserPromptSubmit", session, prompt=f"keep me {self.count} {text}")

    def _tool(self, session: str, given: Any, got: Any) -> None:
        self.hook(
            "PostToolUse", session, tool_name="Bash", tool_use_id=f"t{self.count}",
            tool_input=given, tool_response=got,
        )  # fmt: skip

    def _tool_input(self, session: str, text: str) -> None:
        self._tool(session, {"command": text}, {"stdout": "ok"})

    def _tool_response(self, session: str, text: str) -> None:
        self._tool(session, {"command": "cat x"}, {"stdout": text, "stderr": ""})

    def _nested(self, session: str, text: str) -> None:
        deep = {"a": [{"b": json.dumps({"inside": text})}, {text: 1}]}
        self._tool(session, deep, {"content": [{"type": "text", "text": json.dumps(deep)}]})

    def _failure(self, session: str, text: str) -> None:
        self.hook(
            "PostToolUseFailure", session, tool_name="Bash", tool_use_id=f"t{self.count}",
            tool_input={"command": "x"}, error=f"Exit code 1\n{text}", is_interrupt=False,
        )  # fmt: skip

    def _answer(self, session: str, text: str) -> None:
        self.hook("Stop", session, stop_hook_active=False, last_assistant_message=text)

    def _api(self, session: str, text: str) -> None:
        body = {
            "contentSessionId": session, "tool_name": "Bash", "cwd": "/srv/fuzz",
            "tool_input": {"command": text}, "tool_response": text, "tool_use_id": f"t{self.count}",
        }  # fmt: skip
        assert self.client.request("POST", "/api/sessions/observations", json=body).ok
        body = {"contentSessionId": session, "project": "fuzz", "prompt": f"p {text}"}
        assert self.client.request("POST", "/api/sessions/init", json=body).ok

    def _save(self, session: str, text: str) -> None:
        body = {"text": f"kept {text}", "title": f"title {text}", "project": "fuzz"}
        assert self.client.request("POST", "/api/memory/save", json=body).status in {200, 400}


def post_hook(client: WorkerClient, body: bytes, headers: dict[str, str]) -> int:
    """One delivery over the socket."""
    import http.client
    import socket

    from claude_mem_core.worker.sockets import socket_path

    connection = http.client.HTTPConnection("localhost", timeout=20)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(str(socket_path(client.paths)))
    connection.request("POST", "/hook", body, headers)
    status = connection.getresponse().status
    connection.close()
    return status


def spellings() -> list[bytes]:
    """The marker as it could stand in a file."""
    plain = MARKER.encode()
    coded = [base64.b64encode(b"x" * pad + plain)[4:-4] for pad in range(3)]
    return [
        plain,
        plain.lower(),
        MARKER.encode("utf-16-le"),
        MARKER.encode("utf-16-be"),
        *coded,
    ]


def leaks(folder: Path) -> list[str]:
    """Files that hold the marker."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [
        f"{path.name}: {spelling!r}"
        for path in files
        for spelling in spellings()
        if spelling in path.read_bytes()
    ]


@pytest.mark.slow
def test_no_private_text_reaches_a_file(live: LiveWorker) -> None:
    sender = Sender(live)

    @settings(
        max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), database=None
    )
    @given(st.sampled_from(ROUTES), hidden())
    def fuzz(route: str, text: str) -> None:
        sender.send(route, text)

    fuzz()
    assert sender.count >= 100
    sender.client.request("POST", "/api/processing", json={"isProcessing": False})
    assert not leaks(live.paths.data)
    live.stop()
    assert not leaks(live.paths.data)
    assert not leaks(live.paths.data.parent)


def test_the_search_for_leaks_finds_one(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"..." + MARKER.encode("utf-16-le"))
    (tmp_path / "b").write_bytes(base64.b64encode(b"12345" + MARKER.encode() + b"678"))
    assert len({found.split(":")[0] for found in leaks(tmp_path)}) == 2
