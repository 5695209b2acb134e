"""No worker answered: keep the event on disk, start the worker, perhaps wait for it.

What is written has been cleaned first; see `policy`. Loaded only then.
"""

from __future__ import annotations

import json
import posix as _os
from time import monotonic, sleep, time_ns

TYPE_CHECKING = False  # as in client.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from claude_mem_core.hook.client import Call, Load, Reply

    Exchange = Callable[[Call, float], Reply]

STALE_HEARTBEAT_S = 120
LOOK_EVERY_S = 0.02
NEW = _os.O_WRONLY | _os.O_CREAT | _os.O_NOFOLLOW | _os.O_CLOEXEC | _os.O_NONBLOCK


def take(call: Call, fault: Exception, exchange: Exchange, load: Load) -> Reply:
    """Keep the event; what it returns is for the host.

    Raises:
        OSError: the event can't be kept.
    """
    _os.umask(0o077)
    call.cwd = _cwd()
    policy = load("policy")
    verdict = policy.judge(call, load)
    policy.tidy(call, load)
    record = load("keep").Record(call)
    try:
        record.write(*verdict)
    except OSError:
        if not call.told:
            raise
        return call.told, b"", 0
    start = load("start").Start(call.data)
    _note_mute(call, fault, start)
    child = start.begin() if _may_start(call) and policy.autostart(call.data) else 0
    if _is_worth_waiting(call, fault, start):
        reply = _wait(call, exchange, start, child)
        if reply is not None:
            record.forget()
            return reply
    record.publish()
    return call.told or _notice(call), b"", 0


def _notice(call: Call) -> bytes:
    """What the last worker that could not start has left for the start of a session."""
    if call.reached or not call.waits_for_start:
        return b""
    try:
        file = _os.open(
            call.data + "/notice.json", _os.O_RDONLY | _os.O_NOFOLLOW | _os.O_NONBLOCK
        )
        try:
            state = _os.fstat(file)
            if state.st_mode & 0o170022 != 0o100000 or state.st_uid != _os.geteuid():
                return b""
            found = json.loads(_os.read(file, 65536))
        finally:
            _os.close(file)
        return found["replies"][call.host][call.event].encode()  # type: ignore[no-any-return]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return b""


def _cwd() -> str:
    try:
        return _os.getcwd()
    except OSError:
        return ""


def _age_s(path: str) -> float:
    """Seconds since a file was changed; 0 for one that is not there."""
    try:
        return time_ns() / 1e9 - _os.stat(path, follow_symlinks=False).st_mtime
    except OSError:
        return 0.0


def _is_mute(call: Call, fault: Exception) -> bool:
    """Whether a worker took the connection and said nothing."""
    return call.reached and isinstance(fault, TimeoutError)


def _note_mute(call: Call, fault: Exception, start: Any) -> None:
    """Others need not wait so long for it, unless it is only starting."""
    if not _is_mute(call, fault) or start.is_fresh():
        return
    try:
        _os.close(_os.open(call.data + "/mute", NEW, 0o600))
        _os.utime(call.data + "/mute", follow_symlinks=False)
    except OSError:
        return


def _may_start(call: Call) -> bool:
    """Nobody listens, or whoever listens is known not to have moved for long."""
    return not call.reached or _age_s(call.data + "/worker-heartbeat.json") > STALE_HEARTBEAT_S


def _is_worth_waiting(call: Call, fault: Exception, start: Any) -> bool:
    return call.waits_for_start and not _is_mute(call, fault) and bool(start.is_fresh())


def _wait(call: Call, exchange: Exchange, start: Any, child: int) -> Reply | None:
    """Ask again until the worker answers or the time is over."""
    end = monotonic() + call.wait
    while (left := end - monotonic()) > 0:
        try:
            return exchange(call, left)
        except (OSError, ValueError):
            if _has_failed(child) or not start.is_fresh():
                start.mark_failed()
                return None
            sleep(LOOK_EVERY_S)
    return None


def _has_failed(child: int) -> bool:
    """Whether our child ended with an error; ending well means that another one runs."""
    if not child:
        return False
    try:
        pid, status = _os.waitpid(child, _os.WNOHANG)
    except OSError:
        return False
    return pid == child and status != 0
