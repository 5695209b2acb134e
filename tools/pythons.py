"""Run tests on the other Pythons of this machine, each in an environment of its own.

    .venv/bin/python tools/pythons.py [PYTEST ARGUMENTS]
    .venv/bin/python tools/pythons.py --list

Every minor version from 3.11 on is taken once, but not the one that runs this. The
environments are kept in `.cache/python-3.x`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:  # started as a file
    sys.path.insert(0, str(ROOT))

from tools import installer

OLDEST = (3, 11)
ASK = "import sys; print(*sys.version_info[:2])"


def candidates() -> Iterator[str]:
    """Interpreters by name on the PATH and in pyenv's folder."""
    for minor in range(OLDEST[1], 30):
        found = shutil.which(f"python3.{minor}")
        if found:
            yield found
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from sorted(map(str, pyenv.glob("versions/*/bin/python3")), key=_numbers)


def _numbers(path: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", path)]


def version_of(python: str) -> tuple[int, int] | None:
    """Major and minor version; None when it does not run (a shim of pyenv may not)."""
    done = subprocess.run(
        [python, "-I", "-c", ASK], capture_output=True, text=True, check=False
    )
    numbers = done.stdout.split()
    if done.returncode or len(numbers) != 2:
        return None
    return int(numbers[0]), int(numbers[1])


def others() -> dict[tuple[int, int], str]:
    """One interpreter for each other minor version that is new enough."""
    found: dict[tuple[int, int], str] = {}
    for python in candidates():
        version = version_of(python)
        if version and version >= OLDEST and version != sys.version_info[:2]:
            found.setdefault(version, python)
    return dict(sorted(found.items()))


def run(version: tuple[int, int], python: str, arguments: list[str]) -> int:
    """Bring the environment up to date and run the tests in it."""
    name = ".".join(map(str, version))
    venv = ROOT / ".cache" / f"python-{name}"
    print(f"\nPython {name}: {python}", flush=True)
    make = [python, str(ROOT / "tools" / "dev.py"), "--venv", str(venv), "--group", "test"]
    env = {**os.environ, **installer.environment(), "MEM_DEV_UV": str(installer.uv())}
    code = subprocess.run(make, check=False, env=env).returncode
    if code:
        return code
    pytest = [str(venv / "bin" / "python"), "-m", "pytest", "-n", "3", "--dist", "loadfile"]
    quiet = ["-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run([*pytest, *quiet], cwd=ROOT, check=False).returncode


def main() -> int:
    """Run on each; fail when one fails."""
    found = others()
    if sys.argv[1:] == ["--list"]:
        for version, python in found.items():
            print(*version, python)
        return 0
    codes = [run(version, python, sys.argv[1:]) for version, python in found.items()]
    return max(codes, default=0)


if __name__ == "__main__":
    sys.exit(main())
