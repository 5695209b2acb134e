"""What the hook may leave on disk while no worker answers. Cold path only.

The worker publishes its rules in `edge.json`. What these rules exclude, and what can't
be judged or cleaned here, loses its content; the receipt stays, with the reason.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
import sys

TYPE_CHECKING = False  # as in client.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from claude_mem_core.hook.client import Call, Load

VERSION = 1
LONGEST_RULES = 1024 * 1024
DEEPEST = 200
# Redactors whose rules lie beside this file.
KNOWN_REDACTORS = ("secrets",)
_ID = re.compile(r"[A-Za-z0-9_.:@-]{1,128}")
_NAME = re.compile(r"[A-Za-z_]{1,40}")
_ID_NAME = re.compile(
    r"(?:.*_)?(?:id|Id|ID)|.*(?:Id|ID)|hook_event_name|hookEventName|tool_?[nN]ame|agent_type"
)
_PLACES = ("cwd", "workspace", "workspace_roots", "workspacePaths", "project_dir", "projectDir")
_TOOLS = ("tool_name", "toolName", "tool")


class Unreadable(Exception):
    """edge.json is damaged, or missing where a database is."""


def judge(call: Call, load: Load) -> tuple[str | None, bytes]:
    """Why the content is dropped (None: it is not), and what may be written."""
    try:
        value = json.loads(decoded(call.body), strict=False)
    except (ValueError, RecursionError):
        return "not_json" if call.body.strip() else "empty", b""
    try:
        rules = read_rules(call.data)
        reason = refused(value, call, rules) or unfit(rules)
        if reason is None:
            clean = cleaner(rules, load)(value)
            if not is_private(value, clean):
                return None, encoded(clean)
            reason = "private"  # the rest of its turn is to be left out as well
    except Unreadable:
        reason = "edge_policy_unreadable"
    except Exception:
        reason = "cleaning_failed"
    return reason, encoded(skeleton(value, load))


def is_private(value: Any, clean: Any) -> bool:
    """Whether cleaning has left nothing of what the user typed."""
    if not isinstance(value, dict) or not isinstance(clean, dict):
        return False
    before, after = words(prompt_of(value)), words(prompt_of(clean))
    return bool(before.strip()) and not after.strip()


def prompt_of(value: dict[str, Any]) -> Any:
    """The prompt of an event, where hosts put it."""
    inner = value.get("tool_info")
    within = inner.get("user_prompt") if isinstance(inner, dict) else None
    return value.get("prompt", within)


def words(part: Any) -> str:
    """The words of a prompt: a text, or the texts of its parts."""
    if isinstance(part, dict):
        return words(part.get("text"))
    if isinstance(part, list):
        return "".join(map(words, part))
    return part if isinstance(part, str) else ""


def decoded(raw: bytes) -> str:
    """The text of the event, read as the worker reads it (`types.payload`)."""
    marked = raw[:2] in (b"\xff\xfe", b"\xfe\xff") or raw[:4] == b"\0\0\xfe\xff"
    zeros = raw[0:4:2] == b"\0\0" or raw[1:4:2] == b"\0\0"
    encoding = json.detect_encoding(raw) if marked or zeros else "utf-8-sig"
    return raw.decode(encoding, "replace").strip("\0 \t\r\n")


def tidy(call: Call, load: Load) -> None:
    """Clean the words around the content: a host may have anything in them."""
    clean = cleaner({}, load)
    call.host, call.event = clean(call.host), clean(call.event)
    for name, value in call.env.items():
        call.env[name] = clean(value.decode("utf-8", "replace")).encode("utf-8", "replace")


def read_rules(data: str) -> dict[str, Any]:
    """The published rules; the built-in ones in a directory without a database.

    Raises:
        Unreadable: they are not there although a worker has been, or damaged.
    """
    try:
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        with open(os.open(data + "/edge.json", flags), "rb") as file:
            rules = json.loads(file.read(LONGEST_RULES))
    except FileNotFoundError:
        if os.path.lexists(data + "/memory.db"):
            raise Unreadable from None
        return {}
    except (OSError, ValueError, RecursionError):
        raise Unreadable from None
    if not isinstance(rules, dict) or rules.get("v") != VERSION:
        raise Unreadable
    return rules


def autostart(data: str) -> bool:
    """Whether the hook may start a worker; damaged rules don't forbid it."""
    try:
        return read_rules(data).get("autostart", True) is not False
    except Unreadable:
        return True


def refused(value: Any, call: Call, rules: dict[str, Any]) -> str | None:
    """Why the rules keep this event out."""
    if not rules.get("recording", True):
        return "recording_stopped"
    if rules.get("paused", False):
        return "paused"
    if any(text in rules.get("incognito", ()) for text in texts(value)):
        return "incognito"
    where = places(value, call)
    if any(is_out(place, rules.get("excluded", ())) for place in where):
        return "project_excluded"
    if rules.get("opt_in", False):
        included = [g.rstrip("/") + "/" for g in rules.get("included", ()) if is_plain(g)]
        here = stated(value) or where
        if not all((place + "/").startswith(tuple(included)) for place in here):
            return "project_excluded"
    skipped = rules.get("skip_tools", ())
    return "tool_skipped" if any(tool in skipped for tool in tools(value)) else None


def texts(value: Any) -> list[str]:
    """The texts an event consists of; hosts have many names for a session's id."""
    parts = value.values() if isinstance(value, dict) else ()
    return [part for part in parts if isinstance(part, str)]


def tools(value: Any) -> list[str]:
    """The tool an event names, under the names that hosts use."""
    named = [value.get(name) for name in _TOOLS] if isinstance(value, dict) else []
    return [tool for tool in named if isinstance(tool, str)]


def unfit(rules: dict[str, Any]) -> str | None:
    """What there is to run that the hook can't run."""
    if rules.get("patterns", False):
        return "own_patterns_need_the_worker"
    if rules.get("judges", ()):
        return "policy_needs_the_worker"
    for redactor in rules.get("redactors", ()):
        if redactor["name"] not in KNOWN_REDACTORS or not redactor["at_edge"]:
            return "redactor_needs_the_worker"
    return None


def places(value: Any, call: Call) -> list[str]:
    """Directories the event may belong to: those it names, and our own."""
    around = [call.env[n].decode("utf-8", "replace") for n in call.env if "DIR" in n]
    return [*stated(value), *both_spellings([call.cwd, *around])]


def stated(value: Any) -> list[str]:
    """Directories that the event itself names."""
    named = [value.get(name) for name in _PLACES] if isinstance(value, dict) else []
    flat: list[Any] = []
    for part in named:
        flat += part if isinstance(part, list) else [part]
    return both_spellings(flat)


def both_spellings(parts: list[Any]) -> list[str]:
    """Those that are paths, as they are and with links resolved."""
    found = {part for part in parts if isinstance(part, str) and part and "\0" not in part}
    return [*found, *map(os.path.realpath, found)]


def is_plain(glob: str) -> bool:
    """Whether a glob is one whole path: of others the hook would take in too much."""
    return glob.startswith("/") and not any(mark in glob for mark in "*?[")


def is_out(place: str, globs: Any) -> bool:
    """Whether a directory, or one above it, matches a glob or asks to be left alone."""
    path = place.replace("\\", "/").rstrip("/") or "/"
    parts = path.split("/")
    above = ["/".join(parts[:n]) for n in range(len(parts), 0, -1)]
    return any(matches(glob, parts, above) for glob in globs) or any(map(is_shy, above))


def matches(glob: str, parts: list[str], above: list[str]) -> bool:
    """A glob with a slash is held against whole paths, another one against names.

    `*` is taken for more than it means: the hook rather drops too much than too little.
    """
    tried = above if "/" in glob else parts
    if "/" in glob:
        glob = re.sub(r"/\*{1,2}$", "", glob.rstrip("/"))
    if sys.platform in ("win32", "darwin"):
        glob, tried = glob.lower(), [part.lower() for part in tried]
    return any(part and fnmatch.fnmatchcase(part, glob) for part in tried)


def is_shy(folder: str) -> bool:
    """Whether a repository says of itself that it is not to be remembered."""
    try:
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        with open(os.open(folder + "/.claude-mem.json", flags), "rb") as file:
            marker = json.loads(file.read(4096))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(marker, dict) and marker.get("enabled") is False


def cleaner(rules: dict[str, Any], load: Load) -> Callable[[Any], Any]:
    """What cleans a JSON value, with the same files that the worker uses."""
    tags, vendor, values = load("tags"), load("vendor"), load("values")
    disabled = frozenset(rules.get("disabled", ()))
    generic = bool(rules.get("generic", False))
    entropy = load("entropy") if rules.get("entropy", True) else None
    own_id = str(rules.get("own_id", ""))

    def clean(text: str) -> str:
        text = str(tags.strip(text, own_id=own_id, where="tool"))
        if rules.get("redact", True):
            text = str(vendor.redact(text, disabled, generic=generic))
            if entropy is not None and entropy.NAME not in disabled:
                text = str(entropy.redact(text, vendor.marker, vendor.VENDOR, disabled))
        return text

    return lambda value: values.cleaned(value, clean, whole=True)


def skeleton(value: Any, load: Load) -> Any:
    """Of an event whose content is dropped the ids and the shape; the receipt needs them."""
    pairs = value.items() if isinstance(value, dict) else ()
    bare = {name: emptied(name, part) for name, part in pairs if _NAME.fullmatch(name)}
    try:
        return cleaner({}, load)(bare)
    except Exception:
        return {}


def emptied(name: str, part: Any) -> Any:
    """A member without what it says: itself if it is an id, else something empty."""
    if isinstance(part, str):
        return part if _ID_NAME.fullmatch(name) and _ID.fullmatch(part) else ""
    return [] if isinstance(part, list) else {} if isinstance(part, dict) else None


def encoded(value: Any) -> bytes:
    """JSON bytes; lone surrogates stay escapes."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode("ascii")
