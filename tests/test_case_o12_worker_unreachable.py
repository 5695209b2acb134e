"""Case O12: the worker cannot be reached, and the host must not notice.

The hook's part: a listener that says no, one that says nothing, a worker that can't be
started. That all events are processed once after the repair is tested with the worker;
the documented port plays no part, because hooks speak over the socket only.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest

from claude_mem_core.pipeline.spool import drain
from claude_mem_core.types import Delivery
from tests.hook_home import (
    HookHome,
    Ran,
    alive,
    answer,
    case,
    hook_home,
    lines,
    stand_in,
)
from tests.worker_home import until

FOLDER = "O12-worker-unreachable"
EVENTS = lines(FOLDER, "all-events.jsonl")


@pytest.fixture
def home() -> Iterator[HookHome]:
    with hook_home() as made:
        yield made


def deliver(home: HookHome, more: int) -> list[Ran]:
    """Every event of the case, then PostToolUse some more times."""
    payloads = [json.loads(line) for line in case(FOLDER, "all-events.jsonl").splitlines()]
    tool = payloads[3]
    payloads += [{**tool, "tool_use_id": f"toolu_more{number}"} for number in range(more)]
    return [home.run(payload["hook_event_name"], payload) for payload in payloads]


def check(home: HookHome, ran: list[Ran], slowest: float) -> None:
    assert {(r.code, r.out, r.err) for r in ran} == {(0, b"", b"")}
    assert max(r.seconds for r in ran) < slowest
    kept = home.records()
    assert len(kept) == len(ran)
    assert len({head["key"] for head, _ in kept}) == len(ran)
    assert not list(home.paths.spool.glob("*.tmp"))


def test_a_a_listener_that_is_no_worker(home: HookHome) -> None:
    not_here = answer(b"<html>not here</html>", status=b"404 Not Found")
    with stand_in(home, lambda _: not_here):
        ran = deliver(home, 20)
    check(home, ran, 2)


def test_b_a_listener_that_says_nothing(home: HookHome) -> None:
    with stand_in(home, lambda _: None):
        ran = deliver(home, 10)
    check(home, ran, 5)


@pytest.mark.slow
def test_c_a_worker_that_can_not_be_started(home: HookHome) -> None:
    home.worker_is(["/bin/false"])
    ran = deliver(home, 100)
    check(home, ran, 2)
    until(lambda: not alive(str(home.paths.data)))


def test_c_a_command_that_is_not_there(home: HookHome) -> None:
    home.worker_is(["/nonexistent/python"])
    ran = deliver(home, 5)
    check(home, ran, 2)


def test_what_was_kept_comes_in_once_and_in_order(home: HookHome) -> None:
    deliver(home, 3)
    seen: list[Delivery] = []

    async def keep(delivery: Delivery) -> None:
        seen.append(delivery)

    result = asyncio.run(drain(home.paths, keep))
    assert (result.taken, result.kept, result.rejected) == (len(EVENTS) + 3, 0, 0)
    names = [json.loads(delivery.stdin)["hook_event_name"] for delivery in seen]
    assert names[: len(EVENTS)] == [event["hook_event_name"] for event in EVENTS]
    assert [delivery.at_ms for delivery in seen] == sorted(d.at_ms for d in seen)
    assert asyncio.run(drain(home.paths, keep)).taken == 0
