"""The entry point of `mem`: how a run ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli_run import mem


def test_an_unknown_option_is_no_command(tmp_path: Path) -> None:
    done = mem(tmp_path, "--nope")
    assert (done.code, done.out) == (2, "")
    assert "`mem open`" not in done.err
    assert "unknown option '--nope'" in done.err
    assert "Did you mean `mem --version`?" in mem(tmp_path, "--versoin").err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_output_that_finds_no_room_is_one_line() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "claude_mem_core.cli.main", "--help"],
            stdout=full, stderr=subprocess.PIPE, timeout=60, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)
    assert done.stderr.startswith(b"mem: [Errno 28]")
