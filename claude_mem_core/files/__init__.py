"""Files that nobody but the user may read or swap: directories, writes, reads, locks.

Every file is reached through a handle of its directory and no link is followed at its
name; what is created is created exclusively, with mode 0600, whatever the umask is.
"""

from __future__ import annotations

from claude_mem_core.files.folders import opened_dir, opened_inside, secure_dir
from claude_mem_core.files.private import (
    locked,
    open_append,
    open_regular,
    read_private,
    sweep_temps,
    write_at,
    write_private,
)

__all__ = [
    "locked",
    "open_append",
    "open_regular",
    "opened_dir",
    "opened_inside",
    "read_private",
    "secure_dir",
    "sweep_temps",
    "write_at",
    "write_private",
]
