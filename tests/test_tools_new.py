"""What `tools/new.py` makes passes its contract tests as created."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools import installer
from tools.new import CantMake, create

ROOT = Path(__file__).parent.parent
KINDS = {"host": "hosts", "provider": "providers", "plugin": "plugins"}


@pytest.mark.parametrize("kind", KINDS)
def test_every_mark_is_filled_in(kind: str, tmp_path: Path) -> None:
    made = create(kind, "my-agent-2", tmp_path)
    assert made == tmp_path / KINDS[kind] / "my-agent-2"
    files = [path for path in made.rglob("*") if path.is_file()]
    assert len(files) > 4
    for file in files:
        assert "{{" not in str(file)
        assert "{{" not in file.read_text()
        assert "My Agent 2" in file.read_text() or file.name != "README.md"


@pytest.mark.parametrize("name", ["", "Foo", "1x", "a--b", "a-", "../x", "a b", "ä"])
def test_a_bad_name_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(CantMake):
        create("host", name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_package_is_never_overwritten(tmp_path: Path) -> None:
    create("host", "x", tmp_path)
    with pytest.raises(CantMake, match="there already"):
        create("host", "x", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_clean_and_passes_its_contract(kind: str, tmp_path: Path) -> None:
    made = create(kind, "made-now", tmp_path)
    (tmp_path / "pyproject.toml").write_text(_settings())
    checks = [
        [sys.executable, "-m", "ruff", "check", str(made)],
        [sys.executable, "-m", "ruff", "format", "--check", str(made)],
    ]
    for check in checks:
        done = subprocess.run(check, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
    report = _tested(made, tmp_path / "site")
    assert " passed" in report
    assert "failed" not in report


def _settings() -> str:
    """The repo's own settings of ruff and pytest."""
    text = (ROOT / "pyproject.toml").read_text()
    return text[text.index("[tool.ruff]") : text.index("# `python tools/contracts.py`")]


def _tested(package: Path, site: Path) -> str:
    """Install the package into a folder and run its tests there, away from the repo."""
    offline = ["--no-deps", "--no-build-isolation", "--no-index"]
    installer.install(sys.executable, *offline, "--target", site, package, env=os.environ)
    env = {**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{ROOT}"}
    pytest_ = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    done = subprocess.run(
        pytest_, cwd=package, env=env, capture_output=True, text=True, check=False, timeout=100
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()[-1]
