"""A user's own patterns, tried where they can be killed.

`re` holds the interpreter's lock while it matches, so that a pattern of the user's could
stop the worker. These run in a child: 200 ms for a field, then the child is killed, the
field dropped, and a pattern that did so three times is not tried again.
"""

from __future__ import annotations

import json
import logging
import queue
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import attrs

log = logging.getLogger(__name__)

FIELD_S = 0.2
COMPILE_S = 2.0
STRIKES = 3
LONGEST = 2_000  # characters of one pattern
MOST = 100
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_CHILD = Path(__file__).with_name("pattern_child.py")


@attrs.frozen
class OwnPattern:
    """A pattern of the settings: what it finds gets a marker with its name."""

    name: str
    regex: str


class TooSlow(Exception):
    """The child did not answer in time and is gone; `at` is the pattern it was at."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


def declared(value: Any) -> tuple[list[OwnPattern], list[str]]:
    """The usable entries of CLAUDE_MEM_REDACT_CUSTOM_PATTERNS, and what is wrong with others."""
    if not isinstance(value, list | tuple):
        return [], ["CLAUDE_MEM_REDACT_CUSTOM_PATTERNS is no list of {name, regex}"]
    good: list[OwnPattern] = []
    faults: list[str] = []
    for number, entry in enumerate(value[:MOST], 1):
        fault = _fault(entry)
        if fault:
            faults.append(f"own pattern {number} is left out: {fault}")
        else:
            good.append(OwnPattern(entry["name"], entry["regex"]))
    return good, faults


def _fault(entry: Any) -> str:
    if not isinstance(entry, Mapping):
        return "it is no {name, regex}"
    name, regex = entry.get("name"), entry.get("regex")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return "it needs a name of letters, digits, dots and dashes"
    if not isinstance(regex, str) or not 0 < len(regex) <= LONGEST:
        return f"it needs a regex of at most {LONGEST:,} characters"
    return ""


class OwnPatterns:
    """Runs the patterns on text. Thread-safe; close it to end its child."""

    def __init__(self, patterns: Iterable[OwnPattern], field_s: float = FIELD_S) -> None:
        self.patterns = list(patterns)
        self._field_s = field_s
        self.faults: dict[str, str] = {}
        self._strikes: dict[int, int] = {}
        self._dead: set[int] = set()
        self._lock = Lock()
        self._child: _Child | None = None

    def redact(self, text: str) -> str:
        """`text` with a marker for each match; a marker alone when it took too long."""
        answer = self._tried("redact", text)
        if isinstance(answer, int):
            return f"<redacted type='{self.patterns[answer].name}'/>"
        return text if answer is None else str(answer["text"])

    def found_in(self, text: str) -> bool:
        """Whether a pattern is found in `text`; also true when it took too long to tell."""
        answer = self._tried("search", text)
        return isinstance(answer, int) or (answer is not None and bool(answer["found"]))

    def _tried(self, job: str, text: str) -> dict[str, Any] | int | None:
        """The child's answer, the number of the pattern that took too long, or None."""
        with self._lock:
            child = self._ready()
            names = {n: p.name for n, p in enumerate(self.patterns) if n not in self._dead}
            if not names or not text or child is None:
                return None
            try:
                return child.ask({job: names, "text": text}, self._field_s)
            except TooSlow as slow:
                self._struck(slow.at)
                return slow.at

    def _ready(self) -> _Child | None:
        """The child with all patterns compiled; those that can't be are left out."""
        while self._child is None and len(self._dead) < len(self.patterns):
            child = _Child()
            try:
                faults = child.ask({"compile": self._regexes()}, COMPILE_S)["faults"]
            except TooSlow as slow:
                self._disable(slow.at, "it takes too long to prepare")
                continue
            for number, reason in faults.items():
                self._disable(int(number), f"it is no valid pattern: {reason}")
            self._child = child
        return self._child

    def _regexes(self) -> list[str]:
        """Each pattern; an empty one for those that are not used any more."""
        return ["" if n in self._dead else p.regex for n, p in enumerate(self.patterns)]

    def _struck(self, at: int) -> None:
        self._child = None
        self._strikes[at] = self._strikes.get(at, 0) + 1
        if self._strikes[at] >= STRIKES:
            self._disable(at, f"{STRIKES} fields took it over {self._field_s:g} s")
        log.warning("own pattern %s took too long", self.patterns[at].name)

    def _disable(self, at: int, reason: str) -> None:
        self._dead.add(at)
        name = self.patterns[at].name
        self.faults[name] = f"own pattern {name} is not used: {reason}"
        log.warning("%s", self.faults[name])

    def close(self) -> None:
        """End the child, if there is one."""
        with self._lock:
            if self._child is not None:
                self._child.end()
            self._child = None


class _Child:
    """One child process and the lines it says."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-E", str(_CHILD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        heard = (self._process.stdout, self._lines)
        Thread(target=_listen, args=heard, daemon=True, name="claude-mem own patterns").start()

    def ask(self, job: dict[str, Any], seconds: float) -> dict[str, Any]:
        """The child's last word on a job.

        Raises:
            TooSlow: not within `seconds`, or the child died; it is ended then.
        """
        at, end = 0, time.monotonic() + seconds
        try:
            self._say(job)
            while True:
                left = max(0.0, end - time.monotonic())
                answer = json.loads(self._lines.get(timeout=left))
                if "at" not in answer:
                    return dict(answer)
                at = int(answer["at"])
        except (queue.Empty, OSError, ValueError):
            self.end()
            raise TooSlow(at) from None

    def _say(self, job: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(job).encode() + b"\n")
        self._process.stdin.flush()

    def end(self) -> None:
        """Kill and reap the process."""
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        self._process.wait(timeout=5)


def _listen(lines: Iterable[bytes], heard: queue.SimpleQueue[bytes]) -> None:
    for line in lines:
        heard.put(line)
    heard.put(b"")
