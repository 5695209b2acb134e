"""The hook client that the hosts' hooks start."""

from __future__ import annotations

from claude_mem_core import edge
from claude_mem_core.files import secure_dir
from claude_mem_core.paths import Paths


def expected(paths: Paths) -> list[str]:
    """How a hook will be started, before anything is written."""
    return edge.hook_argv(paths)


def install(paths: Paths) -> list[str]:
    """Copy the client into the data directory; how a hook is started.

    Raises:
        StoreError: the data directory is not ours alone, or can't be written.
    """
    secure_dir(paths.data)
    return edge.install_hook(paths)
