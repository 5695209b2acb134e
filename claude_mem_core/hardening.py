"""What our processes do to themselves first: modes, core dumps, who may look into it."""

from __future__ import annotations

import os
import sys

PR_SET_DUMPABLE = 4


def protect() -> None:
    """New files for the owner only, no core dumps, no standard input."""
    os.umask(0o077)
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def forbid_tracing() -> None:
    """Linux: other programs of the same user can't read our memory.

    Imports ctypes, so it runs once the worker answers.
    """
    if sys.platform != "linux":
        return
    import ctypes

    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
