"""The spool: what hooks left on disk while no worker answered.

What lies there is hostile until proven ours: names by a strict pattern, files opened by
the handle of their directory without following links, regular, ours, with one name and
of a bounded size. Everything else is moved to `spool/rejected` unread and counted.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import re
import stat
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import attrs

from claude_mem_core.files import secure_dir
from claude_mem_core.files.folders import opened_dir
from claude_mem_core.paths import Paths
from claude_mem_core.types import Delivery

log = logging.getLogger(__name__)

RECORD = re.compile(r"[0-9]{20}-[0-9]{1,20}\.ev")
UNFINISHED = re.compile(r"[0-9]{20}-[0-9]{1,20}\.tmp")
KEY = re.compile(r"[0-9]{20}-[0-9]{1,10}")
HOST = re.compile(r"[a-z][a-z0-9-]{0,99}")  # what a plugin can be called
ABANDONED_S = 60.0  # after which a record without its name has no hook any more
LARGEST = 64 * 1024 * 1024
LONGEST_HEAD = 64 * 1024
MOST_REJECTED = 1_000

Handle = Callable[[Delivery], Awaitable[object]]


@attrs.frozen
class DrainResult:
    """What became of the records of one pass.

    Attributes:
        taken: handed on, and gone from the disk.
        kept: could not be handed on yet; tried again at the next pass.
        rejected: no records of ours; in `spool/rejected` now.
    """

    taken: int = 0
    kept: int = 0
    rejected: int = 0


class NoRecord(Exception):
    """What lies there is not what a hook of ours writes; the text says why."""


async def drain(paths: Paths, handle: Handle) -> DrainResult:
    """Hand every record to `handle`, oldest first; one that raises stays for later.

    Raises:
        StoreError: the spool directory is not ours alone.
        OSError: it can't be read.
    """
    if not os.path.lexists(paths.spool):
        return DrainResult()
    secure_dir(paths.spool)
    taken = kept = rejected = 0
    with opened_dir(paths.spool) as folder:
        place = _Place(paths, folder)
        for name in place.names():
            try:
                delivery = delivery_of(name, place.read(name))
            except FileNotFoundError:  # its hook has handed it in after all
                continue
            except NoRecord as fault:
                place.reject(name, fault)
                rejected += 1
                continue
            except OSError as fault:
                log.warning("a spooled event can't be read: %s", fault.strerror)
                kept += 1
                continue
            done = await _hand_on(delivery, handle)
            taken, kept = taken + done, kept + (not done)
            if done:
                place.remove(name)
    return DrainResult(taken, kept, rejected)


async def _hand_on(delivery: Delivery, handle: Handle) -> bool:
    try:
        await handle(delivery)
    except Exception as error:  # noqa: BLE001 - whatever it is, the record must not be lost
        log.warning("a spooled event has to wait: %s", type(error).__name__)
        return False
    return True


class _Place:
    """The spool directory, by its handle."""

    def __init__(self, paths: Paths, folder: int | None) -> None:
        self._paths = paths
        self._folder = folder

    def _at(self, name: str) -> str:
        return name if self._folder is not None else str(self._paths.spool / name)

    def names(self) -> list[str]:
        """What is to be looked at, oldest first; a hook may still be at the others."""
        listed = os.listdir(self._paths.spool if self._folder is None else self._folder)
        return sorted(name for name in listed if name != "rejected" and self._is_due(name))

    def _is_due(self, name: str) -> bool:
        if not name.endswith(".tmp"):
            return True
        try:
            changed = os.stat(self._at(name), dir_fd=self._folder, follow_symlinks=False)
        except OSError:
            return False
        return time.time() - changed.st_mtime > ABANDONED_S

    def read(self, name: str) -> bytes:
        """The bytes of a record.

        Raises:
            NoRecord: no hook of ours wrote this.
            OSError: it can't be read.
        """
        if not (RECORD.fullmatch(name) or UNFINISHED.fullmatch(name)):
            raise NoRecord("an odd name")
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        with _as_no_record(), self._opened(name, flags) as file:
            fault = _fault(os.fstat(file))
            if fault:
                raise NoRecord(fault)
            with os.fdopen(os.dup(file), "rb") as opened:
                return opened.read(LARGEST + 1)

    @contextmanager
    def _opened(self, name: str, flags: int) -> Iterator[int]:
        file = os.open(self._at(name), flags, dir_fd=self._folder)
        try:
            yield file
        finally:
            os.close(file)

    def remove(self, name: str) -> None:
        """The record is taken in."""
        with suppress(FileNotFoundError):
            os.unlink(self._at(name), dir_fd=self._folder)

    def reject(self, name: str, fault: NoRecord) -> None:
        """Move it out of the way, whatever it is, under a name that says nothing."""
        log.warning("rejected in the spool: %s", fault)
        with suppress(OSError), opened_dir(self._aside()) as aside:
            where = self._paths.spool / "rejected"
            if len(os.listdir(where if aside is None else aside)) < MOST_REJECTED:
                target = f"{time.time_ns()}-{os.urandom(4).hex()}"
                target = target if aside is not None else str(where / target)
                os.rename(self._at(name), target, src_dir_fd=self._folder, dst_dir_fd=aside)
            elif not os.path.isdir(self._paths.spool / name):
                os.unlink(self._at(name), dir_fd=self._folder)

    def _aside(self) -> Path:
        """The folder for what is rejected; a link or file that stands there goes."""
        aside = self._paths.spool / "rejected"
        if aside.is_symlink() or aside.is_file():
            aside.unlink()
        aside.mkdir(0o700, exist_ok=True)
        return aside


@contextmanager
def _as_no_record() -> Iterator[None]:
    """A link, a socket, a stranger's file: what can't be opened for what it is."""
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENXIO, errno.EACCES, errno.EPERM}:
            raise NoRecord("it can't be opened as a file of ours") from None
        raise


def _fault(state: os.stat_result) -> str:
    """What is wrong with a file of the spool; empty when nothing is."""
    if not stat.S_ISREG(state.st_mode):
        return "no regular file"
    if hasattr(os, "geteuid") and state.st_uid != os.geteuid():
        return "somebody else's file"
    if state.st_nlink != 1:
        return "a file with a second name"
    return "too large" if state.st_size > LARGEST else ""


def delivery_of(name: str, data: bytes) -> Delivery:
    """The delivery that a record holds.

    Raises:
        NoRecord: it is not whole, or no record.
    """
    head, found, body = data.partition(b"\n")
    try:
        value = json.loads(head.decode("ascii")) if found and len(head) < LONGEST_HEAD else None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict) or value.get("v") != 1 or not _is_whole(value, body):
        raise NoRecord("not a whole record")
    return Delivery(
        host=_text(value, "host"),
        event=_text(value, "event"),
        stdin=body,
        env=_environment(value.get("env")),
        key=_key(name, value),
        at_ms=_number(value, "at_ms"),
        spooled=True,
        size=_number(value, "size") or len(body),
        dropped=_text(value, "dropped"),
    )


def _is_whole(value: dict[str, Any], body: bytes) -> bool:
    host = HOST.fullmatch(_text(value, "host"))
    return value.get("length", len(body)) == len(body) and host is not None


def _text(value: dict[str, Any], name: str) -> str:
    given = value.get(name)
    return given[:200] if isinstance(given, str) else ""


def _number(value: dict[str, Any], name: str) -> int:
    given = value.get(name)
    return given if isinstance(given, int) and 0 <= given < 2**53 else 0


def _environment(value: Any) -> dict[str, str]:
    pairs = value.items() if isinstance(value, dict) else ()
    return {name: text for name, text in pairs if isinstance(text, str)}


def _key(name: str, value: dict[str, Any]) -> str:
    """The delivery key: the record's own, else its name."""
    given = _text(value, "key")
    return given if KEY.fullmatch(given) else name.rpartition(".")[0]
