"""Which provider the user chose; light, since the worker asks this at every turn."""

from __future__ import annotations

from claude_mem_core.settings.model import Settings

BUILTIN, OFF = "builtin", "off"
CHOICE = "CLAUDE_MEM_PROVIDER"
FALLBACK = "CLAUDE_MEM_QUOTA_FALLBACK_PROVIDER"


def chosen(settings: Settings, key: str) -> str:
    """The provider that a setting names, once the user set it on this machine.

    A name in a file that another product wrote calls nobody.
    """
    name = str(settings[key] or BUILTIN)
    confirmed = key in settings.explicit or settings.origin(key) == "environment"
    return name if confirmed or name == OFF else BUILTIN
