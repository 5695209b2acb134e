"""Paths as memories name them: relative to the project, forward slashes."""

from __future__ import annotations

import re

SCRATCH = re.compile(
    r"^(?:/tmp/|/var/tmp/|/private/tmp/|/dev/|/proc/|[A-Za-z]:/Users/[^/]+/AppData/)"
)
PATHLIKE = re.compile(r"[\w@.+~-]*(?:/[\w@.+~-]+)+|[\w@+-][\w@.+-]*\.[A-Za-z][\w]{0,9}")


def relative(path: str, root: str) -> str:
    """`path` seen from `root`; unchanged when it lies elsewhere."""
    path = path.strip().replace("\\", "/")
    root = root.replace("\\", "/").rstrip("/")
    if root and path.startswith(root + "/"):
        path = path[len(root) + 1 :]
    while path.startswith("./"):
        path = path[2:]
    return path


def without_root(text: str, root: str) -> str:
    """`text` with the project's directory taken out of its paths."""
    root = root.rstrip("/")
    if len(root) < 2 or root not in text:
        return text
    return text.replace(root + "/", "").replace(root, ".")


def is_inside(path: str) -> bool:
    """Whether a relative path stays in the project."""
    return bool(path) and not path.startswith(("/", "~", "../")) and path[1:2] != ":"


def is_scratch(path: str) -> bool:
    """Whether it is a throw-away place."""
    return bool(SCRATCH.match(path))


def base(path: str) -> str:
    """The last part of a path."""
    return path.rstrip("/").rsplit("/", 1)[-1]


def short(path: str, known: frozenset[str]) -> str:
    """The last part of a path, with as many folders before it as tell it from others."""
    parts = path.split("/")
    for size in range(1, len(parts)):
        tail = "/".join(parts[-size:])
        if sum(k == tail or k.endswith("/" + tail) for k in known) <= 1:
            return tail
    return path
