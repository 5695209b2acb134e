"""Grok Bot as a host: it has no hooks, so its transcripts are followed."""

from __future__ import annotations

from collections.abc import Iterator

from claude_mem_core import hookimpl
from claude_mem_core.types import (
    Delivering,
    Host,
    HostAdapter,
    HostInstaller,
    Setting,
    Sink,
    TranscriptFile,
    TranscriptReader,
    Transcripts,
    Values,
    Watcher,
    Watching,
)

INDEX = "agents/*/memory/log/zz-claude-mem-inject.md"
PREFIX = "CLAUDE_MEM_GROK_BOT_"
URL = PREFIX + "WEBHOOK_URL"
SECRET = PREFIX + "WEBHOOK_SECRET"
TIMEOUT_S = 5.0


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


def open_webhook(settings: Values) -> Delivering | None:
    if not str(settings[URL] or "").strip():
        return None
    from claude_mem_host_grok_bot.webhook import Webhook

    return Webhook(settings)


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
def mem_sinks() -> Iterator[Sink]:
    yield Sink(
        name="grok-bot", summary="tells a webhook of what matters",
        open=open_webhook, timeout=TIMEOUT_S,
    )  # fmt: skip


@hookimpl
def mem_settings() -> Iterator[Setting]:
    from claude_mem_host_grok_bot.declared import declared

    yield from declared()
