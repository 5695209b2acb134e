"""Every package builds a wheel that works alone, away from the sources."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from tools import installer
from tools.dev import bare_name, packages

ROOT = Path(__file__).parent.parent
PACKAGES = packages(ROOT)
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def project(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    return found


# One process for all: each call of a build tool takes longer than its work.
BUILD = """
import os, sys
from hatchling.build import build_wheel
for folder in sys.argv[2:]:
    os.chdir(folder)
    build_wheel(sys.argv[1])
"""
EXTRAS = project(ROOT)["optional-dependencies"]


def where(folder: Path) -> str:
    return folder.relative_to(ROOT).as_posix()


def environment(home: Path) -> dict[str, str]:
    """No repo on any path, and a home of its own."""
    dropped = {"PYTHONPATH", "VIRTUAL_ENV", "CLAUDE_MEM_NO_PLUGINS"}
    kept = {key: value for key, value in os.environ.items() if key not in dropped}
    return {**kept, "HOME": str(home), "CLAUDE_MEM_DATA_DIR": str(home / "data")}


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment(cwd),
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheels of all packages of the repo."""
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-c", BUILD, out, *PACKAGES, cwd=out)
    return out


def wheel_of(dist: Path, folder: Path) -> Path:
    stem = bare_name(project(folder)["name"]).replace("-", "_")
    (found,) = dist.glob(f"{stem}-*.whl")
    return found


class Venv:
    """A virtual environment of its own; its interpreter never sees the repo."""

    def __init__(self, folder: Path, like: Venv | None = None) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        if like is None:
            run(sys.executable, "-m", "venv", "--without-pip", folder / "venv", cwd=folder)
            return
        # What is there is linked, not copied: pip replaces files, it does not write into them.
        shutil.copytree(
            like.folder / "venv", folder / "venv", symlinks=True, copy_function=os.link
        )

    def python(self, *arguments: str | Path) -> str:
        return run(self.folder / "venv/bin/python", *arguments, cwd=self.folder)

    def mem(self, *arguments: str) -> str:
        return run(self.folder / "venv/bin/mem", *arguments, cwd=self.folder)

    def install(self, dist: Path, *wanted: str) -> None:
        python = self.folder / "venv/bin/python"
        installer.install(
            python, "--find-links", dist, *wanted, env=environment(self.folder)
        )

    def pip(self, *arguments: str | Path) -> str:
        """Ours, working on the other environment: to give each its own takes seconds."""
        python = self.folder / "venv/bin/python"
        return run(sys.executable, "-m", "pip", "--python", python, *arguments, cwd=self.folder)

    def installed(self) -> dict[str, str]:
        listed = json.loads(self.pip("list", "--format", "json"))
        return {bare_name(package["name"]): package["version"] for package in listed}


@pytest.mark.parametrize("folder", PACKAGES, ids=where)
def test_a_wheel_holds_what_it_needs(folder: Path, dist: Path) -> None:
    names = zipfile.ZipFile(wheel_of(dist, folder)).namelist()
    assert any(name.endswith("entry_points.txt") for name in names)
    strangers = [n for n in names if "test_" in n or "/tests/" in n or "__pycache__" in n]
    assert strangers == []
    if folder == ROOT:
        sources = (ROOT / "claude_mem_core").rglob("*")
        wanted = {p.relative_to(ROOT).as_posix() for p in sources if _ships(p)}
        assert wanted <= set(names)
        assert any(name.endswith("licenses/LICENSE") for name in names)


def _ships(path: Path) -> bool:
    return path.is_file() and path.suffix in {".py", ".sql", ".typed", ".json"}


@pytest.fixture(scope="module")
def base(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Venv:
    """What others wrote and the core needs, nothing of ours."""
    venv = Venv(tmp_path_factory.mktemp("base") / "base")
    venv.install(dist, str(wheel_of(dist, ROOT)))
    venv.pip("uninstall", "--quiet", "--yes", "claude-mem-core")
    return venv


@pytest.mark.parametrize("folder", PACKAGES, ids=where)
def test_a_package_works_alone(
    folder: Path, dist: Path, base: Venv, tmp_path: Path
) -> None:
    about = project(folder)
    venv = Venv(tmp_path / "alone", like=None if folder == ROOT else base)
    venv.install(dist, str(wheel_of(dist, folder)))
    entries = about["entry-points"]["claude_mem"]
    for value in entries.values():
        venv.python("-I", "-W", "error", "-c", f"import {value.partition(':')[0]}")
    place = venv.python("-I", "-c", "import claude_mem_core as c; print(c.__file__)")
    assert place.startswith(str(tmp_path))
    assert venv.mem("--version").startswith("mem ")
    listed = json.loads(venv.mem("plugins", "--json"))
    states = {row["name"]: (row["state"], row["fault"]) for row in listed["plugins"]}
    assert listed["recording_stopped"] is None
    assert {name: states[name] for name in entries} == dict.fromkeys(entries, ("loaded", ""))


def test_an_extra_installs_its_plugin(dist: Path, tmp_path: Path) -> None:
    venv = Venv(tmp_path / "extra")
    venv.install(dist, "claude-mem-core[kimi]")
    there = venv.installed()
    assert there["claude-mem-host-kimi"] == project(ROOT / "hosts" / "kimi")["version"]
    assert "claude-mem-host-claude-code" not in there
    names = [row["name"] for row in json.loads(venv.mem("plugins", "--json"))["plugins"]]
    assert "host.kimi" in names


@pytest.mark.parametrize("extra", sorted(EXTRAS))
def test_an_extra_names_what_is_there(extra: str, dist: Path) -> None:
    """Each of our packages that it names is in the folder, in a version that will do."""
    wheels = {bare_name(p.name.split("-")[0]): p.name.split("-")[1] for p in dist.glob("*.whl")}
    for wanted in map(Requirement, EXTRAS[extra]):
        if wanted.name.startswith("claude-mem"):
            assert wanted.specifier.contains(wheels[bare_name(wanted.name)])


def test_all_extras_come_from_a_folder(dist: Path, tmp_path: Path) -> None:
    venv = Venv(tmp_path / "all")
    venv.install(dist, "claude-mem-core[all]")
    ours = {n: v for n, v in venv.installed().items() if n.startswith("claude-mem")}
    about = [project(folder) for folder in PACKAGES]
    built = {bare_name(p.name.split("-")[0]): p.name.split("-")[1] for p in dist.glob("*.whl")}
    assert ours == {bare_name(one["name"]): built[bare_name(one["name"])] for one in about}
    states = {row["state"] for row in json.loads(venv.mem("plugins", "--json"))["plugins"]}
    assert states == {"loaded"}


def test_every_package_is_in_an_extra() -> None:
    """`all` holds every package of the repo; each has one of its own name, some share it."""
    names = {bare_name(project(folder)["name"]) for folder in PACKAGES if folder != ROOT}
    assert set(map(bare_name, EXTRAS["all"])) == names
    for folder in PACKAGES:
        if folder != ROOT:
            assert project(folder)["name"] in EXTRAS[folder.name]
