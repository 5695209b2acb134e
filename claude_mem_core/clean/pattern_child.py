"""The process that runs a user's own patterns; its parent kills it when one takes too long.

Run as a script with `python -I -S -E`, standard library only. It reads one JSON line for
each job and answers each with JSON lines: `{"at": i}` before pattern i is tried,
`{"faults": {...}}`, `{"text": ...}` or `{"found": ...}` at the end.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

MEMORY = 512 * 1024 * 1024
ALONE_S = 10  # after which a job ends by itself: who gave it may have been killed


def bounded() -> None:
    """Let a pattern that eats memory fail here, not the machine."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, OSError, ValueError):
        return


def compiled(regexes: list[str], ready: dict[int, re.Pattern[str]]) -> Iterator[dict[str, Any]]:
    """Compile the patterns; tell which ones can't be."""
    faults: dict[int, str] = {}
    for number, regex in enumerate(regexes):
        yield {"at": number}
        try:
            ready[number] = re.compile(regex)
        except (re.error, RecursionError, OverflowError, MemoryError) as error:
            faults[number] = str(error) or type(error).__name__
    yield {"faults": faults}


def redacted(
    text: str, names: dict[int, str], ready: dict[int, re.Pattern[str]]
) -> Iterator[dict[str, Any]]:
    """Put each pattern's marker in the place of what it matches."""
    for number, name in names.items():
        yield {"at": number}
        # Between the marks of earlier patterns, so that no mark is put into a mark.
        parts = re.split(r"(<redacted type='[\w.-]+'/>)", text)
        parts[::2] = [marked(part, ready[number], name) for part in parts[::2]]
        text = "".join(parts)
    yield {"text": text}


def searched(
    text: str, numbers: Iterable[int], ready: dict[int, re.Pattern[str]]
) -> Iterator[dict[str, Any]]:
    """Whether any of the patterns is found."""
    for number in numbers:
        yield {"at": number}
        if ready[number].search(text):
            yield {"found": True}
            return
    yield {"found": False}


def marked(text: str, pattern: re.Pattern[str], name: str) -> str:
    """`text` with a marker for each match that is not empty."""
    mark = f"<redacted type='{name}'/>"
    return pattern.sub(lambda match: mark if match[0] else "", text)


def answers(job: dict[str, Any], ready: dict[int, re.Pattern[str]]) -> Iterator[dict[str, Any]]:
    """What a job is answered with."""
    if "compile" in job:
        return compiled(job["compile"], ready)
    if "search" in job:
        return searched(job["text"], map(int, job["search"]), ready)
    names = {int(number): name for number, name in job["redact"].items()}
    return redacted(job["text"], names, ready)


def alarm(seconds: int) -> None:
    """Let the system end this process after so many seconds; 0 takes it back."""
    if sys.platform != "win32":
        import signal

        signal.alarm(seconds)


def main() -> None:
    bounded()
    ready: dict[int, re.Pattern[str]] = {}
    for line in sys.stdin.buffer:
        alarm(ALONE_S)
        for answer in answers(json.loads(line), ready):
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()
        alarm(0)


if __name__ == "__main__":
    main()
