"""One event on disk, for the worker to take in later. Loaded only when it is down."""

from __future__ import annotations

import fcntl
import json
import posix as _os

TYPE_CHECKING = False  # as in client.py
if TYPE_CHECKING:
    from claude_mem_core.hook.client import Call

MOST = 20_000
TRIES = 3
NEW = _os.O_WRONLY | _os.O_CREAT | _os.O_EXCL | _os.O_NOFOLLOW | _os.O_CLOEXEC


class Record:
    """One event on its way to the disk: written as `.tmp`, published by a rename."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._folder = -1
        self._name = call.key
        self._inode = (0, 0)
        self._data = b""

    def write(self, dropped: str | None, body: bytes) -> None:
        """Write the record and make it durable.

        Raises:
            OSError: it can't be kept; the loss is counted if that can be done.
        """
        self._data = self._header(dropped, body) + b"\n" + body
        try:
            self._folder = self._opened()
            self._create()
        except OSError:
            count_lost(self._call.data)
            raise

    def _header(self, dropped: str | None, body: bytes) -> bytes:
        call = self._call
        cut = call.size > len(call.body)
        head = {
            "v": 1,
            "host": call.host[:100],
            "event": call.event[:200],
            "env": {name: value.decode("utf-8", "replace") for name, value in call.env.items()},
            "at_ms": call.at_ms,
            "size": call.size if cut and dropped is None else len(body),
            "dropped": dropped,
            "length": len(body),
            "key": call.key,
        }
        return json.dumps(head).encode("ascii")

    def _opened(self) -> int:
        """A handle of the spool directory, which must be ours alone."""
        path = self._call.data + "/spool"
        for folder in (self._call.data, path):
            if not _is_there(folder):
                _os.mkdir(folder, 0o700)
        handle = _os.open(path, _os.O_RDONLY | _os.O_DIRECTORY | _os.O_NOFOLLOW)
        state = _os.fstat(handle)
        if state.st_uid != _os.geteuid() or state.st_mode & 0o022:
            raise PermissionError(1, "the spool directory is not ours alone")
        if len(_os.listdir(handle)) > MOST:
            raise OSError(28, "the spool is full")
        return handle

    def _create(self) -> None:
        file = _os.open(self._name + ".tmp", NEW, 0o600, dir_fd=self._folder)
        try:
            left = self._data
            while left:
                left = left[_os.write(file, left) :]
            _os.fsync(file)
            state = _os.fstat(file)
            self._inode = (state.st_dev, state.st_ino)
        except OSError:
            self.forget()
            raise
        finally:
            _os.close(file)

    def publish(self) -> None:
        """Give the record its name; write it anew if something else got there first.

        Raises:
            OSError: something takes its place again and again.
        """
        for number in range(TRIES):
            final = self._name + ".ev"
            ends = {"src_dir_fd": self._folder, "dst_dir_fd": self._folder}
            _os.rename(self._name + ".tmp", final, **ends)
            state = _os.stat(final, dir_fd=self._folder, follow_symlinks=False)
            if (state.st_dev, state.st_ino) == self._inode:
                return
            self._name = f"{self._call.key}{number}"
            self._create()
        raise OSError(17, "another program takes the spool's names")

    def forget(self) -> None:
        """The worker has the event: the record is not needed."""
        try:
            _os.unlink(self._name + ".tmp", dir_fd=self._folder)
        except OSError:
            return


def count_lost(data: str) -> None:
    """One more event that could not be kept, in a file that needs no new room."""
    try:
        file = _os.open(
            data + "/lost.count",
            _os.O_RDWR | _os.O_CREAT | _os.O_NOFOLLOW | _os.O_CLOEXEC | _os.O_NONBLOCK,
            0o600,
        )
    except OSError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        lost = int(_os.read(file, 20) or b"0") + 1
        _os.pwrite(file, b"%020d" % lost, 0)
    except (OSError, ValueError):
        pass
    finally:
        _os.close(file)


def _is_there(path: str) -> bool:
    try:
        _os.stat(path)
    except FileNotFoundError:
        return False
    return True
