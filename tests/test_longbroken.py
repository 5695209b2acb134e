"""What is broken for an hour is said once, until it is mended and breaks again."""

from __future__ import annotations

from pathlib import Path

import anyio

from claude_mem_core.paths import Paths
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.pipeline.longbroken import HOUR_MS, LongBroken
from claude_mem_core.pipeline.services import open_services
from claude_mem_core.projects import Place
from claude_mem_core.store import Store
from claude_mem_core.worker.routes.wellness import lasting

INDEX = {"search keyword": ("it is damaged", "mem db rebuild-index")}
SAID = "memory: search keyword has been broken for {}: it is damaged; `mem db rebuild-index`"
STATE = {
    "recording": False, "notes": {"recording": "x", "hook": "no plugin", "port": "taken"},
    "indexes": {"faults": {"keyword": "it is damaged"}}, "database": {"state": "ok"},
    "queue": {"failed": 2}, "lost": 1, "spool": {}, "plugins": [], "settings": {"warnings": []},
}  # fmt: skip


def test_once_after_an_hour_and_again_after_it_was_mended(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "memory.db")

    async def main() -> None:
        broken = LongBroken(store)
        await broken.seen(INDEX, 0)
        assert await broken.line(HOUR_MS - 1) == ""
        later = LongBroken(store)  # another worker
        await later.seen(INDEX, HOUR_MS - 1)
        assert await later.line(HOUR_MS) == SAID.format("an hour")
        assert await later.line(HOUR_MS) == ""
        third = LongBroken(store)
        await third.seen(INDEX, 3 * HOUR_MS)
        assert await third.line(3 * HOUR_MS) == ""
        await third.seen({}, 3 * HOUR_MS)
        await third.seen(INDEX, 4 * HOUR_MS)
        assert await third.line(7 * HOUR_MS) == SAID.format("3 hours")

    anyio.run(main)
    store.close()


def test_a_fault_of_a_former_worker_is_not_told_before_it_is_seen_again(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "memory.db")

    async def main() -> None:
        await LongBroken(store).seen(INDEX, 0)
        assert await LongBroken(store).line(9 * HOUR_MS) == ""

    anyio.run(main)
    store.close()


def test_a_session_gets_it_as_its_one_line(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    place = Place(key="/srv/p", label="p", kind="folder", root="/srv/p")

    async def main() -> None:
        async with open_services(Paths(data)) as services:
            notices = services.answers.notices
            await notices.broken.seen(INDEX, now_ms() - 2 * HOUR_MS)
            # What is news of plugins comes first, once.
            said = [await notices.for_session(place) for _ in range(6)]
            assert said.count(SAID.format("2 hours")) == 1

    anyio.run(main)


def test_what_counts_as_broken() -> None:
    assert set(lasting(STATE)) == {"hook", "search keyword"}
