"""A working directory as hosts spell it: what it means here, without asking the disk much."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

import attrs

from claude_mem_core.convert import safe_text

LABEL_CHARS = 80
PATH_CHARS = 4_096
DRIVE = re.compile(r"/?([A-Za-z]):(?:[\\/](.*))?", re.DOTALL)
SHARE = re.compile(r"[\\/]{2}[^\\/]")
# A drive, the folder of all homes, or one whose name is somebody's login name.
HOMES = re.compile(
    r"(?:[a-z]:|/mnt/[a-z]|/[a-z])?(?:/(?:users|home)(?:/[^/]*)?)?", re.IGNORECASE
)
TEMPS = ("/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/usr/tmp", "/dev/shm")
CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


@attrs.frozen
class Spelled:
    """A directory as text.

    Attributes:
        path: normalised; empty when it can't be told which directory is meant.
        local: whether it can lie on this machine's disk.
    """

    path: str
    local: bool = True


def spelled(cwd: str, home: str) -> Spelled:
    """What a host's `cwd` means: `~` stands for home, slashes for back slashes.

    A relative path has no meaning here: the worker runs somewhere else.
    """
    text = safe_text(cwd)
    if text.startswith("file://"):
        text = _from_uri(text)
    if os.name != "nt" and _is_windows(text):
        return Spelled(_windows(text), local=False)
    if text == "~" or text.startswith("~/"):
        text = home + text[1:]
    if not text.strip() or not os.path.isabs(text):
        return Spelled("")
    path = os.path.normpath(text)
    return Spelled(path[1:] if path.startswith("//") else path, local=len(text) < PATH_CHARS)


def _from_uri(text: str) -> str:
    from urllib.parse import unquote

    return unquote(text.removeprefix("file://").removeprefix("localhost"), errors="replace")


def _is_windows(text: str) -> bool:
    return bool(DRIVE.fullmatch(text) or SHARE.match(text) and "\\" in text)


def _windows(text: str) -> str:
    """One spelling for all that Windows takes for the same: lower case, plain slashes."""
    drive = DRIVE.fullmatch(text)
    tail = (drive[2] or "") if drive else text
    parts = [part for part in tail.replace("\\", "/").split("/") if part not in {"", "."}]
    kept: list[str] = []
    for part in parts:
        if part == "..":
            kept = kept[:-1]
        else:
            kept.append(part)
    head = f"{drive[1]}:" if drive else "/"
    return unicodedata.normalize("NFC", "/".join([head, *kept]).lower())


def is_no_project(path: str, home: str) -> bool:
    """Whether a directory outside git is too general to be a project: homes and above."""
    if HOMES.fullmatch(path):
        return True
    # A share of another machine has two names at least before its folders.
    if path.startswith("//"):
        return path.count("/") <= 3
    return bool(home) and path in {*ancestors(home), *ancestors(os.path.realpath(home))}


def general_dirs(home: str) -> frozenset[str]:
    """Home, root and temp directories: neither a marker nor a `.git` there counts."""
    named = (os.environ.get(name, "") for name in ("TMPDIR", "TEMP", "TMP"))
    return _resolved((home, *TEMPS, *named))


@lru_cache(maxsize=8)
def _resolved(dirs: tuple[str, ...]) -> frozenset[str]:
    places = [place for place in dirs if os.path.isabs(place)]
    found = {os.sep, *map(os.path.normpath, places), *map(os.path.realpath, places)}
    return frozenset(found)


def ancestors(path: str) -> Iterable[str]:
    """`path` and every directory above it, nearest first."""
    while True:
        yield path
        above = os.path.dirname(path)
        if above == path:
            return
        path = above


def composed(path: str) -> str:
    """The path in composed characters (NFC), if that names the same directory.

    macOS takes both spellings for one; on Linux two directories may differ in this alone.
    """
    made = unicodedata.normalize("NFC", path)
    if made == path:
        return path
    try:
        return made if os.path.samefile(made, path) else path
    except OSError:
        return path if os.path.lexists(path) else made


def label_of(name: str) -> str:
    """A folder's name as people see it: one line, composed, not endless."""
    text = CONTROLS.sub(" ", unicodedata.normalize("NFC", safe_text(name)))
    text = " ".join(text.replace("/", " ").replace("\\", " ").split())
    return text[:LABEL_CHARS].rstrip() or "folder"
