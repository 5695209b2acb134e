"""Codex CLI runs a hook only after its user has trusted it; what its config says of ours.

It keeps a hash of each trusted hook under `[hooks.state."FILE:EVENT:GROUP:HOOK"]`. We read
these, to say what is missing, and take ours out on uninstall. We never write one: trust
is the user's to give.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from claude_mem_core.editing import HookGroups, Json, decode, encode
from claude_mem_core.editing.tomlblock import parsed

CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


def wanted(doc: Json, edit: HookGroups) -> dict[str, str]:
    """The key and the hash under which Codex trusts each of our hooks in the file."""
    found = {}
    for _, _, event, list_ in edit.lists(doc):
        for place, group in enumerate(map(doc.value, list_.items)):
            for number, hook in _ours(group, edit):
                name = CAPITAL.sub("_", event).lower()
                key = f"{os.path.realpath(doc.name)}:{name}:{place}:{number}"
                found[key] = _hash(name, group, hook)
    return found


def _ours(group: Any, edit: HookGroups) -> Iterator[tuple[int, Any]]:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    for number, hook in enumerate(hooks if isinstance(hooks, list) else []):
        if edit.mine(hook):
            yield number, hook


def _hash(event: str, group: Mapping[str, Any], hook: Mapping[str, Any]) -> str:
    """As version 0.171.0 makes it: the hook in one spelling of JSON, keys sorted."""
    plain: dict[str, Any] = {
        "type": "command",
        "command": hook.get("command"),
        "timeout": hook.get("timeout"),
        "async": False,
    }
    whole: dict[str, Any] = {"event_name": event, "hooks": [plain]}
    if group.get("matcher") is not None:
        whole["matcher"] = group["matcher"]
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def states(config: bytes | None, name: str) -> dict[str, Any]:
    """What Codex has noted of each hook.

    Raises:
        HostConfigError: its config is no TOML.
    """
    state = _table(parsed(decode(config or b"", name), name), "hooks").get("state")
    return state if isinstance(state, dict) else {}


def switched_off(config: bytes | None, name: str) -> bool:
    """Whether its config says that no hook runs.

    Raises:
        HostConfigError: its config is no TOML.
    """
    features = _table(parsed(decode(config or b"", name), name), "features")
    return features.get("hooks") is False


def _table(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = values.get(key)
    return found if isinstance(found, Mapping) else {}


def untrusted(expected: Mapping[str, str], noted: Mapping[str, Any]) -> list[str]:
    """The keys of our hooks that are not trusted as they are now."""
    return [
        key
        for key, digest in expected.items()
        if _table(noted, key).get("trusted_hash") != digest
        or _table(noted, key).get("enabled") is False
    ]


def forgotten(config: bytes, name: str, keys: Mapping[str, str]) -> bytes:
    """The config without what Codex noted of these hooks; tomlkit keeps the rest.

    Raises:
        HostConfigError: its config is no TOML.
    """
    if not set(keys) & set(states(config, name)):
        return config
    import tomlkit

    mark = "\ufeff" if config.startswith(b"\xef\xbb\xbf") else ""
    document = tomlkit.parse(decode(config, name).removeprefix("\ufeff"))
    hooks: Any = document["hooks"]
    for key in set(keys) & set(hooks["state"]):
        del hooks["state"][key]
    if not len(hooks["state"]):
        del hooks["state"]
    if not len(hooks):
        del document["hooks"]
    return encode(mark + tomlkit.dumps(document), name)
