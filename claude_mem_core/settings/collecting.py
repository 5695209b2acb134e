"""Choosing each setting's value among what was found, and telling what was wrong."""

from __future__ import annotations

from typing import Any

import attrs

from claude_mem_core.settings.retention_area import RETENTION, rules_fault
from claude_mem_core.settings.values import BadValue, masked_text, parse
from claude_mem_core.types import Setting


@attrs.define
class Collector:
    """Values as they are found, and what was wrong on the way."""

    warnings: list[str]
    values: dict[str, Any] = attrs.field(factory=dict)
    origins: dict[str, str] = attrs.field(factory=dict)

    def take(self, setting: Setting, candidates: list[tuple[str, str, Any]]) -> None:
        """The first candidate that holds, else the default."""
        for origin, where, raw in candidates:
            try:
                parsed = parse(setting, raw)
            except BadValue as fault:
                self.warnings.append(f"{setting.key} {where} {fault}; it is not used")
                continue
            if parsed.note:
                self.warnings.append(f"{setting.key} {where} {parsed.note}")
            self._keep(setting, parsed.value, origin)
            return
        self._keep(setting, setting.default, "default")

    def _keep(self, setting: Setting, value: Any, origin: str) -> None:
        self.values[setting.key] = value
        self.origins[setting.key] = origin


def refusal(setting: Setting, text: str) -> str | None:
    """Why a setting can't be set to `text`; None when it can."""
    if "file" not in setting.sources:
        return "is read from the environment alone; set it there"
    try:
        parsed = parse(setting, text)
    except BadValue as fault:
        return str(fault)
    wrong = rules_fault(parsed.value) if setting.key == RETENTION[0].key else ""
    return parsed.note or wrong or None


def out_of_reach(setting: Setting) -> str:
    return (
        f"{setting.key} in the environment is not used, since a repository could set it; "
        f"run: mem config set {setting.key} VALUE"
    )


def shown(setting: Setting, raw: Any) -> str:
    """A raw value for people; one that does not parse is described, not shown."""
    try:
        return masked_text(setting, parse(setting, raw).value)
    except BadValue as fault:
        return f"(not used: {fault})"
