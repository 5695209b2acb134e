"""Launch arguments in T3 Code that keep our hooks from running; named, never rewritten."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

UNREADABLE = "its launch arguments can't be read; check them in T3 Code's settings"
CODEX = "`{}` switches hooks off; take it out of the launch arguments in T3 Code"
SOURCES = (
    "`--setting-sources {}` leaves the user's settings out, where our hooks are; add `user`"
    " in T3 Code"
)
CLAUDE = "`{}` keeps {} out; take it out of the launch arguments in T3 Code"
BLOCKING = {"--strict-mcp-config": "our MCP server", "--disable-all-hooks": "our hooks"}
NO_HOOKS = re.compile(r"features\.(?:hooks|codex_hooks)\s*=\s*false", re.IGNORECASE)


def found(host: str, arguments: str) -> Iterator[str]:
    """One line for each argument that stands in the way."""
    try:
        words = shlex.split(arguments)
    except ValueError:
        yield UNREADABLE
        return
    yield from _codex(words) if host == "codex" else _claude(words)


def _codex(words: Sequence[str]) -> Iterator[str]:
    for at, word in enumerate(words):
        after = words[at + 1] if at + 1 < len(words) else ""
        plain = re.sub(r"^(?:-c|--config)=?", "", word)
        if (word == "--disable" and after == "hooks") or word == "--disable=hooks":
            yield CODEX.format("--disable hooks")
        elif NO_HOOKS.fullmatch(plain.strip()):
            yield CODEX.format(plain.strip())


def _claude(words: Sequence[str]) -> Iterator[str]:
    sources = _value(words, "--setting-sources")
    if sources is not None and "user" not in sources.split(","):
        yield SOURCES.format(sources)
    for word in words:
        name, _, value = word.partition("=")
        if name in BLOCKING and value != "false":
            yield CLAUDE.format(name, BLOCKING[name])


def _value(words: Sequence[str], name: str) -> str | None:
    """The last value of an option; None when it is not given."""
    value = None
    for at, word in enumerate(words):
        if word == name:
            value = words[at + 1] if at + 1 < len(words) else ""
        elif word.startswith(f"{name}="):
            value = word.partition("=")[2]
    return value
