"""The documented signs of the types; everything shown for people and agents uses these."""

from __future__ import annotations

ICONS = {
    "bugfix": "\U0001f534",
    "feature": "\U0001f7e3",
    "refactor": "\U0001f504",
    "change": "\u2705",
    "discovery": "\U0001f535",
    "decision": "\u2696\ufe0f",
    "security_alert": "\U0001f6a8",
    "security_note": "\U0001f510",
    "sensitive": "\U0001f512",
    # Of the mode `email-investigation`.
    "entity": "\U0001f464",
    "relationship": "\U0001f517",
    "timeline-event": "\U0001f4c5",
    "evidence": "\U0001f4c4",
    "anomaly": "\u26a0\ufe0f",
    "conclusion": "\U0001f4cc",
}
SESSION = "\U0001f3af"
PROMPT = "\U0001f4ac"
OTHER = "\u26aa"
DITTO = "\u2033"

_IN_LEGEND = ("bugfix", "feature", "refactor", "change", "discovery", "decision")
LEGEND = "Legend: " + " ".join([f"{SESSION}session", *(f"{ICONS[t]}{t}" for t in _IN_LEGEND)])


def icon(type_: str) -> str:
    """The sign of an observation's type."""
    return ICONS.get(type_, OTHER)
