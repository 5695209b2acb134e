"""Whether the hook that lies in a data directory is the one of this package.

Kept apart and small: `mem hook` asks it before every event.
"""

from __future__ import annotations

import os
import sys

FLAGS = ("-I", "-S", "-E")
# Python ends with 2 when its script is not there, and hosts take 2 for "block this": once
# somebody had deleted the data directory, no prompt would get through. No quotes in it,
# because some hosts start it with a shell; this module is in every interpreter already.
BOOT = (
    "import sys,_frozen_importlib_external as i;del sys.argv[0];"
    "i._path_isfile(sys.argv[0])and exec(open(sys.argv[0]).read())"
)
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# The files of the hook that lie beside launch.py, and where their sources are.
FILES = {
    "bridge": "hook",
    "client": "hook",
    "cold": "hook",
    "keep": "hook",
    "policy": "hook",
    "slow": "hook",
    "start": "hook",
    "windows": "hook",
    "wire": "hook",
    "entropy": "clean",
    "tags": "clean",
    "values": "clean",
    "vendor": "clean",
}
STAMP = "installed"


def source_path(name: str) -> str:
    """Where the source of one of the hook's files lies."""
    return os.path.join(PACKAGE, FILES.get(name, "hook"), f"{name}.py")


def stamp() -> str:
    """Says which sources, for which interpreter, an installation holds."""
    words = [sys.executable, f"{sys.hexversion:x}"]
    for name in (*FILES, "launch"):
        state = os.stat(source_path(name))
        words.append(f"{state.st_size:x}.{state.st_mtime_ns:x}")
    return " ".join(words)


def is_current(data: str) -> bool:
    """Whether the installed hook is of these sources, with a worker to start."""
    try:
        with open(os.path.join(data, "hook", STAMP), "rb") as file:
            said = file.read(65_536).decode("utf-8", "replace").partition("\n")[0]
    except OSError:
        return False
    return said == stamp() and os.path.exists(os.path.join(data, "worker.argv"))


def argv(data: str) -> list[str]:
    """How a hook is started, without host and event."""
    return [sys.executable, *FLAGS, "-c", BOOT, os.path.join(data, "hook", "launch.py")]


def bridge_argv(data: str) -> list[str]:
    """How the MCP server is started, without the name of the client."""
    return [sys.executable, *FLAGS, "-c", BOOT, os.path.join(data, "hook", "bridge.py")]
