"""A terminal for a program that wants one: what it shows is read, what is typed is written."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

TRY = 5.0  # seconds until a line is taken for lost, and entered again
LONG = 60.0


class Terminal:
    """The program on a terminal of 120 by 40, as a context manager."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> None:
        self.shown = b""
        self.pid, self._handle = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execve(argv[0], list(argv), {**env, "TERM": "xterm-256color"})
        size = struct.pack("HHHH", 40, 120, 0, 0)
        fcntl.ioctl(self._handle, termios.TIOCSWINSZ, size)
        os.set_blocking(self._handle, False)  # a program that reads nothing must not hold us

    def read(self, seconds: float = 0.2) -> bool:
        """Take in what is shown; False when the program is gone."""
        ready, _, _ = select.select([self._handle], [], [], seconds)
        if not ready:
            return True
        try:
            more = os.read(self._handle, 65536)
        except OSError:
            return False
        self.shown += more
        return bool(more)

    def wait(self, until: Callable[[], bool], seconds: float) -> bool:
        """Read until something is so; False when it is not so in time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            alive = self.read()
            if until():
                return True
            if not alive:
                return False
        return False

    def enter(self, text: str, until: Callable[[], bool]) -> None:
        """Type a line and enter it; enter it again while nothing comes of it."""
        self._type(text)
        end = time.monotonic() + LONG
        while time.monotonic() < end:
            self.wait(lambda: False, 0.5)
            self._type("\r")
            if self.wait(until, TRY):
                return
        raise AssertionError(f"nothing came of {text!r}: {self.shown[-2000:]!r}")

    def press(self, key: str, until: Callable[[], bool]) -> None:
        """Press a key; press it again while nothing comes of it."""
        end = time.monotonic() + LONG
        while time.monotonic() < end:
            self._type(key)
            if self.wait(until, TRY):
                return
        raise AssertionError(f"nothing came of {key!r}: {self.shown[-2000:]!r}")

    def _type(self, text: str) -> None:
        with suppress(OSError):
            os.write(self._handle, text.encode())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.close(self._handle)
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)
