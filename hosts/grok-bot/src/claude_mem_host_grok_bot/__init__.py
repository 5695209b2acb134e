"""Grok Bot as a host: it has no hooks, so its transcripts are followed."""

from __future__ import annotations

from collections.abc import Iterator

from claude_mem_core import hookimpl
from claude_mem_core.types import (
    Host,
    HostAdapter,
    HostInstaller,
    Setting,
    TranscriptFile,
    TranscriptReader,
    Transcripts,
    Values,
    Watcher,
    Watching,
)

INDEX = "agents/*/memory/log/zz-claude-mem-inject.md"
PREFIX = "CLAUDE_MEM_GROK_BOT_"


def open_adapter() -> HostAdapter:
    from claude_mem_core.editing import SendsNothing

    return SendsNothing()


def open_installer() -> HostInstaller:
    from claude_mem_host_grok_bot.installer import GrokBotInstaller

    return GrokBotInstaller()


def open_history(file: TranscriptFile) -> TranscriptReader:
    from claude_mem_host_grok_bot.history import History

    return History(file)


def open_watcher(_: Values) -> Watching:
    from claude_mem_host_grok_bot.watcher import SeatWatcher

    return SeatWatcher()


@hookimpl
def mem_hosts() -> Iterator[Host]:
    patterns = ("agents/*/agent-transcripts/**/*.jsonl", "agent-transcripts/*/*.jsonl")
    yield Host(
        name="grok-bot",
        summary="Grok Bot: its transcripts are followed, each seat gets an index of memories",
        title="Grok Bot",
        open=open_adapter,
        installer=open_installer,
        injects_at=(),
        transcript_roots=("$GROK_BOT_AGENT_DATA", "~/.grok-bot"),
        transcripts=tuple(
            Transcripts(pattern=pattern, open=open_history, live=True, marker=INDEX)
            for pattern in patterns
        ),
    )


@hookimpl
def mem_watchers() -> Iterator[Watcher]:
    yield Watcher(
        name="grok-bot", summary="keeps the index of memories in each seat", open=open_watcher
    )


@hookimpl
def mem_settings() -> Iterator[Setting]:
    def setting(name: str, help: str, **more: object) -> Setting:
        return Setting(key=PREFIX + name, area="grok-bot", help=help, **more)  # type: ignore[arg-type]

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
