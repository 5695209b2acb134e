"""The developer's commands: environment, contracts, other Pythons, Debian packages."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tools import contracts, debian, dev, pythons

ROOT = Path(__file__).parent.parent


# tools/dev.py ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("requirement", "name"),
    [
        ("claude-mem-core", "claude-mem-core"),
        ("Claude_Mem.Core[kimi]>=1", "claude-mem-core"),
        ("anyio>=4.16,<5", "anyio"),
        ("x ; python_version > '3'", "x"),
        ("x@ file:///y", "x"),
        ("x (>=1)", "x"),
    ],
)
def test_bare_name(requirement: str, name: str) -> None:
    assert dev.bare_name(requirement) == name


def test_our_own_packages_are_never_asked_of_an_index() -> None:
    needs = dev.requirements(dev.packages())
    assert needs
    assert not [need for need in needs if dev.bare_name(need).startswith("claude-mem")]


def test_every_package_folder_is_found(tmp_path: Path) -> None:
    for place in ("hosts/a", "providers/b", "plugins/c", "elsewhere/d"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "pyproject.toml").write_text("")
    (tmp_path / "hosts" / "not-a-package").mkdir()
    found = [path.relative_to(tmp_path).as_posix() for path in dev.packages(tmp_path)]
    assert found == [".", "hosts/a", "plugins/c", "providers/b"]


def test_groups_are_flat() -> None:
    groups: dict[str, list[Any]] = {"a": ["x"], "b": ["y", {"include-group": "a"}]}
    assert dev.group(groups, "b") == ["y", "x"]


def venv_with(folder: Path, stamp: object, *names: str) -> Path:
    venv = folder / "venv"
    dev.python_of(venv).parent.mkdir(parents=True)
    dev.python_of(venv).touch()
    for name in names:
        (venv / "lib/python3.11/site-packages" / f"{name}-0.1.0.dist-info").mkdir(parents=True)
    (venv / "claude-mem-dev.json").write_text(json.dumps(stamp))
    return venv


def test_nothing_to_do_is_seen_from_stamp_and_packages(tmp_path: Path) -> None:
    stamp = {"fingerprint": "f", "names": ["claude-mem-core"]}
    venv = venv_with(tmp_path, stamp, "claude_mem_core")
    assert dev.up_to_date(venv, "f")
    assert not dev.up_to_date(venv, "another")
    shutil.rmtree(next(venv.glob("lib/*/*/claude_mem_core-*")))
    assert not dev.up_to_date(venv, "f"), "uninstalling outdates the stamp"


@pytest.mark.parametrize("stamp", [None, [], {}, {"names": ["x"]}])
def test_a_damaged_stamp_means_work(tmp_path: Path, stamp: object) -> None:
    assert not dev.up_to_date(venv_with(tmp_path, stamp), "f")


def test_a_package_file_changes_the_fingerprint(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("a = 1")
    before = dev.fingerprint([tmp_path], ["dev"])
    assert dev.fingerprint([tmp_path], ["test"]) != before
    (tmp_path / "pyproject.toml").write_text("a = 2")
    assert dev.fingerprint([tmp_path], ["dev"]) != before


def test_a_second_run_is_quick() -> None:
    """In the environment of this checkout, when it was made with the tool."""
    command = [sys.executable, str(ROOT / "tools" / "dev.py"), "--venv", sys.prefix]
    group = [] if dev.up_to_date(Path(sys.prefix), _now("dev")) else ["--group", "test"]
    if not dev.up_to_date(Path(sys.prefix), _now("test" if group else "dev")):
        pytest.skip("this environment was not made with tools/dev.py")
    start = time.process_time(), os.times().children_user
    done = subprocess.run([*command, *group], capture_output=True, text=True, check=True)
    assert "packages are installed" in done.stdout
    assert time.process_time() - start[0] + os.times().children_user - start[1] < 1


def _now(group: str) -> str:
    return dev.fingerprint(dev.packages(), [group])


def test_lists_the_packages() -> None:
    command = [sys.executable, str(ROOT / "tools" / "dev.py"), "--list"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == "."
    assert "hosts/claude-code" in done.stdout.splitlines()


# tools/contracts.py ----------------------------------------------------------


def test_contracts_name_every_package() -> None:
    made = tomllib.loads(contracts.configuration())["tool"]["importlinter"]
    plugins = contracts.modules()
    assert "claude_mem_host_claude_code" in plugins
    assert made["root_packages"] == ["claude_mem_core", *plugins]
    names = [contract["name"] for contract in made["contracts"]]
    assert "plugins do not know each other" in names
    assert len(names) == len(set(names))


def test_the_private_part_is_all_but_the_public_part() -> None:
    private = set(contracts.private())
    assert {
        "claude_mem_core.store",
        "claude_mem_core.plugins",
        "claude_mem_core.cli",
    } <= private
    assert not private & {f"claude_mem_core.{name}" for name in contracts.PUBLIC}


HOST = "hosts/claude-code/src/claude_mem_host_claude_code/sin.py"
SIN = {
    "a plugin that reads the store": (
        HOST,
        "from claude_mem_core import store",
        "plugins use the public face",
    ),
    "a plugin that imports another": (
        HOST,
        "import claude_mem_host_kimi",
        "plugins do not know each other",
    ),
    "the core that names a plugin": (
        "claude_mem_core/worker/sin.py",
        "import claude_mem_host_kimi",
        "the core names no plugin",
    ),
    "the core that names a vendor": (
        "claude_mem_core/worker/sin.py",
        "import anthropic",
        "the core names no plugin",
    ),
    "a lower layer that imports a higher": (
        "claude_mem_core/store/sin.py",
        "import claude_mem_core.worker",
        "layers of the core",
    ),
    "the hook that imports the core": (
        "claude_mem_core/hook/sin.py",
        "import claude_mem_core.errors",
        "the hook client",
    ),
    "a module in no layer": ("claude_mem_core/sin.py", "", "layers of the core"),
    "the plugin core upside down": (
        "claude_mem_core/plugins/index.py",
        "import claude_mem_core.plugins.registry",
        "layers of the plugin core",
    ),
}


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what the contracts are about."""
    copy = tmp_path_factory.mktemp("contracts")
    ignore = shutil.ignore_patterns("__pycache__", "tests")
    for folder in ("claude_mem_core", "hosts", "providers", "plugins", "tools"):
        if (ROOT / folder).is_dir():
            shutil.copytree(ROOT / folder, copy / folder, ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", copy)
    return copy


def judged(sources: Path) -> tuple[int, list[str]]:
    """Exit code of the linter, and the contracts it says are broken."""
    command = [sys.executable, str(sources / "tools" / "contracts.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    broken = [line for line in done.stdout.splitlines() if line.endswith(" BROKEN")]
    return done.returncode, broken


@pytest.mark.slow
def test_the_contracts_are_kept(sources: Path) -> None:
    assert judged(sources) == (0, [])


@pytest.mark.slow
@pytest.mark.parametrize(("file", "line", "name"), SIN.values(), ids=SIN.keys())
def test_a_contract_bites(sources: Path, file: str, line: str, name: str) -> None:
    """Each sin is written into the copy, the linter names the contract, it is taken out."""
    target = sources / file
    before = target.read_bytes() if target.exists() else None
    target.write_bytes((before or b"") + f"\n{line}\n".encode())
    try:
        code, broken = judged(sources)
    finally:
        target.unlink() if before is None else target.write_bytes(before)
    assert code == 1
    assert any(one.startswith(name) for one in broken), broken


# tools/pythons.py, tools/debian.py -------------------------------------------


def test_other_pythons_are_new_enough_and_not_this_one() -> None:
    found = pythons.others()
    assert all(version >= (3, 11) for version in found)
    assert sys.version_info[:2] not in found


def test_a_python_that_does_not_run_is_left_out(tmp_path: Path) -> None:
    fake = tmp_path / "python3.12"
    fake.write_text("#!/bin/sh\necho 'version not installed' >&2\nexit 127\n")
    fake.chmod(0o755)
    assert pythons.version_of(str(fake)) is None
    assert pythons.version_of(sys.executable) == sys.version_info[:2]


def test_nothing_is_installed_when_nothing_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debian, "NEEDED", {"sh": "dash"})
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: pytest.fail("installed"))
    assert debian.main() == 0


def test_without_the_right_to_install_the_command_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(debian, "NEEDED", {"a-command-that-is-not-there": "a-package"})
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert debian.main() == 1
    assert "apt-get install --yes --no-install-recommends a-package" in capsys.readouterr().out
