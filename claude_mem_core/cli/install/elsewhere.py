"""Hooks of a host that belong to another data directory: installing takes them over."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence

import attrs

from claude_mem_core.cli.install.run import Course
from claude_mem_core.paths import Paths

_ROOT = r"((?:/|[A-Za-z]:[/\\]{1,2})"
_TAIL = r")[/\\]{1,2}hook[/\\]{1,2}launch\.py"
# A path without spaces may stand anywhere in a command line, others stand in quotes.
PLAIN = re.compile(rf"(?:^|[\"'\s=]){_ROOT}[^\"'\s]*?{_TAIL}")
QUOTED = re.compile(rf"[\"']{_ROOT}[^\"'\r\n]+?{_TAIL}")


@attrs.frozen
class Elsewhere:
    """The hooks of `host` start the client of another data directory, `data`.

    Attributes:
        in_use: whether that directory's client is still there.
    """

    host: str
    title: str
    data: str
    in_use: bool

    def told(self, paths: Paths) -> str:
        """What a person has to know before it is changed."""
        text = (
            f"{self.title}'s hooks are those of another data directory, {self.data}. After"
            f" this change its sessions are remembered in {paths.data}, and no longer there;"
            " the memories there stay"
        )
        return text if self.in_use else f"{text} (that directory is not in use any more)"


def elsewhere(courses: Sequence[Course], paths: Paths) -> list[Elsewhere]:
    """What the planned changes would take over, each directory once for a host."""
    found = []
    for course in courses:
        target = course.target
        for data in dict.fromkeys(_directories(course)):
            if not _same(data, str(paths.data)):
                alive = os.path.lexists(os.path.join(data, "hook", "launch.py"))
                found.append(Elsewhere(target.name, target.title, data, alive))
    return found


def _directories(course: Course) -> Iterator[str]:
    """Data directories that start hooks in the files as they are and not as they will be."""
    for change in course.changes:
        before, after = map(_named, (change.before, change.after))
        yield from (data for data in before if data not in after)


def _named(content: bytes | None) -> list[str]:
    text = (content or b"").decode("utf-8", "replace")
    found = PLAIN.findall(text) or QUOTED.findall(text)
    return [_plain(path) for path in dict.fromkeys(found)]


def _plain(path: str) -> str:
    """The path without a JSON string's escapes."""
    try:
        return str(json.loads(f'"{path}"'))
    except ValueError:
        return path


def _same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)
