"""Case O03: empty, partial, wrong-typed or never-ending stdin, the hook's part of it.

That nothing is stored and the log names the reason is tested with the worker.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hook_home import CASES, HookHome, case, environment, hook_home, stand_in

FOLDER = "O03-stdin-missing-or-odd"
INPUTS = sorted((CASES / FOLDER / "inputs").iterdir())
EVENTS = ["SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"]


@pytest.fixture(scope="module")
def home() -> Iterator[HookHome]:
    with hook_home() as made:
        yield made


@pytest.mark.parametrize("path", INPUTS, ids=[path.name for path in INPUTS])
def test_every_odd_input_is_passed_on_or_kept(home: HookHome, path: Path) -> None:
    data = path.read_bytes()
    for event in EVENTS:
        with stand_in(home) as worker:
            ran = home.run(event, data)
        assert (ran.code, ran.out, ran.err) == (0, b"", b"")
        assert ran.seconds < 2
        assert [request.body for request in worker.requests] == [data]


@pytest.mark.parametrize("path", INPUTS, ids=[path.name for path in INPUTS])
def test_without_a_worker_too(home: HookHome, path: Path) -> None:
    ran = home.run("Stop", path.read_bytes())
    assert (ran.code, ran.out, ran.err) == (0, b"", b"")
    assert ran.seconds < 2
    head, body = home.records()[-1]
    assert head["dropped"] in {None, "empty", "not_json"}
    assert body == b"" or json.loads(body) == json.loads(path.read_bytes())


@pytest.mark.parametrize("redirect", ["</dev/null", "<&-"])
def test_no_stdin_at_all(home: HookHome, redirect: str) -> None:
    for event in EVENTS:
        with stand_in(home) as worker:
            words = f"{shlex.join([*home.argv, 'claude-code', event])} {redirect}"
            start = time.monotonic()
            done = subprocess.run(["/bin/sh", "-c", words], capture_output=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        assert time.monotonic() - start < 2
        assert worker.requests[0].body == b""


def kept_open(home: HookHome, data: bytes, event: str = "UserPromptSubmit") -> float:
    """Seconds that the hook takes when its stdin is never closed."""
    read, write = os.pipe()
    try:
        os.write(write, data)
        start = time.monotonic()
        done = subprocess.run(
            [*home.argv, "claude-code", event], stdin=read, capture_output=True,
            env=environment(), timeout=30, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, b"")
        return time.monotonic() - start
    finally:
        os.close(read)
        os.close(write)


def test_a_complete_document_is_enough(home: HookHome) -> None:
    payload = case(FOLDER, "complete.json")
    with stand_in(home) as worker:
        assert kept_open(home, payload) < 3
    assert worker.requests[0].body == payload


def test_a_byte_that_never_comes_is_not_waited_for_long(home: HookHome) -> None:
    with stand_in(home) as worker:
        assert kept_open(home, b"") < 10
    assert worker.requests[0].body == b""


def test_half_a_document_is_not_waited_for_long(home: HookHome) -> None:
    with stand_in(home) as worker:
        assert kept_open(home, b'{"session_id": "s1", "pro') < 10
    assert worker.requests[0].body == b'{"session_id": "s1", "pro'


@pytest.mark.parametrize("text", ['{"a": "}"', '["x"]', "null", '"hello"', '{"a": 1}\n'])
def test_the_end_of_a_document_is_found(home: HookHome, text: str) -> None:
    whole = text if text[-1] != '"' or text[0] == '"' else text + "}"
    with stand_in(home) as worker:
        assert kept_open(home, whole.encode()) < 3
    assert worker.requests[0].body == whole.encode()


def test_a_slow_writer_is_waited_for(home: HookHome) -> None:
    payload = json.dumps({"session_id": "s1", "prompt": "} {" * 1_000}).encode()
    with stand_in(home) as worker:
        hook = subprocess.Popen(
            [*home.argv, "claude-code", "Stop"], stdin=subprocess.PIPE, env=environment()
        )
        assert hook.stdin is not None
        for at in range(0, len(payload), 1_000):
            hook.stdin.write(payload[at : at + 1_000])
            hook.stdin.flush()
            time.sleep(0.12)
        hook.stdin.close()
        assert hook.wait(20) == 0
    assert worker.requests[0].body == payload
