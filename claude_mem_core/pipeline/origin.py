"""Where the text of an event comes from: the user, the work, or from outside of it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from claude_mem_core.projects import Place
from claude_mem_core.types import Event, EventKind, Trust

# Tools that answer with what a page or a server of others says, whatever host names them.
_OUTSIDE = re.compile(r"^mcp[_.]|mcp_?resource|web|fetch|browser|url", re.IGNORECASE)
# Tools that show what lies in files.
_LOOKING = re.compile(r"^(?:read|view|grep|search|glob|notebook_?read|ls|list_)", re.IGNORECASE)
_RUNNING = re.compile(r"bash|shell|exec|command|terminal", re.IGNORECASE)
# Folders below a project that hold what others wrote.
_OF_OTHERS = frozenset(
    (
        ".git",
        "node_modules",
        "bower_components",
        "site-packages",
        "dist-packages",
        ".venv",
        "venv",
    )
)
_PATH = ("file_path", "path", "notebook_path", "absolute_path", "dir_path", "filePath")

# Where a command begins: at the start, behind an operator, behind a program that runs it.
_HEAD = r"(?:^|[;|&(`\n])\s*(?:(?:sudo|time|env|xargs|do|then|nohup|\w+=\S*|-\S+)\s+)*(?:\S*/)?"
_FETCHER = re.compile(_HEAD + r"(?:curl|wget|lynx|w3m|xh|aria2c)\s")
# Issues, reviews and pages of a forge: anybody may have written them.
_FORGE = re.compile(_HEAD + r"(?:gh|glab)\s+(?:api|gist|issue|mr|pr|release|search)\s")
_ADDRESS = re.compile(
    r"\b(?:https?|ftp)://(?:[^@/\s]*@)?(\[[^\]\s]*\]|[^/:\s?#'\"]+)", re.IGNORECASE
)
_DISCARDED = re.compile(r"(?:-o|-O|--output|--output-document|>)[\s=]*/dev/null")
_NEAR_HOST = (
    r"localhost|127\.[\d.]+|0\.0\.0\.0|\[::1?\]|10\.[\d.]+|192\.168\.[\d.]+"
    r"|172\.(?:1[6-9]|2\d|3[01])\.[\d.]+|[\w.-]+\.(?:localhost|local|internal|test)"
)
_NEAR = re.compile(rf"{_NEAR_HOST}|[\w-]+", re.IGNORECASE)
_NEAR_INSIDE = re.compile(rf"(?<![\w.-])(?:{_NEAR_HOST})(?![\w.-])", re.IGNORECASE)


def trust_of(event: Event, place: Place) -> Trust:
    """`user` for what the user typed, `foreign` for what came from outside the work."""
    if event.kind is EventKind.PROMPT_SENT:
        return Trust.USER
    if event.tool is None:
        return Trust.WORK
    name = event.tool.name
    if _OUTSIDE.search(name):
        return Trust.FOREIGN
    if _LOOKING.match(name):
        return Trust.WORK if _is_own(event, place) else Trust.FOREIGN
    foreign = bool(_RUNNING.search(name)) and fetches(command_of(event))
    return Trust.FOREIGN if foreign else Trust.WORK


def command_of(event: Event) -> str:
    """The shell command of a tool event, as text; empty when there is none."""
    given = event.tool.input if event.tool else None
    command = given.get("command", given.get("cmd", "")) if isinstance(given, dict) else given
    return " ".join(map(str, command)) if isinstance(command, list) else str(command or "")


def path_of(event: Event) -> str:
    """The file or folder that a tool is about; empty when its input names none."""
    given = event.tool.input if event.tool else None
    if not isinstance(given, Mapping):
        return ""
    return next((str(given[name]) for name in _PATH if given.get(name)), "")


def fetches(command: str) -> bool:
    """Whether a command shows what another machine says."""
    if _FORGE.search(command):
        return True
    if not _FETCHER.search(command) or _DISCARDED.search(command):
        return False
    hosts = _ADDRESS.findall(command)
    if not hosts:  # an address without `http://`, or in a variable
        return not _NEAR_INSIDE.search(command)
    return any(not _NEAR.fullmatch(host) for host in hosts)


def _is_own(event: Event, place: Place) -> bool:
    given = path_of(event)
    if not given or not place.root:
        return True
    # Plain text, since this is asked of every tool use; `..` must not count as inside.
    path = os.path.normpath(os.path.join(event.cwd or place.root, given))
    roots = (place.root.rstrip("/"), event.cwd.rstrip("/"))
    inside = next((r for r in roots if r and (path == r or path.startswith(f"{r}/"))), None)
    return inside is not None and _OF_OTHERS.isdisjoint(path[len(inside) :].split("/"))
