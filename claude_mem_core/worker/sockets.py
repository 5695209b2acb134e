"""The Unix socket of a data directory: where it is, how it is made, who is there."""

from __future__ import annotations

import os
import socket
import stat
import struct
import sys
import tempfile
from pathlib import Path

from claude_mem_core.errors import WorkerError
from claude_mem_core.paths import Paths
from claude_mem_core.worker.lock import clear_place

LONGEST = 100  # bytes; macOS takes 103, Linux 107
BACKLOG = 2048


def socket_path(paths: Paths) -> Path:
    """Where clients find the socket."""
    if fits(paths.socket):
        return paths.socket
    try:
        with open(paths.socket_elsewhere, "rb") as file:
            return Path(os.fsdecode(file.read(4096).strip()))
    except OSError:
        return paths.socket


def fits(path: Path) -> bool:
    """Whether the system takes so long a socket path."""
    return len(os.fsencode(path)) <= LONGEST


def listen(paths: Paths) -> socket.socket:
    """Make the socket and listen. Only for the holder of the worker's lock.

    Raises:
        OSError: the directory can't be written.
        WorkerError: the place of the socket is taken by something that is not ours.
    """
    path = paths.socket if fits(paths.socket) else _elsewhere(paths)
    _remove_stale(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(os.fspath(path))
        os.chmod(path, 0o600)
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    listener.setblocking(False)
    return listener


def _remove_stale(path: Path) -> None:
    """The lock is ours, so a socket that lies here belongs to nobody alive."""
    clear_place(path)
    if path.exists():
        raise WorkerError(f"{path} is a file where the worker's socket belongs: remove it")


def _elsewhere(paths: Paths) -> Path:
    """A socket in a private directory with a short name, kept from start to start."""
    known = socket_path(paths)
    if fits(known) and known != paths.socket and _is_private(known.parent):
        return known
    folder = Path(tempfile.mkdtemp(prefix=f"mem-{os.getuid()}-", dir="/tmp"))
    from claude_mem_core.files import write_private

    write_private(paths.socket_elsewhere, os.fsencode(folder / "w.sock"))
    return folder / "w.sock"


def _is_private(folder: Path) -> bool:
    try:
        there = os.lstat(folder)
    except OSError:
        return False
    ours = stat.S_ISDIR(there.st_mode) and there.st_uid == os.getuid()
    return ours and not there.st_mode & 0o077


def peer_uid(connection: socket.socket) -> int | None:
    """User id of the process at the other end; None where the system can't tell."""
    if sys.platform == "linux":
        raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        return int(struct.unpack("3i", raw)[1])
    if sys.platform == "darwin":
        # struct xucred: version, uid, ngroups, groups
        raw = connection.getsockopt(0, 0x001, 76)
        return int(struct.unpack_from("2I", raw)[1])
    return None


def is_ours(connection: socket.socket) -> bool:
    """Whether the other end runs as us (or as root, who can do anything anyway)."""
    uid = peer_uid(connection)
    return uid is None or uid in {os.getuid(), 0}
