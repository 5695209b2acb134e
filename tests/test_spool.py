"""Taking in the spool: only what is surely ours, in order, and nothing is lost."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.errors import StoreError
from claude_mem_core.pipeline.spool import DrainResult, drain
from claude_mem_core.types import Delivery
from tests.hook_home import HookHome, hook_home

EVENT = {"session_id": "s1", "cwd": "/home/u/place", "prompt": "hello <private>x</private>"}


@pytest.fixture
def home() -> Iterator[HookHome]:
    with hook_home() as made:
        yield made


def taken(
    home: HookHome, handle: Callable[[Delivery], Awaitable[object]] | None = None
) -> tuple[list[Delivery], DrainResult]:
    seen: list[Delivery] = []

    async def keep(delivery: Delivery) -> object:
        seen.append(delivery)
        return await handle(delivery) if handle else None

    return seen, asyncio.run(drain(home.paths, keep))


def write(home: HookHome, name: str, body: bytes = b"{}", **head: Any) -> Path:
    home.paths.spool.mkdir(mode=0o700, exist_ok=True)
    given = {"v": 1, "host": "h", "event": "e", "env": {}, "at_ms": 5, "size": len(body)}
    given |= {"dropped": None, "length": len(body), **head}
    path = home.paths.spool / name
    path.write_bytes(json.dumps(given).encode() + b"\n" + body)
    return path


def name(number: int, end: str = "ev") -> str:
    return f"{number:020d}-1.{end}"


def rejected(home: HookHome) -> int:
    aside = home.paths.spool / "rejected"
    return len(list(aside.iterdir())) if aside.exists() else 0


def test_without_a_spool_there_is_nothing_to_do(home: HookHome) -> None:
    assert taken(home) == ([], DrainResult())


def test_what_a_hook_wrote_arrives_whole(home: HookHome) -> None:
    home.run("UserPromptSubmit", EVENT, env={"CLAUDE_PROJECT_DIR": "/home/ü"})
    (head, _) = home.record()
    (delivery,), result = taken(home)
    assert result == DrainResult(taken=1)
    assert json.loads(delivery.stdin) == {**EVENT, "prompt": "hello "}
    assert (delivery.host, delivery.event) == ("claude-code", "UserPromptSubmit")
    assert (delivery.key, delivery.at_ms) == (head["key"], head["at_ms"])
    assert delivery.env == {"CLAUDE_PROJECT_DIR": "/home/ü"}
    assert (delivery.spooled, delivery.dropped) == (True, "")
    assert delivery.size == len(delivery.stdin)
    assert list(home.paths.spool.iterdir()) == []


def test_a_receipt_without_content_arrives_with_its_reason(home: HookHome) -> None:
    home.rules(paused=True)
    home.run("PostToolUse", EVENT)
    (delivery,), _ = taken(home)
    assert delivery.dropped == "paused"
    assert json.loads(delivery.stdin) == {"session_id": "s1", "cwd": "", "prompt": ""}


def test_oldest_first(home: HookHome) -> None:
    for number in (30, 4, 100, 2):
        write(home, name(number), b"%d" % number)
    seen, _ = taken(home)
    assert [delivery.stdin for delivery in seen] == [b"2", b"4", b"30", b"100"]


def test_what_can_not_be_handled_stays(home: HookHome) -> None:
    for number in (1, 2, 3):
        write(home, name(number), b"%d" % number)

    async def picky(delivery: Delivery) -> None:
        if delivery.stdin == b"2":
            raise StoreError("the disk is full")

    _, result = taken(home, picky)
    assert result == DrainResult(taken=2, kept=1)
    assert [path.name for path in home.paths.spool.glob("*.ev")] == [name(2)]
    seen, _ = taken(home)
    assert [delivery.stdin for delivery in seen] == [b"2"]


def test_a_record_is_there_until_it_is_handled(home: HookHome) -> None:
    path = write(home, name(1))
    there: list[bool] = []

    async def look(_: Delivery) -> None:
        there.append(path.exists())

    taken(home, look)
    assert there == [True]


def plant(home: HookHome, number: int, kind: str) -> None:
    path = home.paths.spool / name(number)
    outside = home.paths.data / "outside.ev"
    if kind == "symlink":
        path.symlink_to(outside)
    elif kind == "hard link":
        os.link(outside, path)
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "directory":
        (path / "inside").mkdir(parents=True)
    elif kind == "device link":
        path.symlink_to("/dev/zero")
    elif kind == "sparse":
        path.touch()
        os.truncate(path, 6 << 30)
    elif kind == "loop":
        path.symlink_to(path)


KINDS = ["symlink", "hard link", "fifo", "directory", "device link", "sparse", "loop"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_of_ours_is_put_aside_unread(home: HookHome, kind: str) -> None:
    write(home, name(9))
    outside = home.paths.data / "outside.ev"
    (home.paths.spool / name(9)).rename(outside)
    before = outside.read_bytes()
    plant(home, 1, kind)
    write(home, name(2), b"good")
    start = time.monotonic()
    seen, result = taken(home)
    assert time.monotonic() - start < 5
    assert [delivery.stdin for delivery in seen] == [b"good"]
    assert (result.rejected, rejected(home)) == (1, 1)
    assert outside.read_bytes() == before
    assert taken(home)[1] == DrainResult()


@pytest.mark.parametrize(
    "data",
    [
        b"", b"[" * 100_000, b"\xff\xfe{}", b"{}", b"{}\n", b'{"v": 2}\n{}', b'{"v": 1}\n{}',
        b'{"v": 1, "host": "h", "length": 5}\n{}', b'{"v": 1, "host": 5}\n{}', b"null\n{}",
    ],
)  # fmt: skip
def test_what_is_no_record_is_put_aside(home: HookHome, data: bytes) -> None:
    home.paths.spool.mkdir(mode=0o700)
    (home.paths.spool / name(1)).write_bytes(data)
    seen, result = taken(home)
    assert (seen, result.rejected, rejected(home)) == ([], 1, 1)


@pytest.mark.parametrize(
    "odd", ["..%2f..%2fevil.ev", "\x1b[2Jx\n.ev", "1-1.ev", "x.json", ".ev"]
)
def test_odd_names_are_put_aside_under_a_name_that_says_nothing(
    home: HookHome, odd: str
) -> None:
    write(home, odd)
    seen, result = taken(home)
    assert (seen, result.rejected) == ([], 1)
    (aside,) = (home.paths.spool / "rejected").iterdir()
    assert aside.name.replace("-", "").isalnum()


def test_odd_values_in_a_head_do_no_harm(home: HookHome) -> None:
    write(
        home,
        name(1),
        env={"A": 5, "B": "b"},
        at_ms="x",
        size=-3,
        event=None,
        key="../x",
        dropped=7,
    )
    (delivery,), _ = taken(home)
    assert (delivery.env, delivery.at_ms, delivery.event) == ({"B": "b"}, 0, "")
    assert (delivery.size, delivery.dropped) == (2, "")
    assert delivery.key == name(1).removesuffix(".ev")


def test_a_record_without_its_name_is_left_to_its_hook(home: HookHome) -> None:
    path = write(home, name(1, "tmp"))
    assert taken(home) == ([], DrainResult())
    old = time.time() - 120
    os.utime(path, (old, old))
    seen, result = taken(home)
    assert (len(seen), result) == (1, DrainResult(taken=1))
    assert not path.exists()


def test_half_a_record_of_a_killed_hook_is_put_aside(home: HookHome) -> None:
    path = write(home, name(1, "tmp"), length=50)
    os.utime(path, (1, 1))
    assert taken(home)[1] == DrainResult(rejected=1)


def test_a_spool_that_is_a_stranger_s_is_not_read(home: HookHome, tmp_path: Path) -> None:
    home.paths.spool.symlink_to(tmp_path / "nowhere" / "there")
    os.chmod(tmp_path, 0o777)
    with pytest.raises((StoreError, OSError)):
        taken(home)


def test_rejected_ones_do_not_pile_up(home: HookHome) -> None:
    aside = home.paths.spool / "rejected"
    aside.mkdir(parents=True, mode=0o700)
    home.paths.spool.chmod(0o700)
    for number in range(1_000):
        (aside / f"{number}").touch()
    (home.paths.spool / name(1)).write_bytes(b"no record")
    assert taken(home)[1] == DrainResult(rejected=1)
    assert rejected(home) == 1_000
    assert not (home.paths.spool / name(1)).exists()
