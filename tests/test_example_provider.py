"""The example provider works as it is shown, and the page shows it as it is."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools import installer

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "contrib" / "example-provider"
PAGE = ROOT / "docs" / "writing-a-provider.md"


@pytest.mark.parametrize("name", ["example_provider.py", "pyproject.toml", "test_example.py"])
def test_the_page_shows_it_as_it_is(name: str) -> None:
    blocks = re.findall(r"^```\w+\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert (EXAMPLE / name).read_text() in blocks


def run(*command: str, cwd: Path, env: dict[str, str]) -> str:
    done = subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=200
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_it_passes_the_contract_where_it_is_installed(tmp_path: Path) -> None:
    code, site = tmp_path / "code", tmp_path / "site"
    shutil.copytree(EXAMPLE, code)
    env = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": f"{site}{os.pathsep}{ROOT}"}
    env["CLAUDE_MEM_DATA_DIR"] = str(tmp_path / "data")
    offline = ["--no-deps", "--no-build-isolation", "--no-index"]
    installer.install(sys.executable, *offline, "--target", site, code, env=env)
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_example.py"]
    assert " passed" in run(*tests, cwd=code, env=env)
