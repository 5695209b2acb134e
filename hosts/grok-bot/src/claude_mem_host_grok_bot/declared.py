"""The settings of Grok Bot: its index, its notes and its webhook."""

from __future__ import annotations

from collections.abc import Iterator

from claude_mem_core.types import Setting
from claude_mem_host_grok_bot import PREFIX, SECRET, URL


def setting(name: str, help: str, **more: object) -> Setting:
    """One of them; the prefix goes without saying."""
    key = PREFIX + name.removeprefix(PREFIX)
    return Setting(key=key, area="grok-bot", help=help, **more)  # type: ignore[arg-type]


def declared() -> Iterator[Setting]:
    """All of them."""
    yield setting("INJECT_ENABLED", "Keep the index in each seat.", type="bool", default=True)
    yield setting("INJECT_AGENT_IDS", "Seats that get it; `*` for all.", type="csv", default=("*",))
    yield setting(
        "INJECT_FALLBACK", "`house` fills a thin index with the newest of all projects.",
        type="enum", default="house", choices=("house", "off"),
    )  # fmt: skip
    yield setting(
        "INJECT_TIER", "Rank of the lines in the bot's memory.",
        type="enum", default="episode", choices=("episode", "plain", "note"),
    )  # fmt: skip
    yield setting(
        "INJECT_WINDOW", "Lines of the index.", type="int", default=80, low=1, high=100, clamp=True
    )
    yield setting("INJECT_PLATFORM_SOURCE", "Only memories of this host; empty for all.")
    yield setting("INJECT_PROJECTS_BY_AGENT", "Projects of a seat: `uuid=a,b;uuid2=c`.")
    yield setting("AWARENESS_ENABLED", "Note what matters in a seat's log.", type="bool", default=True)
    types = ("decision", "bugfix", "security_alert", "sensitive")
    yield setting("AWARENESS_TRIGGER_TYPES", "Types that matter.", type="csv", default=types)
    yield setting("AWARENESS_TRIGGER_CONCEPTS", "Concepts that matter.", type="csv", default=())
    # Both are secrets: an address may hold a key, and neither is shown.
    yield setting(
        URL, "Address that is told of what matters; empty is off.",
        type="secret", scope="machine",
    )  # fmt: skip
    yield setting(
        SECRET, "Shared secret that goes along to it.", type="secret", scope="machine"
    )
