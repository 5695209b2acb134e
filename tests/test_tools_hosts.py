"""The installer of the pinned agent programs."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tools import hosts


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for npm that lays the programs down and counts its calls."""
    monkeypatch.setenv("MEM_HOSTS_DIR", str(tmp_path / "cache"))
    program = tmp_path / "bin" / "npm"
    program.parent.mkdir()
    program.write_text(
        f"""#!{sys.executable}
import os, pathlib, sys
with open({str(tmp_path / "calls")!r}, "a") as file:
    print(os.environ["PATH"].split(os.pathsep)[0], sys.argv[-1], file=file)
for folder, name in (("node_modules/node/bin", "node"), ("node_modules/.bin", "kimi")):
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    pathlib.Path(folder, name).write_text("")
"""
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    return tmp_path / "calls"


def test_versions_are_pinned() -> None:
    for name, pin in hosts.pins().items():
        assert pin["version"].count(".") == 2, f"{name} needs an exact version"
    assert json.loads((Path(hosts.__file__).parent / "hosts.json").read_text()) == hosts.pins()


def test_installs_once_with_the_pinned_node(
    npm: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hosts.main(["kimi"]) == 0
    assert hosts.main(["kimi"]) == 0
    pins, (node, kimi) = hosts.pins(), npm.read_text().splitlines()
    assert node.endswith(f" node@{pins['node']['version']}")
    assert kimi == f"{hosts.node_bin()} {pins['kimi']['package']}@{pins['kimi']['version']}"
    assert str(hosts.binary("kimi")) in capsys.readouterr().out


def test_fails_loudly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MEM_HOSTS_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert hosts.main(["kimi"]) == 1
    assert "npm is not on PATH" in capsys.readouterr().err
    program = tmp_path / "npm"
    program.write_text("#!/bin/sh\necho 'no such version' >&2; exit 1\n")
    program.chmod(0o755)
    assert hosts.main(["kimi"]) == 1
    assert "no such version" in capsys.readouterr().err
    assert [
        p.name for p in (tmp_path / "cache").iterdir() if not p.name.endswith(".lock")
    ] == []
    assert hosts.main(["emacs"]) == 2
