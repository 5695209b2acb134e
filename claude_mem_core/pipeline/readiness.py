"""What a host itself still keeps from working, told where a context is given anyway."""

from __future__ import annotations

import os
from pathlib import Path

from claude_mem_core import edge
from claude_mem_core.errors import MemError
from claude_mem_core.paths import Paths
from claude_mem_core.types import Host, HostSetup, TellsUnready


def unready(record: Host, paths: Paths) -> tuple[str, ...]:
    """What the host's user has yet to do, one line each; nothing where all is well.

    It reads a few small files; call it where a wait costs nobody anything.
    """
    installer = record.installer() if record.installer is not None else None
    if not isinstance(installer, TellsUnready):
        return ()
    setup = HostSetup(
        home=str(Path.home()),
        data_dir=str(paths.data),
        argv=tuple(edge.hook_argv(paths)),
        env=dict(os.environ),
    )
    try:
        return tuple(f"memory: {text}" for text in installer.unready(setup))
    except (MemError, OSError):
        return ()
