"""Case O03: stdin that is no payload, through the worker: nothing stored, one log line.

The hook's own part is `test_case_o03_stdin_odd.py`.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import time
from collections.abc import Iterator

import pytest

from tests.case_home import Played, played
from tests.hook_home import CASES, environment

FOLDER = CASES / "O03-stdin-missing-or-odd"
INPUTS = {path.name: path.read_bytes() for path in sorted((FOLDER / "inputs").iterdir())}
EVENTS = ["SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"]
REASON = re.compile(r"empty|not-json|not-an-object|truncated|missing-field")
MORE = {
    "bom only": b"\xef\xbb\xbf",
    "nul bytes": b"\0\0\0",
    "wide nothing": b"\xff\xfe",
    "binary": bytes(range(256)),
    "single quotes": b"{'session_id': 'quartzpheasant'}",
    "trailing comma": b'{"session_id": "quartzpheasant",}',
    "a comment": b'{"session_id": "quartzpheasant"} // quartzpheasant',
    "deep": b"[" * 50_000,
    "deep objects": b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
    "true": b"true",
    "cut in an escape": b'{"session_id": "quartzpheasant\\u00',
    "cut in a letter": '{"session_id": "quartzpheasant é'.encode()[:-1],
    "session is a number": b'{"session_id": 7, "prompt": "quartzpheasant"}',
    "session is a list": b'{"session_id": ["quartzpheasant"], "prompt": "quartzpheasant"}',
    "session is blank": b'{"session_id": "  ", "prompt": "quartzpheasant"}',
    "session is endless": b'{"session_id": "%s"}' % (b"quartzpheasant" * 1_000),
    "prompt is a number": b'{"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": 7}',
    "a shell's complaint": b"bash: quartzpheasant: command not found\n",
}


@pytest.fixture(scope="module")
def home() -> Iterator[Played]:
    with played() as made:
        yield made


def stored(home: Played) -> int:
    tables = ("events", "sdk_sessions", "user_prompts", "tool_uses", "pending_messages")
    return sum(home.rows(f"SELECT count(*) FROM {table}")[0][0] for table in tables)


def logged(home: Played, begin: int) -> list[str]:
    """Lines of the log after a place; each tells of one event."""
    return home.logs()[begin:].splitlines()


def words_of(data: bytes) -> list[str]:
    """What of a payload's content must not be seen in a log."""
    text = data.decode("utf-8", "replace")
    return [word for word in re.findall(r"[a-z]{3,}-[a-z]{5,}|quartzpheasant", text)]


def odd(home: Played, event: str, data: bytes) -> None:
    before, begin = stored(home), len(home.logs())
    ran = home.hook(data, event)
    assert ran.seconds < 2
    answer = json.loads(ran.out or b"{}")
    assert "decision" not in answer
    assert answer.get("continue", True) is True
    assert stored(home) == before
    new = logged(home, begin)
    assert len(new) == 1, new
    assert event in new[0]
    assert REASON.search(new[0]), new
    assert not [word for word in words_of(data) if word in new[0]]


@pytest.mark.parametrize("name", INPUTS)
def test_o03_every_input_at_every_handler(home: Played, name: str) -> None:
    for event in EVENTS:
        odd(home, event, INPUTS[name])


@pytest.mark.parametrize("name", MORE)
def test_o03_more_of_the_kind(home: Played, name: str) -> None:
    odd(home, "UserPromptSubmit", MORE[name])


@pytest.mark.parametrize("redirect", ["</dev/null", "<&-"])
def test_o03_no_stdin_at_all(home: Played, redirect: str) -> None:
    for event in EVENTS:
        before, begin = stored(home), len(home.logs())
        words = f"{shlex.join([*home.hooks.argv, 'claude-code', event])} {redirect}"
        start = time.monotonic()
        done = subprocess.run(["/bin/sh", "-c", words], capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
        assert time.monotonic() - start < 2
        assert stored(home) == before
        assert [line for line in logged(home, begin) if event in line and "empty" in line]


def test_o03_a_pipe_that_stays_open(home: Played) -> None:
    payload = home.filled(json.loads((FOLDER / "complete.json").read_text("utf-8")))
    read, write = os.pipe()
    try:
        os.write(write, json.dumps(payload).encode())
        start = time.monotonic()
        done = subprocess.run(
            [*home.hooks.argv, "claude-code", "UserPromptSubmit"], stdin=read,
            capture_output=True, env=environment(), timeout=30, check=False,
        )  # fmt: skip
    finally:
        os.close(read)
        os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")
    assert time.monotonic() - start < 3
    assert home.prompts() == [payload["prompt"]]


@pytest.mark.slow
def test_o03_the_same_while_no_worker_runs() -> None:
    """What was spooled is taken in as what it is: nothing."""
    with played(running=False) as home:
        home.hooks.worker_is(["/bin/false"])
        for data in [*INPUTS.values(), *MORE.values()]:
            assert home.hook(data, "UserPromptSubmit").seconds < 2
        home.start()
        home.settle()
        assert stored(home) == 0
        assert not list(home.paths.spool.glob("*.ev"))
        home.is_sound()
