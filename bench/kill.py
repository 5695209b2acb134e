"""Kills the worker and hooks at random moments while events flow, then counts.

    .venv/bin/python bench/kill.py --kills 200 --json

Real hook processes send events all the time. An event counts as accepted when its hook
ended by itself: then it is in the database or on disk, and has to be in the journal in
the end, once. Of a hook that was killed the event may be there once or not at all.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator

import apsw
import attrs

from claude_mem_core.cli import launch
from claude_mem_core.cli.client import WorkerClient
from claude_mem_core.edge import install_hook
from claude_mem_core.files import secure_dir
from claude_mem_core.paths import Paths
from claude_mem_core.store import fetch
from claude_mem_core.testing.worker import LiveWorker, data_dir, spawn, start
from claude_mem_core.worker import reclaim

HOOKS = 3  # running at a time
SESSIONS = 5
TURN = 8
SETTLE_S = 120.0
HOOK_SHARE = 0.4  # of all kills
STARTED_SHARE = 0.8  # of dead workers; the hooks see to the others


@attrs.define
class Sent:
    """A running hook and the mark of its event."""

    mark: str
    process: subprocess.Popen[bytes]
    killed: bool = False


@attrs.define
class Game:
    """The workers we started, the running hooks, and what became of their events."""

    paths: Paths
    argv: list[str]
    chance: random.Random
    workers: list[LiveWorker] = attrs.field(factory=list)
    running: list[Sent] = attrs.field(factory=list)
    accepted: list[str] = attrs.field(factory=list)
    unsure: list[str] = attrs.field(factory=list)
    failed: list[str] = attrs.field(factory=list)
    sent: int = 0

    def feed(self) -> None:
        """Take leave of hooks that ended, and start as many new ones."""
        for hook in [h for h in self.running if h.process.poll() is not None]:
            self.running.remove(hook)
            self._ended(hook)
        while len(self.running) < HOOKS:
            self.running.append(self._send())

    def _ended(self, hook: Sent) -> None:
        if hook.killed:
            self.unsure.append(hook.mark)
        elif hook.process.returncode == 0:
            self.accepted.append(hook.mark)
        else:
            self.failed.append(hook.mark)

    def _send(self) -> Sent:
        name, mark, payload = event_of(self.sent)
        self.sent += 1
        process = subprocess.Popen(
            [*self.argv, "claude-code", name], stdin=subprocess.PIPE, cwd="/",
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert process.stdin is not None
        process.stdin.write(json.dumps(payload).encode())
        process.stdin.close()
        return Sent(mark, process)

    def kill_hook(self) -> bool:
        """Kill one that still runs."""
        alive = [h for h in self.running if h.process.poll() is None and not h.killed]
        if not alive:
            return False
        hook = self.chance.choice(alive)
        hook.killed = True
        hook.process.kill()
        return True

    def kill_worker(self) -> bool:
        """Kill the one that holds the lock, wherever it is; mostly, start the next."""
        holder = reclaim.holding(self.paths)
        if holder is not None:
            os.kill(holder.pid, signal.SIGKILL)
        if holder is None or self.chance.random() < STARTED_SHARE:
            self.workers.append(spawn(self.paths))
        return holder is not None

    def finish(self) -> None:
        """Let the last hooks end."""
        for hook in self.running:
            hook.process.wait(60)
            self._ended(hook)
        self.running.clear()


def event_of(number: int) -> tuple[str, str, dict[str, object]]:
    """Name, mark and payload of one event; the mark is nowhere else."""
    mark = f"mark-{number:06d}"
    place = number // SESSIONS % TURN
    common = {"session_id": f"kill-{number % SESSIONS}", "cwd": "/srv/kill", "transcript_path": ""}
    if place == 0:
        more: dict[str, object] = {"prompt": f"look at {mark}", "prompt_id": mark}
        return "UserPromptSubmit", mark, {**common, **more}
    if place == TURN - 1:
        return "Stop", mark, {**common, "last_assistant_message": f"done with {mark}"}
    more = {
        "tool_name": "Bash", "tool_use_id": mark, "tool_input": {"command": f"run {mark}"},
        "tool_response": {"stdout": "ok " * 50},
    }  # fmt: skip
    return "PostToolUse", mark, {**common, **more}


def play(game: Game, kills: int) -> None:
    """Feed and kill until enough were killed."""
    done = 0
    while done < kills:
        until = time.monotonic() + game.chance.expovariate(1 / 0.35)
        while time.monotonic() < until:
            game.feed()
            time.sleep(0.004)
        one = game.kill_hook if game.chance.random() < HOOK_SHARE else game.kill_worker
        done += one()
        game.feed()
    game.finish()


def settle(game: Game) -> None:
    """Wait until the last worker has taken in and worked off everything."""
    launch.start(game.paths)
    client = WorkerClient(game.paths)
    end = time.monotonic() + SETTLE_S
    client.post("/api/spool")
    while time.monotonic() < end:
        client.post("/api/pending-queue/process")
        found = client.get("/api/admin/doctor")
        queue = found["queue"]
        if not (found["spool"]["waiting"] or queue["pending"] or queue["processing"]):
            return
        time.sleep(0.1)
    raise SystemExit("the worker did not work everything off")


def marks(paths: Paths) -> Counter[str]:
    """How often each mark is in the journal."""
    conn = apsw.Connection(os.fspath(paths.database), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return Counter(_found(conn))
    finally:
        conn.close()


def _found(conn: apsw.Connection) -> Iterator[str]:
    """Marks out of the keys of events, which skipped events have too."""
    for key, payload in fetch.rows(conn, "SELECT key, payload FROM events"):
        said = str(payload).partition("done with ")[2]
        yield said[:11] or str(key).rpartition(":")[2]


TWICE = (
    """SELECT count(*) FROM (SELECT 1 FROM session_summaries WHERE superseded_by IS NULL
         GROUP BY session_db_id, prompt_number HAVING count(*) > 1)""",
    """SELECT count(*) FROM (SELECT 1 FROM observations WHERE superseded_by IS NULL
         GROUP BY session_db_id, prompt_number, title, narrative HAVING count(*) > 1)""",
)


def memories_twice(paths: Paths) -> int:
    """Turns that were remembered more than once."""
    conn = apsw.Connection(os.fspath(paths.database), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return sum(int(fetch.value(conn, sql)) for sql in TWICE)
    finally:
        conn.close()


def land_after_kill(count: int = 50) -> int:
    """How many of `count` accepted events are there after kill -9 and a restart."""
    with data_dir() as paths:
        secure_dir(paths.data)
        argv = install_hook(paths)
        live = start(paths)
        for number in range(count):
            name, _, payload = event_of(number)
            subprocess.run(
                [*argv, "claude-code", name], input=json.dumps(payload).encode(), check=True,
                stdout=subprocess.DEVNULL, cwd="/",
            )  # fmt: skip
        live.kill()
        start(paths).stop()
        return sum(marks(paths).values())


def verified(paths: Paths) -> bool:
    """What `mem verify` says."""
    argv = [sys.executable, "-m", "claude_mem_core.cli.main", "verify", "--json"]
    env = {**os.environ, "CLAUDE_MEM_DATA_DIR": str(paths.data)}
    return subprocess.run(argv, env=env, capture_output=True, check=False).returncode == 0


def measure(kills: int, seed: int) -> dict[str, object]:
    """Play one game and count."""
    with data_dir() as paths:
        secure_dir(paths.data)
        argv = install_hook(paths)
        game = Game(paths, argv, random.Random(seed))
        try:
            play(game, kills)
            settle(game)
        finally:
            launch.stop(paths)
            for worker in game.workers:
                worker.process.wait(30)
        there = marks(paths)
        lost = [mark for mark in game.accepted if not there[mark]]
        doubled = [mark for mark, times in there.items() if times > 1]
        return {
            "kills": kills,
            "accepted": len(game.accepted),
            "lost": len(lost),
            "doubled": len(doubled) + memories_twice(paths),
            "unsure": len(game.unsure),
            "failed_hooks": len(game.failed),
            "verified": verified(paths),
            "marks": (lost + doubled)[:10],
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=None, help="for playing the same again")
    args = parser.parse_args()
    seed = args.seed if args.seed is not None else random.randrange(1 << 30)
    found = {**measure(args.kills, seed), "landed_of_50": land_after_kill(), "seed": seed}
    if args.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:<14} {value}")
    bad = found["lost"] or found["doubled"] or found["failed_hooks"]
    sys.exit(0 if found["verified"] and not bad and found["landed_of_50"] == 50 else 1)


if __name__ == "__main__":
    main()
