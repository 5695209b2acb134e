"""The daily log: `logs/worker-YYYY-MM-DD.log`, one JSON line an entry, ASCII only.

What hosts and people say never gets here: callers log names and counts, tracebacks
come without messages, and each line is searched for keys all the same.
"""

from __future__ import annotations

import json
import logging
import os
import time
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path

LEVELS = {
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
    "SILENT": logging.CRITICAL + 10,
}
MOST_BYTES = 10 * 1024 * 1024
KEEP_DAYS = 14
LONGEST = 2000
FRAMES = 12


class DailyLog(logging.Handler):
    """Appends to the file of the day. A log that can't be written is given up quietly."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self._day = ""
        self._fd = -1
        self._size = 0
        self._pid = os.getpid()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = _line(record, self._pid)
            self._open(_day(record.created))
            self._size += os.write(self._fd, line)
        except (OSError, ValueError, TypeError):
            self._close()

    def _open(self, day: str) -> None:
        if day == self._day and self._fd >= 0 and self._size < MOST_BYTES:
            return
        self._close()
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = log_file(self.folder, day)
        if path.exists() and path.stat().st_size >= MOST_BYTES:
            path.replace(path.with_suffix(".1.log"))
        self._fd = os.open(path, _APPEND, 0o600)
        self._size = os.fstat(self._fd).st_size
        if day != self._day:
            self._day = day
            forget_old(self.folder)

    def _close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1

    def close(self) -> None:
        self._close()
        super().close()


_APPEND = (
    os.O_WRONLY | os.O_CREAT | os.O_APPEND
    | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
)  # fmt: skip


def _day(seconds: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(seconds))


def log_file(folder: Path, day: str | None = None) -> Path:
    """The log of a day, by default of today."""
    return folder / f"worker-{day or _day(time.time())}.log"


def forget_old(folder: Path) -> None:
    """Delete logs that are older than two weeks."""
    oldest = time.time() - KEEP_DAYS * 86_400
    for path in folder.glob("worker-*.log"):
        if path.stat().st_mtime < oldest:
            path.unlink()


def _line(record: logging.LogRecord, pid: int) -> bytes:
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(record.created))
    entry = {
        "at": f"{stamp}.{int(record.msecs):03d}",
        "level": record.levelname,
        "pid": pid,
        "area": record.name.removeprefix("claude_mem_core."),
        "text": safe_text(record.getMessage()),
    }
    if record.exc_info and record.exc_info[1] is not None:
        entry["error"] = where(record.exc_info[1])
    return json.dumps(entry, ensure_ascii=True).encode("ascii") + b"\n"


def safe_text(text: str) -> str:
    """A message without keys, and short."""
    from claude_mem_core.clean import tags, vendor

    cut = text[: 4 * LONGEST]
    return vendor.redact(tags.strip(cut, where="prompt"))[:LONGEST]


def where(error: BaseException) -> str:
    """What failed and where, without what was said: no message, no values."""
    frames = traceback.extract_tb(error.__traceback__)[-FRAMES:]
    places = [f"{Path(f.filename).name}:{f.lineno}:{f.name}" for f in frames]
    return " > ".join([*places, type(error).__name__])


class Lines(logging.Formatter):
    """Entries for a terminal: harmless to it, without keys, without tracebacks."""

    def format(self, record: logging.LogRecord) -> str:
        from claude_mem_core.render import for_log

        error = record.exc_info[1] if record.exc_info else None
        text = safe_text(record.getMessage()) + (f" ({where(error)})" if error else "")
        return f"{record.levelname}: {for_log(text)}"


def to_terminal() -> None:
    """Show entries on standard error too."""
    handler = logging.StreamHandler()
    handler.setFormatter(Lines())
    logging.getLogger().addHandler(handler)


def configure(folder: Path, level: str) -> DailyLog:
    """Send what the worker's own code logs to the daily file."""
    handler = DailyLog(folder)
    root = logging.getLogger()
    for old in root.handlers[:]:
        root.removeHandler(old)
    root.addHandler(handler)
    logging.raiseExceptions = False
    set_level(level)
    return handler


def set_level(level: str, environ: Mapping[str, str] = os.environ) -> None:
    """Apply `CLAUDE_MEM_LOG_LEVEL`; `DEBUG=claude-mem:*` asks for everything."""
    wanted = LEVELS.get(level.upper(), logging.INFO)
    if "claude-mem" in environ.get("DEBUG", ""):
        wanted = logging.DEBUG
    logging.getLogger("claude_mem_core").setLevel(wanted)
    logging.getLogger().setLevel(max(wanted, logging.WARNING))


def tail(folder: Path, lines: int) -> tuple[list[str], int]:
    """The last `lines` entries of today's log as text, and how many there are."""
    kept: list[str] = []
    total = 0
    for line in _lines(log_file(folder)):
        total += 1
        kept.append(line)
        if len(kept) > 2 * lines:
            kept = kept[-lines:]
    return kept[-lines:] if lines else [], total


def _lines(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="ascii", errors="replace") as file:
            for line in file:
                yield line.rstrip("\n")
    except OSError:
        return
