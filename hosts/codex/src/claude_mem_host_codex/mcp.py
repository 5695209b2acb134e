"""Our MCP server in Codex CLI's config: one table at its end, known by what it starts.

No comments mark it: Codex writes its own tables anew before a comment that ends the file,
so that they would stand between our marks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from claude_mem_core.editing import decode, encode
from claude_mem_core.editing.servers import NAMES, is_ours
from claude_mem_core.editing.text import newline_of
from claude_mem_core.editing.tomlblock import parsed
from claude_mem_core.errors import HostConfigError

KEY = "mcp_servers"
BOM = "\ufeff"


def servers(content: bytes | None, name: str) -> dict[str, Any]:
    """The servers that the config names.

    Raises:
        HostConfigError: it is no TOML.
    """
    found = parsed(decode(content or b"", name), name).get(KEY)
    return dict(found) if isinstance(found, Mapping) else {}


def registered(content: bytes | None, name: str) -> bool:
    """Whether ours is among them. Raises as `servers` does."""
    return any(map(is_ours, servers(content, name).values()))


def put(content: bytes | None, name: str, argv: Sequence[str]) -> bytes:
    """The config with our server: an older one of ours in its place, else at the end.

    Raises:
        HostConfigError: it is no TOML, or both of our names are taken.
    """
    text, there = decode(content or b"", name), servers(content, name)
    wanted = {"command": argv[0], "args": list(argv[1:])}
    ours = next((word for word, table in there.items() if is_ours(table)), None)
    if ours is not None:
        same = {key: there[ours].get(key) for key in wanted} == wanted
        return encode(text if same else _renewed(text, ours, wanted), name)
    free = next((word for word in NAMES if word not in there), None)
    if free is None:
        raise HostConfigError(f"{name}: both of our names are taken by other servers")
    made = _appended(text, free, argv)
    parsed(made, name)  # servers in a form that nothing can be added to are refused
    return encode(made, name)


def _appended(text: str, word: str, argv: Sequence[str]) -> str:
    """The text with a table of ours at its end. A JSON string is a TOML string, too."""
    words = [json.dumps(part, ensure_ascii=False) for part in argv]
    lines = (f"[{KEY}.{word}]", f"command = {words[0]}", f"args = [{', '.join(words[1:])}]", "")
    end = newline_of(text)
    gap = "" if not text.strip(BOM) else end if text.endswith("\n") else end * 2
    return text + gap + end.join(lines)


def _renewed(text: str, word: str, wanted: Mapping[str, Any]) -> str:
    import tomlkit

    document = tomlkit.parse(text.removeprefix(BOM))
    table: Any = document[KEY]
    for key, value in wanted.items():
        table[word][key] = value
    return (BOM if text.startswith(BOM) else "") + tomlkit.dumps(document)


def take(content: bytes, name: str) -> bytes:
    """The config without our server; tomlkit keeps the rest.

    Raises:
        HostConfigError: it is no TOML.
    """
    ours = [word for word, table in servers(content, name).items() if is_ours(table)]
    if not ours:
        return content
    import tomlkit

    text = decode(content, name)
    document = tomlkit.parse(text.removeprefix(BOM))
    tables: Any = document[KEY]
    for word in ours:
        del tables[word]
    if not len(tables):
        del document[KEY]
    return encode((BOM if text.startswith(BOM) else "") + tomlkit.dumps(document), name)
