"""Settings for showing and for the settings route: masked, and checked key by key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from claude_mem_core.settings.collecting import refusal
from claude_mem_core.settings.declared import CORE, nearest
from claude_mem_core.settings.model import Settings
from claude_mem_core.settings.values import as_text, masked_text
from claude_mem_core.types import Setting


def masked(settings: Settings, declared: Iterable[Setting] = CORE) -> dict[str, str]:
    """Every setting as text, as it stands in a file; of a secret at most the end."""
    return {s.key: masked_text(s, settings[s.key]) for s in declared if s.key in settings}


def validate_update(
    changes: Mapping[str, Any], declared: Iterable[Setting] = CORE, *, machine: bool = True
) -> dict[str, str]:
    """What is wrong with a change asked for over the API, by key; empty when all is well.

    Args:
        changes: values by full key, as text or as JSON values.
        declared: the settings that are known.
        machine: whether settings of scope `machine` may be changed: not by a session of
            the viewer, which holds no install token.
    """
    by_key = {setting.key: setting for setting in declared}
    faults = {}
    for key, value in changes.items():
        fault = _fault(by_key, str(key), value, machine)
        if fault:
            faults[str(key)] = fault
    return faults


def _fault(by_key: Mapping[str, Setting], key: str, value: Any, machine: bool) -> str | None:
    setting = by_key.get(key)
    if setting is None:
        close = nearest(key, by_key.values())
        return "unknown setting" + (f"; did you mean {close[0]}?" if close else "")
    if "viewer" not in setting.sources:
        return f"can't be changed here; run: mem config set {key} VALUE"
    if setting.scope == "machine" and not machine:
        return f"is a setting of the machine; run: mem config set {key} VALUE"
    return refusal(setting, value)


def update_texts(
    changes: Mapping[str, Any], declared: Iterable[Setting] = CORE
) -> dict[str, str]:
    """Checked changes as the texts that `SettingsSource.update` takes."""
    by_key = {setting.key: setting for setting in declared}
    return {key: _text(by_key[key], value) for key, value in changes.items()}


def _text(setting: Setting, value: Any) -> str:
    if isinstance(value, str):
        return value
    return as_text(setting, value)


def table(declared: Iterable[Setting] = CORE) -> str:
    """The settings as a Markdown table for the documentation, area by area."""
    rows = sorted(declared, key=lambda setting: (setting.area, setting.key))
    lines: list[str] = []
    area = ""
    for setting in rows:
        if setting.area != area:
            area = setting.area
            lines += ["", f"## {area}", "", "| key | takes | default | meaning |"]
            lines.append("| --- | --- | --- | --- |")
        lines.append(_row(setting))
    return "\n".join(lines).strip() + "\n"


# What depends on the machine is shown as its rule.
RULES = {"CLAUDE_MEM_WORKER_PORT": "37700 + user id % 100"}


def _row(setting: Setting) -> str:
    from claude_mem_core.settings.values import allowed

    default = RULES.get(setting.key, as_text(setting, setting.default))
    shown = f"`{default}`" if default else "(empty)"
    marks = " *machine*" if setting.scope == "machine" else ""
    marks += " *restart*" if setting.restart else ""
    cells = (f"`{setting.key}`{marks}", allowed(setting), shown, setting.help)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
