"""The command line that starts our hook client from another program's configuration."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from claude_mem_core.errors import HostConfigError

LAUNCH = ("/hook/launch.py", "\\hook\\launch.py")
LAUNCH_MARK = b"launch.py"


def shell_words(argv: Sequence[str], title: str) -> str:
    """A command line of these words, for hosts that start hooks through a shell.

    Args:
        title: the host's name, for errors.

    Raises:
        HostConfigError: a path in it can't be quoted safely for every shell.
    """
    for word in argv:
        if set(word) & set('"\r\n\0'):
            raise HostConfigError(
                f"{title} starts hooks through a shell, and the path {word!r} can't be"
                " quoted safely; move the data directory with CLAUDE_MEM_DATA_DIR"
            )
    if os.name == "nt":
        return " ".join(f'"{word}"' if " " in word else word for word in argv)
    return shlex.join(argv)


def starts_us(command: object, host: str) -> bool:
    """Whether a command line starts our client for this host, wherever it lies."""
    text = command if isinstance(command, str) else ""
    return any(launch in text for launch in LAUNCH) and f" {host} " in f"{text} "
