"""Run mypy on the core, the tools and every package, strictly.

    .venv/bin/python tools/typecheck.py [MYPY ARGUMENTS]

The packages are found by their folders; each one's `src` is a place where modules start.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def sources(root: Path = ROOT) -> list[Path]:
    """The `src` folders of all packages."""
    folders = ("hosts", "providers", "plugins")
    return sorted(path for name in folders for path in (root / name).glob("*/src"))


def main() -> int:
    """Run it."""
    found = [str(path) for path in sources()]
    env = {**os.environ, "MYPYPATH": os.pathsep.join([*found, str(ROOT)])}
    command = [sys.executable, "-m", "mypy", "claude_mem_core", "tools", "bench"]
    done = subprocess.run([*command, *found, *sys.argv[1:]], cwd=ROOT, env=env, check=False)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
