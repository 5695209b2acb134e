"""Writes of coroutines reach the writer together, and none is left behind."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from claude_mem_core.errors import StoreError
from claude_mem_core.store import Store
from claude_mem_core.store.gather import Gathering
from claude_mem_core.store.jobs import Job
from claude_mem_core.store.writer import BATCH


def jobs_put(count: int) -> list[list[int]]:
    """Which jobs were handed over in which turn of the loop."""
    turns: list[list[int]] = []

    async def play() -> None:
        loop = asyncio.get_running_loop()
        put: list[int] = []
        gathering = Gathering(lambda job: put.append(job.fn(None)))  # type: ignore[arg-type]

        async def one(number: int) -> None:
            future: asyncio.Future[int] = loop.create_future()
            gathering.add(Job(lambda _: number, future, loop), loop)

        tasks = [asyncio.create_task(one(number)) for number in range(count)]
        while sum(map(len, turns)) < count:
            await asyncio.sleep(0)
            if put:
                turns.append(put.copy())
                put.clear()
        await asyncio.gather(*tasks)

    asyncio.run(asyncio.wait_for(play(), 20))
    return turns


def test_what_comes_in_one_turn_goes_on_in_one_piece() -> None:
    assert jobs_put(1) == [[0]]
    assert jobs_put(8) == [list(range(8))]


def test_a_flood_is_handed_over_all_the_same() -> None:
    turns = jobs_put(3 * BATCH)
    assert [n for turn in turns for n in turn] == list(range(3 * BATCH))


def test_a_closed_store_refuses(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "memory.db")
    store.close()

    async def write() -> None:
        await store.awrite(lambda conn: None)

    with pytest.raises(StoreError, match="closed"):
        asyncio.run(write())


def test_each_loop_has_its_own(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "memory.db")

    async def write() -> int:
        return await store.awrite(lambda conn: conn.changes() * 0 + 7)

    assert [asyncio.run(write()) for _ in range(3)] == [7, 7, 7]
    store.close()
