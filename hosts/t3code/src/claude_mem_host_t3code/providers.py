"""The providers in T3 Code's settings, as hosts in homes.

`providerInstances` names them one by one; `providers` is the older form, with one for each
driver. An instance with the name of a driver stands for that driver's older entry.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from claude_mem_core.editing import decode, opened
from claude_mem_core.errors import HostConfigError
from claude_mem_core.types import HostSetup, RunHost
from claude_mem_host_t3code import overrides

# Driver: our host's name, the variable that names its home, and where that is else.
DRIVERS = {
    "codex": ("codex", "CODEX_HOME", ".codex"),
    "claudeAgent": ("claude-code", "CLAUDE_CONFIG_DIR", ".claude"),
}
VERSION = re.compile(r"\d+\.\d+\.\d+(?:-[\w.-]+)?")
UNMANAGED = (
    "T3 Code's own Codex is not set up ({}): finish that in T3 Code, then run"
    " `mem install --ide t3code` again"
)

Fields = Mapping[str, Any]


def settings_path(setup: HostSetup) -> str:
    """Where T3 Code keeps its settings."""
    named = setup.env.get("CLAUDE_MEM_T3CODE_SETTINGS_PATH")
    if named:
        return expanded(named, setup)
    home = setup.env.get("T3CODE_HOME", "").strip() or "~/.t3"
    return os.path.join(expanded(home, setup), "userdata", "settings.json")


def expanded(path: str, setup: HostSetup) -> str:
    """A whole path; `~` is the user's home."""
    if path == "~" or path.startswith(("~/", "~\\")):
        path = os.path.join(setup.home, path[2:])
    return os.path.abspath(path)


def run_hosts(raw: bytes, path: str, setup: HostSetup, *, remove: bool) -> list[RunHost]:
    """The hosts that the settings run, each home once; to remove, also those switched off.

    Raises:
        HostConfigError: the settings are no JSON object, or not of the known form.
    """
    decode(raw, path)
    doc = opened(raw, path)
    found: dict[tuple[str, str], RunHost] = {}
    for name, entry in _entries(doc.value(doc.root), path):
        config = _object(entry.get("config"), path, f"the config of {name}")
        off = entry.get("enabled") is False or config.get("enabled") is False
        if entry.get("driver") in DRIVERS and (remove or not off):
            host = _run_host(name, entry, config, setup, path)
            found.setdefault((host.host, host.home), host)
    return list(found.values())


def _entries(settings: Fields, path: str) -> Iterator[tuple[str, Fields]]:
    instances = _object(settings.get("providerInstances"), path, "providerInstances")
    older = _object(settings.get("providers"), path, "providers")
    for name, value in instances.items():
        yield name, _object(value, path, name)
    for driver in DRIVERS:
        if driver in older and driver not in instances:
            yield driver, {"driver": driver, "config": _object(older[driver], path, driver)}


def _object(value: Any, path: str, name: str) -> Fields:
    if value is not None and not isinstance(value, Mapping):
        raise HostConfigError(f"{path}: `{name}` is no object; nothing was changed")
    return value or {}


def _run_host(name: str, entry: Fields, config: Fields, setup: HostSetup, path: str) -> RunHost:
    host, variable, default = DRIVERS[entry["driver"]]
    managed = host == "codex" and config.get("setupMode") == "managed"
    env = _environment(entry.get("environment"), name, path)
    around = "" if managed else env.get(variable) or setup.env.get(variable) or ""
    home = expanded(_text(config, "homePath") or around or f"~/{default}", setup)
    words = _text(config, "launchArgs")
    return RunHost(
        host=host,
        env={variable: home},
        home=home,
        problems=tuple(f"{name}: {text}" for text in overrides.found(host, words)),
        refusal=_unmanaged(path) if managed else "",
    )


def _text(config: Fields, name: str) -> str:
    value = config.get(name)
    return value.strip() if isinstance(value, str) else ""


def _environment(given: Any, name: str, path: str) -> dict[str, str]:
    """The provider's variables; secrets are T3 Code's own business."""
    if given is None:
        return {}
    if not isinstance(given, list):
        raise HostConfigError(f"{path}: the environment of `{name}` is no list")
    plain = (v for v in given if isinstance(v, Mapping) and v.get("sensitive") is not True)
    pairs = ((v.get("name"), v.get("value")) for v in plain)
    return {k: v for k, v in pairs if isinstance(k, str) and isinstance(v, str)}


def _unmanaged(path: str) -> str:
    """Why the Codex that T3 Code manages itself can't run; empty when it can."""
    root = os.path.join(os.path.dirname(os.path.dirname(path)), "tools", "codex")
    try:
        with open(os.path.join(root, "active.json"), "rb") as file:
            found = json.loads(file.read(65536))
    except (OSError, ValueError):
        return UNMANAGED.format(f"no readable active.json in {root}")
    version = str(found.get("version")) if isinstance(found, dict) else ""
    program = "codex.exe" if os.name == "nt" else "codex"
    there = VERSION.fullmatch(version) and os.path.exists(
        os.path.join(root, version, "bin", program)
    )
    return "" if there else UNMANAGED.format(f"no version {version!r} in {root}")
