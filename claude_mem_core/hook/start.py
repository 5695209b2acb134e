"""Starts the worker, once for any number of hooks. Loaded only when it is down."""

from __future__ import annotations

import fcntl
import posix as _os
from time import time_ns

AGAIN_S = 10  # after a start that went well
FAILED_S = 60
OPEN = _os.O_RDWR | _os.O_NOFOLLOW | _os.O_CLOEXEC | _os.O_NONBLOCK


class Start:
    """The one start of a worker that any number of hooks may ask for.

    `starting` holds time, process and state of the last one. A start that no worker
    has confirmed (see `edge.publish`) after ten seconds has failed. One that went well
    is not repeated within `again_s` seconds.
    """

    def __init__(self, data: str, again_s: float = AGAIN_S) -> None:
        self._data = data
        self._again_s = again_s
        self._path = data + "/starting"

    def begin(self, *, apart: bool = False) -> int:
        """Start the worker unless that was just tried; its process id, else 0.

        `apart` is for processes that live on: some hosts end whatever descends from the
        programs they have started, and the worker must not.
        """
        try:
            _clear(self._path)
            file = _os.open(self._path, OPEN | _os.O_CREAT, 0o600)
        except OSError:
            return 0  # what can't be noted is not tried: it would be tried by every hook
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not self._is_due(_os.read(file, 200)):
                return 0
            self._note(file, 0, "failed")
            child = spawn_apart(self._data) if apart else spawn(self._data)
            self._note(file, child, "started")
        except (OSError, ValueError):
            return 0
        else:
            return child
        finally:
            _os.close(file)

    def _is_due(self, raw: bytes) -> bool:
        at, _, state = _parsed(raw)
        age = time_ns() / 1e9 - at
        return not -5 < age < (self._again_s if state == "ok" else FAILED_S)

    def _note(self, file: int, child: int, state: str) -> None:
        data = f"{time_ns() / 1e9:.3f} {child} {state}\n".encode()
        _os.pwrite(file, data, 0)
        _os.ftruncate(file, len(data))

    def _read(self) -> tuple[float, int, str]:
        try:
            file = _os.open(self._path, _os.O_RDONLY | _os.O_NOFOLLOW | _os.O_NONBLOCK)
        except OSError:
            return 0.0, 0, ""
        try:
            return _parsed(_os.read(file, 200))
        except OSError:
            return 0.0, 0, ""
        finally:
            _os.close(file)

    def is_fresh(self) -> bool:
        """Whether a worker is on its way: begun just now, and its process is there."""
        at, child, state = self._read()
        age = time_ns() / 1e9 - at
        return state == "started" and -5 < age < AGAIN_S and _is_alive(child)

    def has_failed(self) -> bool:
        """Whether the last start came to nothing, so short ago that none is begun now."""
        at, child, state = self._read()
        age = time_ns() / 1e9 - at
        gone = state == "started" and not _is_alive(child)
        return -5 < age < FAILED_S and (state == "failed" or gone)

    def mark_failed(self) -> None:
        """Tell the other hooks not to wait."""
        try:
            file = _os.open(self._path, OPEN)
            at, _, state = _parsed(_os.read(file, 200))
            if state == "started":
                _os.pwrite(file, f"{at:.3f} 0 failed  \n".encode(), 0)
            _os.close(file)
        except OSError:
            return


def _parsed(raw: bytes) -> tuple[float, int, str]:
    try:
        at, child, state = raw.decode("ascii").split()[:3]
        return float(at), int(child), state
    except ValueError:
        return 0.0, 0, ""


def _clear(path: str) -> None:
    """Make room for a plain file; a pipe that stands there would be waited for."""
    try:
        if _os.lstat(path).st_mode & 0o170000 != 0o100000:
            _os.unlink(path)
    except OSError:
        return


def _is_alive(pid: int) -> bool:
    try:
        _os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return pid > 0


def spawn(data: str) -> int:
    """Start the worker as it was recorded: argv, environment, working directory.

    Raises:
        OSError: there is no record, or the program can't be started.
    """
    argv, env = recorded(data)
    _clear(data + "/worker.err")
    _os.chdir(data)
    _close_for_child()
    log = _os.O_WRONLY | _os.O_CREAT | _os.O_TRUNC | _os.O_NOFOLLOW
    actions = [
        (_os.POSIX_SPAWN_OPEN, 0, "/dev/null", _os.O_RDONLY, 0),
        (_os.POSIX_SPAWN_OPEN, 1, data + "/worker.err", log, 0o600),
        (_os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    try:
        return _os.posix_spawn(argv[0], argv, env, file_actions=actions, setsid=True)
    except NotImplementedError:  # a C library without it
        return _fork(argv, env)


def spawn_apart(data: str) -> int:
    """The same through a process that ends at once, so that the worker has no parent here.

    Raises:
        OSError: as `spawn`.
    """
    ours, its = _os.pipe()
    between = _os.fork()
    if not between:
        try:
            _os.write(its, b"%d" % spawn(data))
        finally:
            _os._exit(0)
    _os.close(its)
    try:
        said = _os.read(ours, 20)
        _os.waitpid(between, 0)
    finally:
        _os.close(ours)
    if not said:
        raise OSError("the worker can't be started")
    return int(said)


def _fork(argv: list[bytes], env: dict[bytes, bytes]) -> int:
    child = _os.fork()
    if child:
        return child
    try:
        _os.setsid()
        nothing = _os.open("/dev/null", _os.O_RDWR)
        for number in (0, 1, 2):
            _os.dup2(nothing, number)
        _os.execve(argv[0], argv, env)
    finally:
        _os._exit(127)


def _close_for_child() -> None:
    """Files that the host left open for us must not live on in the worker."""
    for name in _os.listdir("/dev/fd"):
        try:
            if int(name) > 2:
                _os.set_inheritable(int(name), False)
        except OSError:  # the one that listed them is closed again
            continue


def recorded(data: str) -> tuple[list[bytes], dict[bytes, bytes]]:
    """argv and environment out of `worker.argv`: a count, the words, then NAME=VALUE.

    Raises:
        OSError: it is missing, a link, or may be written by others.
    """
    file = _os.open(data + "/worker.argv", _os.O_RDONLY | _os.O_NOFOLLOW | _os.O_NONBLOCK)
    try:
        state = _os.fstat(file)
        if state.st_mode & 0o170000 != 0o100000 or state.st_uid != _os.geteuid():
            raise PermissionError(1, "worker.argv is not ours")
        if state.st_mode & 0o022:
            raise PermissionError(1, "worker.argv may be written by others")
        count, *words = _os.read(file, 65536).split(b"\0")
    finally:
        _os.close(file)
    argv = words[: int(count)]
    return argv, dict(pair.split(b"=", 1) for pair in words[int(count) :] if b"=" in pair)
