"""What the worker does to itself first: modes, core dumps, a known environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

# All that a worker gets from whoever starts it. A repository can set anything else in
# the environment of its agent; none of that may steer the worker.
KEPT = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR")
KEPT_WINDOWS = ("SYSTEMROOT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP")
PR_SET_DUMPABLE = 4


def clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The part of `environ` that a worker may be started with."""
    names = KEPT + (KEPT_WINDOWS if sys.platform == "win32" else ())
    kept = {name: environ[name] for name in names if name in environ}
    xdg = {k: v for k, v in environ.items() if k.startswith("XDG_")}
    return kept | xdg


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
