"""The tutorial works as it is written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "plugins" / "first.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def run(*command: str, cwd: Path, env: dict[str, str]) -> str:
    done = subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=100
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_first_plugin_works_as_written(tmp_path: Path) -> None:
    plugin, test = blocks("python")
    (project,) = blocks("toml")
    code, site = tmp_path / "code", tmp_path / "site"
    code.mkdir()
    (code / "hello_mem.py").write_text(plugin)
    (code / "pyproject.toml").write_text(project)
    (code / "test_hello.py").write_text(test)
    env = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": f"{site}{os.pathsep}{ROOT}"}
    env["CLAUDE_MEM_DATA_DIR"] = str(tmp_path / "data")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    run(*pip, "--no-build-isolation", "--target", str(site), ".", cwd=code, env=env)

    mem = [sys.executable, "-m", "claude_mem_core.cli.main"]
    assert run(*mem, "hello", cwd=tmp_path, env=env) == "hello from a plugin\n"
    assert re.search(
        r"command\.hello +loaded +hello-mem 0\.1\.0",
        run(*mem, "plugins", cwd=tmp_path, env=env),
    )
    pytest_ = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_hello.py"]
    assert " passed" in run(*pytest_, cwd=code, env=env)


def test_it_is_ten_lines_and_seven() -> None:
    def lines(text: str) -> int:
        return len([line for line in text.splitlines() if line.strip()])

    plugin, _ = blocks("python")
    assert lines(plugin) <= 10
