"""Make the development environment: one command, plain pip.

    python3 tools/dev.py                     `.venv` with the dev tools, the core, all packages
    python3 tools/dev.py --venv DIR          another environment, of the Python that runs this
    python3 tools/dev.py --group test        only these dependency groups (default: dev)
    python3 tools/dev.py --list              the package folders, one a line

`pip install -e` starts four processes per package; with thirty packages that is a
minute. This builds all editable wheels in one process and gives them to one pip. What
the packages want of each other, extras too, is never asked of a package index.
Nothing is done when no `pyproject.toml` changed since the last time.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("hosts", "providers", "plugins")
BUILD_TOOLS = ["hatchling>=1.26", "editables"]
OLDEST = (3, 11)


# What is in the repo ---------------------------------------------------------


def packages(root: Path = ROOT) -> list[Path]:
    """Folders of the core and of every package beside it."""
    found = (p.parent for name in FOLDERS for p in (root / name).glob("*/pyproject.toml"))
    return [root, *sorted(found)]


def read(folder: Path) -> dict[str, Any]:
    """A package's `pyproject.toml`."""
    import tomllib

    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))


def group(groups: dict[str, list[Any]], name: str) -> list[str]:
    """A dependency group, flat. pip can do this itself from 25.1 on."""
    found: list[str] = []
    for item in groups[name]:
        found += group(groups, item["include-group"]) if isinstance(item, dict) else [item]
    return found


def bare_name(requirement: str) -> str:
    """`Claude_Mem.Core[kimi]>=1; python_version>'3'` -> `claude-mem-core`."""
    name = re.split(r"[\[<>=!~;@ (]", requirement, maxsplit=1)[0]
    return re.sub(r"[-_.]+", "-", name).lower()


def requirements(folders: list[Path]) -> list[str]:
    """What the packages need from outside this repo."""
    projects = [read(folder)["project"] for folder in folders]
    ours = {bare_name(project["name"]) for project in projects}
    wanted = {need for project in projects for need in project.get("dependencies", ())}
    return sorted(need for need in wanted if bare_name(need) not in ours)


# Is there anything to do -----------------------------------------------------


def fingerprint(folders: list[Path], groups: list[str]) -> str:
    """Changes with every package file, group and with this tool."""
    made = hashlib.sha256(repr(sorted(groups)).encode() + Path(__file__).read_bytes())
    for folder in folders:
        made.update(folder.as_posix().encode() + b"\0")
        made.update((folder / "pyproject.toml").read_bytes() + b"\0")
    return made.hexdigest()


def stamp_of(venv: Path) -> dict[str, Any]:
    """What this tool noted when it last finished; empty when it never did."""
    try:
        found = json.loads((venv / "claude-mem-dev.json").read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def up_to_date(venv: Path, fingerprint_now: str) -> bool:
    """True when the stamp fits and every package it names is still installed."""
    stamp = stamp_of(venv)
    if stamp.get("fingerprint") != fingerprint_now or not python_of(venv).exists():
        return False
    there = {info.name.split("-")[0] for info in venv.glob(f"{site(venv)}/*.dist-info")}
    return {name.replace("-", "_") for name in stamp.get("names", ())} <= there


def site(venv: Path) -> str:
    """Glob of the folder of installed packages inside a virtual environment."""
    return "Lib/site-packages" if os.name == "nt" else "lib/python3*/site-packages"


def python_of(venv: Path) -> Path:
    """The interpreter of a virtual environment."""
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


# Doing it --------------------------------------------------------------------


def ensure_venv(venv: Path) -> None:
    """Make the environment when it is missing or its interpreter is gone."""
    if python_of(venv).exists():
        return
    print(f"making {venv} with Python {sys.version.split()[0]}", flush=True)
    made = subprocess.run([sys.executable, "-m", "venv", "--clear", str(venv)], check=False)
    if made.returncode:
        sys.exit(
            "tools/dev.py: no virtual environment; on Debian: apt-get install python3-venv"
        )


def pip(*args: str) -> None:
    """Run this environment's pip; or uv, if `MEM_DEV_UV` says where it is and it can."""
    uv = os.environ.get("MEM_DEV_UV")
    if uv and args[0] == "install" and _uv(uv, *args[1:]):
        return
    quiet = ["--quiet", "--disable-pip-version-check", "--root-user-action=ignore"]
    command = [sys.executable, "-m", "pip", args[0], *quiet, *args[1:]]
    done = subprocess.run(command, check=False)
    if done.returncode:
        sys.exit(f"tools/dev.py: `pip {args[0]}` failed, see above")


def _uv(uv: str, *args: str) -> bool:
    named = {"--force-reinstall": "--reinstall"}
    words = [named.get(word, word) for word in args]
    command = [uv, "pip", "install", "--quiet", "--python", sys.executable, *words]
    return subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode == 0


def build(folders: list[Path], out: str) -> list[str]:
    """Build editable wheels of the packages; return what is wrong with the others."""
    from hatchling.build import build_editable

    faults = []
    for folder in folders:
        os.chdir(folder)
        try:
            build_editable(out)
        except (OSError, ValueError, TypeError, KeyError) as error:
            faults.append(f"{folder.relative_to(ROOT)}: {type(error).__name__}: {error}")
    os.chdir(ROOT)
    return faults


def install(folders: list[Path], groups: list[str]) -> list[str]:
    """Install everything into the running environment; return faults."""
    table = read(ROOT)["dependency-groups"]
    tools = [need for name in groups for need in group(table, name)]
    pip("install", *BUILD_TOOLS, *tools, *requirements(folders))
    with tempfile.TemporaryDirectory() as out:
        faults = build(folders, out)
        wheels = sorted(str(wheel) for wheel in Path(out).glob("*.whl"))
        pip("install", "--no-index", "--no-deps", "--force-reinstall", *wheels)
    return faults


def remove_gone(venv: Path, names: list[str]) -> None:
    """Uninstall packages whose folder is no longer in the repo."""
    gone = sorted(set(stamp_of(venv).get("names", ())) - set(names))
    if gone:
        pip("uninstall", "--yes", *gone)


def work(venv: Path, folders: list[Path], groups: list[str]) -> list[str]:
    """Bring the running environment, `venv`, up to date; return faults."""
    now = fingerprint(folders, groups)
    names = [bare_name(read(folder)["project"]["name"]) for folder in folders]
    remove_gone(venv, names)
    faults = install(folders, groups)
    for fault in faults:
        print(f"tools/dev.py: not installed: {fault}", file=sys.stderr)
    stamp = {"fingerprint": "" if faults else now, "names": names}
    (venv / "claude-mem-dev.json").write_text(json.dumps(stamp))
    return faults


def newer_python() -> str | None:
    """A Python on the PATH that is new enough, for those whose `python3` is not."""
    names = (f"python3.{minor}" for minor in range(19, OLDEST[1] - 1, -1))
    return next(filter(None, map(shutil.which, names)), None)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--venv", type=Path, default=ROOT / ".venv")
    parser.add_argument("--group", action="append", help="default: dev")
    parser.add_argument("--list", action="store_true", help="the package folders")
    return parser.parse_args()


def main() -> int:
    """Do what is needed, here or in the environment's own interpreter."""
    if sys.version_info < OLDEST:
        other = newer_python()
        if other is None:
            sys.exit("tools/dev.py: needs Python 3.11 or newer")
        os.execv(other, [other, *sys.argv])
    args = arguments()
    folders, venv, groups = packages(), args.venv.absolute(), args.group or ["dev"]
    if args.list:
        print(*(folder.relative_to(ROOT).as_posix() for folder in folders), sep="\n")
        return 0
    if up_to_date(venv, fingerprint(folders, groups)):
        print(f"{len(folders)} packages are installed in {venv}")
        return 0
    if Path(sys.prefix).resolve() == venv.resolve():
        faults = work(venv, folders, groups)
        print(f"{len(folders) - len(faults)} packages installed, editable, in {venv}")
        return 1 if faults else 0
    ensure_venv(venv)
    python = str(python_of(venv))
    return subprocess.run([python, *sys.argv], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
