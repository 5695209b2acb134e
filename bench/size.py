"""How large an installation of the core, one host and the vectors is, and how long it takes.

    .venv/bin/python bench/size.py --json

Builds the wheels, installs them with pip into an empty environment, and adds up the
files on disk (blocks really used).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLUGINS = ("search-vector", "embedder-static")
PACKAGES = (
    ROOT,
    ROOT / "hosts" / "claude-code",
    *(ROOT / "plugins" / name for name in PLUGINS),
)


def size_mb(folder: Path) -> float:
    """Megabytes of the files below `folder`, each file once."""
    seen: set[int] = set()
    total = 0
    for path in folder.rglob("*"):
        found = path.lstat()
        if found.st_ino not in seen:
            seen.add(found.st_ino)
            total += found.st_blocks * 512
    return total / 1e6


def build(out: Path) -> list[str]:
    """Wheels of the core and the host."""
    for package in PACKAGES:
        run(
            [
                sys.executable,
                "-m",
                "pip",
                "wheel",
                "-q",
                "--no-deps",
                "-w",
                str(out),
                str(package),
            ]
        )
    return sorted(map(str, out.glob("*.whl")))


def run(argv: list[str]) -> None:
    """Run quietly or fail loudly."""
    env = {k: v for k, v in os.environ.items() if k != "PIP_REQUIRE_VIRTUALENV"}
    done = subprocess.run(argv, check=False, capture_output=True, text=True, env=env)
    if done.returncode:
        raise SystemExit(f"{' '.join(argv)}\n{done.stderr}")


def measure() -> dict[str, float]:
    """Install into an empty environment and weigh it."""
    with tempfile.TemporaryDirectory() as base:
        wheels = build(Path(base) / "wheels")
        home = Path(base) / "env"
        started = time.monotonic()
        venv.create(home, with_pip=True)
        run([str(home / "bin" / "python"), "-m", "pip", "install", "-q", *wheels])
        took = time.monotonic() - started
        return {"env_mb": round(size_mb(home), 1), "install_s": round(took, 1)}


def main() -> None:
    """Print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object (always)")
    parser.parse_args()
    print(json.dumps(measure()))


if __name__ == "__main__":
    main()
