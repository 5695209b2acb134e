"""Installs the real agent programs that the end-to-end tests drive.

    .venv/bin/python tools/hosts.py [HOST ...]

Which programs and versions is in `hosts.json` beside this file (`beside` names packages
that are installed along with one). They come from npm into
`.cache/hosts/NAME-VERSION` (or below `MEM_HOSTS_DIR`) and stay there between runs.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TIMEOUT = 600  # seconds for one install; 30 is usual


class HostProgramError(Exception):
    """A program could not be installed; the text holds npm's own last words."""


def pins() -> dict[str, dict[str, str]]:
    """What `hosts.json` asks for, by name."""
    text = (Path(__file__).parent / "hosts.json").read_text(encoding="utf-8")
    found: dict[str, dict[str, str]] = json.loads(text)
    return found


def cache() -> Path:
    """Where the programs lie: `MEM_HOSTS_DIR`, else `.cache/hosts` of the checkout."""
    named = os.environ.get("MEM_HOSTS_DIR")
    return Path(named).absolute() if named else ROOT / ".cache" / "hosts"


def binary(name: str) -> Path:
    """The program's path, whether it is installed or not."""
    pin = pins()[name]
    return cache() / f"{name}-{pin['version']}" / pin["folder"] / pin["binary"]


def node_bin() -> Path:
    """Folder of the pinned Node, to be put first on PATH.

    An older Node makes npm pick an older version of a host without a word.
    """
    return ensure("node").parent


def ensure(name: str) -> Path:
    """Install the program unless it is there, and return its path.

    Raises:
        HostProgramError: npm is missing or failed, or the program does not start.
    """
    path = binary(name)
    if not path.exists():
        before = node_bin() if name != "node" else None
        with alone(name):
            if not path.exists():
                fetch(name, before)
    if not path.exists():
        raise HostProgramError(f"{name}: npm ended well, but {path} is missing")
    return path


@contextmanager
def alone(name: str) -> Iterator[None]:
    """Keep other processes, test workers for one, from installing the same."""
    import fcntl

    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / f".{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def fetch(name: str, node: Path | None) -> None:
    """Install into a folder beside the final one, then move: half an install never counts."""
    pin = pins()[name]
    final = cache() / f"{name}-{pin['version']}"
    shutil.rmtree(final, ignore_errors=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=cache()))
    try:
        (partial / "package.json").write_text('{"private": true}\n', encoding="utf-8")
        beside = pin.get("beside", "").split()
        npm(node, partial, f"{pin['package']}@{pin['version']}", *beside)
        partial.rename(final)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def npm(node: Path | None, folder: Path, *specs: str) -> None:
    """Run `npm install` for a package, and for what it needs beside it.

    Raises:
        HostProgramError: npm is missing or failed.
    """
    program = shutil.which("npm")
    if program is None:
        raise HostProgramError("npm is not on PATH: install Node.js with npm first")
    command = [program, "install", "--no-audit", "--no-fund", "--loglevel=error", *specs]
    path = os.environ.get("PATH", "")
    env = {**os.environ, "PATH": f"{node}{os.pathsep}{path}" if node else path}
    done = subprocess.run(
        command, cwd=folder, env=env, timeout=TIMEOUT, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if done.returncode:
        words = (done.stderr or done.stdout)[-1500:]
        raise HostProgramError(f"npm could not install {' '.join(specs)}:\n{words}")


def main(names: list[str]) -> int:
    """Install the named programs, or all; print each one's path."""
    try:
        for name in names or list(pins()):
            print(f"{name} {pins()[name]['version']}: {ensure(name)}", flush=True)
    except KeyError as missing:
        print(f"no host named {missing} in tools/hosts.json", file=sys.stderr)
        return 2
    except HostProgramError as error:
        print(f"tools/hosts.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
