"""Case O04: very large and binary tool output, the hook's part of it.

What an observer is sent, the worker's memory and the size of the database are tested
with these parts.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.hook_home import CASES, HookHome, environment, hook_home, stand_in

GENERATOR = CASES / "O04-huge-tool-output" / "gen.py"
MEGABYTE = 1024 * 1024
IDS = {"session_id": "s1", "cwd": "/home/u/place", "tool_name": "Bash"}


@pytest.fixture
def home() -> Iterator[HookHome]:
    with hook_home() as made:
        yield made


@pytest.fixture(scope="module")
def payloads(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    folder = tmp_path_factory.mktemp("o04")
    subprocess.run([sys.executable, str(GENERATOR), str(folder)], check=True)
    return [path.read_bytes() for path in sorted(folder.glob("*.json"))]


def event(text: str, **more: Any) -> bytes:
    value = {**IDS, "tool_response": {"stdout": text}, "tool_use_id": "toolu_1", **more}
    return json.dumps(value).encode()


def test_each_payload_reaches_the_worker_whole(home: HookHome, payloads: list[bytes]) -> None:
    with stand_in(home) as worker:
        for payload in payloads:
            ran = home.run("PostToolUse", payload)
            assert (ran.code, ran.err) == (0, b"")
            assert ran.seconds < 3
    assert [request.body for request in worker.requests] == payloads


def test_without_a_worker_each_is_kept_small(home: HookHome, payloads: list[bytes]) -> None:
    for payload in payloads:
        ran = home.run("PostToolUse", payload)
        assert (ran.code, ran.err) == (0, b"")
        assert ran.seconds < 3
    bodies = [body for _, body in home.records()]
    assert b"HEAD-MARK-2" in bodies[1]
    assert b"TAIL-MARK-2" in bodies[1]
    assert b"HEAD-MARK-3" in bodies[2]
    assert b"TAIL-MARK-3" in bodies[2]
    assert sum(map(len, bodies)) < 8 * MEGABYTE


# Over eight megabytes --------------------------------------------------------------------


def delivered(home: HookHome, payload: bytes) -> tuple[dict[str, Any], int]:
    with stand_in(home) as worker:
        ran = home.run("PostToolUse", payload)
    assert (ran.code, ran.err) == (0, b"")
    (request,) = worker.requests
    assert len(request.body) < MEGABYTE
    return json.loads(request.body), int(request.headers["x-mem-size"])


def test_eight_megabytes_pass_and_one_byte_more_does_not(home: HookHome) -> None:
    frame = len(event(""))
    exact = event("x" * (8 * MEGABYTE - frame))
    with stand_in(home) as worker:
        home.run("PostToolUse", exact)
    assert worker.requests[0].body == exact
    value, size = delivered(home, event("x" * (8 * MEGABYTE - frame + 1)))
    assert size == 8 * MEGABYTE + 1
    assert value["session_id"] == "s1"


def test_fifty_megabytes_in_little_memory_and_time(home: HookHome) -> None:
    payload = event("HEAD-MARK " + 'some words \\ " \n' * 3_500_000 + " TAIL-MARK")
    assert len(payload) > 50 * MEGABYTE
    value, size = delivered(home, payload)
    assert size == len(payload)
    assert {name: value[name] for name in IDS} == IDS
    assert value["tool_use_id"] == "toolu_1"  # stands behind the text
    stdout = value["tool_response"]["stdout"]
    assert stdout.startswith("HEAD-MARK some words")
    assert stdout.endswith('some words \\ " \n TAIL-MARK')
    assert f"[too large: {len(payload)} bytes" in stdout
    limit = "import resource; resource.setrlimit(resource.RLIMIT_AS, (160 << 20,) * 2)"
    assert resource.RLIMIT_AS is not None
    code = f"{limit}; import os, sys; os.execv(sys.argv[1], sys.argv[1:])"
    with stand_in(home) as worker:
        done = subprocess.run(
            [sys.executable, "-c", code, *home.argv, "claude-code", "Stop"], input=payload,
            capture_output=True, env=environment(), timeout=60, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(worker.requests) == 1


@pytest.mark.parametrize(
    "value",
    [
        {"tool_response": [{"row": number, "text": "x" * 50} for number in range(120_000)]},
        {"tool_response": {"a": "x" * 5_000_000, "b": "y" * 5_000_000}},
        {"tool_response": {"deep": [[["x" * 10_000_000]]]}},
        {"tool_response": "\\" * 5_000_000},
        {"tool_response": '"' * 5_000_000},
        {"tool_response": "\U0001f600" * 900_000},
        {"tool_response": "é" * 2_000_000},
        {"tool_response": [1.5] * 2_500_000},
    ],
    ids=["rows", "two fields", "deep", "backslashes", "quotes", "astral", "accents", "numbers"],
)  # fmt: skip
def test_whatever_is_cut_the_document_stays_one(home: HookHome, value: dict[str, Any]) -> None:
    for ascii_only in (True, False):
        text = json.dumps({**IDS, **value}, ensure_ascii=ascii_only)
        if len(text.encode()) <= 8 * MEGABYTE:
            continue
        made, size = delivered(home, text.encode())
        assert size == len(text.encode())
        assert {name: made[name] for name in IDS} == IDS


def test_what_is_no_document_at_all_becomes_one(home: HookHome) -> None:
    value, size = delivered(home, b"\xff\xfe" * 5 * MEGABYTE)
    assert value == {"too_large": f"...[too large: {size} bytes, the middle is left out]..."}


@pytest.mark.parametrize(
    "tag",
    [
        "<private>",
        "<\nPRIVATE reason='x'>",
        "\\u003cprivate\\u003e",
        "<pri\u200bvate>",
        "\uff1cprivate>",
    ],
)
def test_what_may_be_private_in_the_tail_goes(home: HookHome, tag: str) -> None:
    for at in (100, 4_000_000):  # in the head, in the part that is left out
        text = "a" * at + " " + tag + " b" * 5_000_000 + " wolf-key-77"
        value, _ = delivered(home, event(text))
        assert "wolf-key-77" not in json.dumps(value)
        assert value["session_id"] == "s1"


def test_a_tag_over_the_border_of_two_reads_is_seen(home: HookHome) -> None:
    for shift in range(0, 12, 3):
        text = "a" * (10 * MEGABYTE - shift) + "<private>" + " b" * 200_000 + "wolf-key-78"
        value, _ = delivered(home, event(text))
        assert "wolf-key-78" not in json.dumps(value)


def test_the_word_alone_costs_nothing(home: HookHome) -> None:
    text = "private static void x; " * 500_000 + "TAIL-MARK"
    value, _ = delivered(home, event(text))
    assert value["tool_response"]["stdout"].endswith("TAIL-MARK")


def test_without_a_worker_the_ends_are_kept_clean(home: HookHome) -> None:
    text = "AKIAQ7ZFAKEKEY4TEST1 " + "word " * 2_000_000 + " AKIAQ7ZFAKEKEY4TEST2"
    home.run("PostToolUse", event(text))
    head, body = home.record()
    assert b"AKIAQ" not in body
    assert head["size"] > 8 * MEGABYTE
    assert json.loads(body)["session_id"] == "s1"
