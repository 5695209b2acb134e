"""SIGKILL at any moment: what was acknowledged is there, and nothing is there twice."""

from __future__ import annotations

import random
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from claude_mem_core.store import queue
from tests.store_home import opened

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")

# Accepts events from several producers and observes them at the same time. Each line it
# prints is an acknowledgement; the events named in argv are sent once more first.
CHILD = """
    import asyncio, sys
    from pathlib import Path
    from claude_mem_core.store import queue, memories
    from claude_mem_core.types import EventKind, ToolUse, Trust
    from tests.store_home import IDLE, LEASE, accepted, observing, opened

    path, first, again = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3].split(",")

    def event_of(home, name):
        number = int(name)
        if number % 10 == 9:
            return home.event(EventKind.TURN_ENDED, number, answer=name, session_id=f"s{number % 3}")
        if number % 10 == 0:
            return home.event(EventKind.PROMPT_SENT, number, prompt=name, prompt_id=name,
                              session_id=f"s{number % 3}")
        use = ToolUse(name="Bash", id=name, input={"n": name}, output="x" * 500)
        return home.event(EventKind.TOOL_USED, number, tool=use, session_id=f"s{number % 3}")

    async def send(home, name):
        event = event_of(home, name)
        await home.store.awrite(
            lambda conn: accepted(conn, home, event, name, f"{int(name):020d}-1", "", None, Trust.WORK)
        )
        sys.stdout.write(name + "\\n")
        sys.stdout.flush()

    async def produce(home, start):
        for number in range(start, start + 10**6, 4):
            await send(home, str(number))

    async def observe(home):
        while True:
            works = await home.store.awrite(
                lambda conn: queue.claim(conn, home.now, LEASE, 5, IDLE, force=True))
            for work in works:
                await home.store.awrite(lambda conn: memories.keep(
                    conn, work, work.session_db_id, observing(work, str(work.event_ids)), home.now))
            await asyncio.sleep(0.002)

    async def main():
        with opened(path) as home:
            await home.store.awrite(lambda conn: queue.resume(conn, home.now))
            for name in filter(None, again):
                await send(home, name)
            await asyncio.gather(observe(home), *(produce(home, first + n) for n in range(4)))

    asyncio.run(main())
"""


class Child:
    """A process that accepts events until it is killed."""

    def __init__(self, path: Path, first: int, again: list[str]) -> None:
        self.acknowledged: list[str] = []
        self._seen, self._ended = threading.Condition(), False
        self._process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(CHILD), str(path), str(first),
             ",".join(again)],
            cwd=Path(__file__).parent.parent, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.endswith("\n"):
                with self._seen:
                    self.acknowledged.append(line.strip())
                    self._seen.notify()
        with self._seen:
            self._ended = True
            self._seen.notify()

    def kill_after(self, count: int) -> list[str]:
        """Kill it once it has acknowledged so many; return all it acknowledged."""
        with self._seen:
            self._seen.wait_for(lambda: self._ended or self._came(count), timeout=60)
        self._process.kill()
        self._process.wait(timeout=30)
        self._reader.join(timeout=30)
        assert self._process.stdout is not None
        self._process.stdout.close()
        assert self._came(count), "the child ended, or accepted nothing for a minute"
        return self.acknowledged

    def _came(self, count: int) -> bool:
        return len(self.acknowledged) >= count


def killed(path: Path, kills: int, seed: int) -> None:
    dice = random.Random(seed)
    acknowledged: set[str] = set()
    again: list[str] = []
    first = 0
    for _ in range(kills):
        mine = Child(path, first, again).kill_after(dice.randrange(1, 60))
        acknowledged |= set(mine)
        # The hooks of what was in flight got no answer and send it again.
        newest = max(map(int, [*mine, str(first)]))
        flying = [str(n) for n in range(max(first, newest - 12), newest + 12)]
        again = [*dice.sample(sorted(acknowledged), min(5, len(acknowledged))), *flying]
        first = newest + 12
        look_at(path, acknowledged)


def look_at(path: Path, acknowledged: set[str]) -> None:
    with opened(path) as home:
        keys = [key for (key,) in home.rows("SELECT key FROM events")]
        assert set(keys) >= acknowledged, acknowledged - set(keys)
        assert len(keys) == len(set(keys))
        assert home.verify().off == ()
        doubled = home.rows("""SELECT event_id FROM evidence WHERE kind = 'observation'
          GROUP BY event_id HAVING count(*) > 1""")
        assert doubled == []
        tools = "SELECT count(*), count(DISTINCT tool_use_id) FROM tool_uses"
        assert len(set(home.rows(tools)[0])) == 1


def test_a_few_kills(tmp_path: Path) -> None:
    killed(tmp_path / "memory.db", 2, seed=1)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_fifty_kills(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    killed(path, 50, seed=2)
    with opened(path) as home:
        home.write(lambda conn: queue.resume(conn, home.now))
        while works := home.claim(force=True):
            for work in works:
                home.keep(work)
        account = home.verify()
        assert (account.pending, account.dead, account.off) == (0, {}, ())
        assert home.rows("PRAGMA integrity_check") == [("ok",)]
