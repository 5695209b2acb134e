"""The entry point of `mem`: how a run ends."""

from __future__ import annotations

import subprocess
import sys
from argparse import ArgumentParser, _SubParsersAction
from pathlib import Path

import pytest

from claude_mem_core.cli.main import known, module_of
from claude_mem_core.errors import UnknownName
from tests.cli_run import mem


def test_an_unknown_option_is_no_command(tmp_path: Path) -> None:
    done = mem(tmp_path, "--nope")
    assert (done.code, done.out) == (2, "")
    assert "`mem open`" not in done.err
    assert "unknown option '--nope'" in done.err
    assert "Did you mean `mem --version`?" in mem(tmp_path, "--versoin").err


@pytest.mark.parametrize("name", known())
def test_a_command_that_does_without_an_action_takes_json_without_one(name: str) -> None:
    parser = ArgumentParser(prog=name)
    module_of(name).arguments(parser)
    actions = [x for x in parser._actions if isinstance(x, _SubParsersAction)]
    if actions and not actions[0].required:
        first = next(iter(actions[0].choices))
        assert parser.parse_args(["--json"]).json is True
        assert parser.parse_args([]).json is False
        assert parser.parse_args(["--json", *([first] if first != "serve" else [])]).json


def test_a_mistyped_name_does_not_become_a_package() -> None:
    text = str(UnknownName("host", "cluade-code", ["claude-code", "kimi"]))
    assert "did you mean claude-code?" in text
    assert "pip install" not in text


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_output_that_finds_no_room_is_one_line() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "claude_mem_core.cli.main", "--help"],
            stdout=full, stderr=subprocess.PIPE, timeout=60, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)
    assert done.stderr.startswith(b"mem: [Errno 28]")
