"""Which repository a directory belongs to, read from `.git` without running git.

What `.git` says is believed as far as the other side agrees: a checkout that points at
somebody else's repository stays a place of its own.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Container

import attrs

from claude_mem_core.errors import InvalidInput
from claude_mem_core.files import open_regular
from claude_mem_core.projects.spelling import ancestors

POINTER_BYTES = 8_192
CONFIG_BYTES = 262_144
SECTION = re.compile(r'\s*\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:\\.|[^"\\])*)")?\s*\]')
VALUE = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*=\s*(.*)")


@attrs.frozen(kw_only=True)
class Checkout:
    """A working tree, or a bare repository.

    Attributes:
        root: its directory.
        gitdir: its own git directory; empty when what `.git` points to does not agree.
        common: the repository's git directory, which its worktrees share.
        kind: `main`, `worktree`, `submodule`, `bare` or `unproven`.
    """

    root: str
    gitdir: str
    common: str
    kind: str


def find_checkout(path: str, stop: Container[str]) -> Checkout | None:
    """The checkout that holds `path` (a real path); none above a directory in `stop`."""
    bare = None
    for place in ancestors(path):
        if place in stop:
            break
        found = _at(place)
        if found is not None:
            return found
        if bare is None and _is_git_dir(place):
            bare = place
    return _bare(bare) if bare else None


def _bare(place: str) -> Checkout:
    """A repository without a working tree around it, or the inside of a `.git`."""
    inside = os.path.basename(place) == ".git"
    root = os.path.dirname(place) if inside else place
    return Checkout(root=root, gitdir=place, common=place, kind="main" if inside else "bare")


def _at(root: str) -> Checkout | None:
    dot = os.path.join(root, ".git")
    mode = _mode(dot)
    if stat.S_ISDIR(mode) and _is_git_dir(dot):
        return Checkout(root=root, gitdir=dot, common=dot, kind="main")
    if stat.S_ISLNK(mode) and os.path.isdir(dot):
        return Checkout(root=root, gitdir="", common="", kind="unproven")
    if stat.S_ISREG(mode):
        return _pointed(root, dot)
    return None


def _mode(path: str) -> int:
    try:
        return os.lstat(path).st_mode
    except (OSError, ValueError):
        return 0


def _is_git_dir(path: str) -> bool:
    head = _mode(os.path.join(path, "HEAD"))
    return (stat.S_ISREG(head) or stat.S_ISLNK(head)) and os.path.isdir(
        os.path.join(path, "objects")
    )


def _pointed(root: str, dot: str) -> Checkout | None:
    target = small_line(dot)
    if not target.startswith("gitdir:"):
        return None
    gitdir = _resolved(root, target.removeprefix("gitdir:").strip())
    return _worktree(root, dot, gitdir) or _submodule(root, gitdir) or _unproven(root)


def _unproven(root: str) -> Checkout:
    return Checkout(root=root, gitdir="", common="", kind="unproven")


def _worktree(root: str, dot: str, gitdir: str) -> Checkout | None:
    """The repository names this worktree, and the worktree names the repository."""
    shared = small_line(os.path.join(gitdir, "commondir"))
    if not shared:
        return None
    common = _resolved(gitdir, shared)
    back = _resolved(gitdir, small_line(os.path.join(gitdir, "gitdir")))
    lists = os.path.dirname(gitdir) == os.path.join(common, "worktrees")
    if lists and _is_git_dir(common) and back == os.path.realpath(dot):
        return Checkout(root=root, gitdir=gitdir, common=common, kind="worktree")
    return None


def _submodule(root: str, gitdir: str) -> Checkout | None:
    if not _is_git_dir(gitdir):
        return None
    back = config_value(gitdir, "core", None, "worktree")
    if back and _resolved(gitdir, back) == os.path.realpath(root):
        return Checkout(root=root, gitdir=gitdir, common=gitdir, kind="submodule")
    return None


def _resolved(base: str, target: str) -> str:
    return os.path.realpath(os.path.join(base, target)) if target else ""


def small_line(path: str) -> str:
    """The one line of a small file; empty for anything else that stands there."""
    return _text(path, POINTER_BYTES).strip("\r\n \t")


def _text(path: str, limit: int) -> str:
    try:
        with open_regular(path, limit) as file:
            return file.read(limit).decode("utf-8", "surrogateescape").replace("\0", "")
    except (InvalidInput, OSError):
        return ""


def config_value(gitdir: str, section: str, sub: str | None, name: str) -> str | None:
    """One value of a repository's config; nothing is included, nothing is run."""
    here = False
    found = None
    for line in _text(os.path.join(gitdir, "config"), CONFIG_BYTES).splitlines():
        head = SECTION.match(line)
        if head:
            here = head[1].lower() == section and head[2] == sub
            line = line[head.end() :]
        value = VALUE.match(line)
        if here and value and value[1].lower() == name:
            found = _unquoted(value[2])
    return found


def _unquoted(text: str) -> str:
    """A config value without its quotes and the comment behind it."""
    out: list[str] = []
    quoted = escaped = False
    for char in text:
        if escaped:
            out.append({"n": "\n", "t": "\t"}.get(char, char))
            escaped = False
        elif char == "\\":
            escaped = True
        elif char == '"':
            quoted = not quoted
        elif char in "#;" and not quoted:
            break
        else:
            out.append(char)
    return "".join(out).strip()
