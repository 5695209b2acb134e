"""Transcripts as a source of memories: what agent programs write down is watched."""

from __future__ import annotations

from collections.abc import Iterator

from claude_mem_core import hookimpl
from claude_mem_core.types import Setting, Values, Watcher, Watching

CLAUDE_MEM_CONTRACT = 1


def open_watcher(_: Values) -> Watching:
    from claude_mem_transcripts.watcher import TranscriptWatcher

    return TranscriptWatcher()


@hookimpl
def mem_watchers() -> Iterator[Watcher]:
    yield Watcher(
        name="transcripts",
        summary="follows transcripts of hosts without hooks, and those that a file names",
        open=open_watcher,
    )


@hookimpl
def mem_settings() -> Iterator[Setting]:
    yield Setting(
        key="CLAUDE_MEM_TRANSCRIPTS_ENABLED",
        type="bool",
        default=True,
        area="transcripts",
        help="Follow transcripts of agent programs that have no hooks.",
    )
    yield Setting(
        key="CLAUDE_MEM_TRANSCRIPTS_CONFIG_PATH",
        type="path",
        area="transcripts",
        scope="machine",
        help="File that names further transcripts; empty: transcript-watch.json beside the"
        " database.",
    )
    yield Setting(
        key="CLAUDE_MEM_CODEX_SUBAGENT_INGESTION",
        type="bool",
        default=False,
        area="transcripts",
        help="Record the sub-agents of Codex CLI, which no hook reports, from its rollouts.",
    )
    yield Setting(
        key="CLAUDE_MEM_CODEX_TRANSCRIPT_INGESTION",
        type="bool",
        default=False,
        area="transcripts",
        help="Record sessions of Codex CLI whose hooks do not run, from its rollouts.",
    )
