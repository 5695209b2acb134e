"""The kill matrix: worker and hooks killed at random moments, nothing lost, nothing twice."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parent.parent / "bench" / "kill.py"
KILLS = 200


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_kill_matrix() -> None:
    argv = [sys.executable, str(BENCH), "--kills", str(KILLS), "--json"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    assert found["kills"] == KILLS
    assert found["accepted"] > KILLS
    assert (found["lost"], found["doubled"], found["failed_hooks"]) == (0, 0, 0), found
    assert found["verified"], found
    assert found["landed_of_50"] == 50
