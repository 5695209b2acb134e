"""Settings that leave the machine with a backup: never a secret."""

from __future__ import annotations

import json
import re

from claude_mem_core.errors import SettingsError
from claude_mem_core.paths import Paths
from claude_mem_core.settings.declared import CORE
from claude_mem_core.settings.reading import read
from claude_mem_core.settings.writing import create

SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH", re.IGNORECASE)
# An address may hold a password; where it leads is the affair of one machine anyway.
ADDRESS = re.compile(r"://")


def without_secrets(paths: Paths) -> str | None:
    """The settings file as JSON, without what may be a secret; None when there is none."""
    secret = {setting.key for setting in CORE if setting.type == "secret"}
    kept = {
        name: value
        for name, value in read(paths.settings).values.items()
        if name not in secret and not SECRET.search(name) and _is_plain(value)
    }
    return json.dumps(kept, indent=2, ensure_ascii=False) if kept else None


def put_back(paths: Paths, text: str | None) -> bool:
    """Make a settings file of what a backup holds; one that is there stays."""
    if text is None:
        return False
    try:
        value = json.loads(text)
    except ValueError:
        raise SettingsError(
            "the settings in the backup can't be read; they are left out"
        ) from None
    if not isinstance(value, dict):
        return False
    kept = {str(name): value for name, value in value.items() if _is_plain(value)}
    return create(paths, kept)


def _is_plain(value: object) -> bool:
    if isinstance(value, str):
        return not ADDRESS.search(value)
    return isinstance(value, bool | int | float)
