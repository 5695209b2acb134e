"""Run the tests; a test that failed among the others is run once more, by itself.

    .venv/bin/python tools/suite.py [PYTEST ARGUMENTS]

Tests with real programs share two cores with each other. One that fails in the crowd and
passes alone was short of time; it is named in the output, so that it can be mended. One
that fails alone too has failed. Anything but failed tests (a crash, no tests at all) is
never run again: it is a failure at once.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence

CROWD = ["-n", "2", "--dist", "loadfile"]
SOME_FAILED = 1

Run = Callable[[list[str]], int]


def suite(python: str, arguments: Sequence[str], run: Run = subprocess.call) -> int:
    """pytest's exit code for the run, or for the second look at what failed in it."""
    with tempfile.TemporaryDirectory() as cache:
        pytest = [python, "-m", "pytest", "-o", f"cache_dir={cache}"]
        code = run([*pytest, *CROWD, *arguments])
        if code != SOME_FAILED:
            return code
        print("\nWhat failed is run once more, by itself:", flush=True)
        return run([*pytest, "--last-failed", "--last-failed-no-failures=none", *arguments])


if __name__ == "__main__":
    sys.exit(suite(sys.executable, sys.argv[1:]))
