"""A worker's parts in this process, transcripts that grow, and the watcher between."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import anyio
import attrs
from claude_mem_transcripts import state as states
from claude_mem_transcripts.state import State
from claude_mem_transcripts.watcher import TranscriptWatcher

from claude_mem_core.paths import Paths
from claude_mem_core.pipeline.services import Services, open_services
from claude_mem_core.pipeline.watching import WorkersDesk
from claude_mem_core.store import verify

SCHEMA = {
    "events": [
        {"match": {"path": "type", "equals": "meta"}, "action": "session_context",
         "fields": {"sessionId": "id", "cwd": "cwd"}},
        {"match": {"path": "type", "equals": "user"}, "action": "session_init",
         "fields": {"prompt": "text"}},
        {"match": {"path": "type", "equals": "agent"}, "action": "assistant_message",
         "fields": {"message": "text"}},
        {"match": {"path": "type", "equals": "call"}, "action": "tool_use",
         "fields": {"toolId": "id", "toolName": "name", "toolInput": "input"}},
        {"match": {"path": "type", "in": ["result", "output"]}, "action": "tool_result",
         "fields": {"toolId": "id", "toolResponse": {"coalesce": ["output", "text"]}}},
    ]
}  # fmt: skip


@attrs.define
class Home:
    """What a test works with; `look` is one round of the watcher."""

    services: Services
    root: Path
    watcher: TranscriptWatcher = attrs.field(factory=lambda: TranscriptWatcher(rest_ms=60_000))
    state: State | None = None

    @property
    def logs(self) -> Path:
        """Where the program writes its transcripts."""
        return self.root / "logs"

    def configure(self, **watch: Any) -> None:
        """Name the transcripts in the settings file."""
        given = {"name": "acme", "path": f"{self.logs}/**/*.jsonl", "schema": "acme", **watch}
        value = {"version": 1, "schemas": {"acme": SCHEMA}, "watches": [given]}
        (self.services.paths.data / "transcript-watch.json").write_text(json.dumps(value))

    def write(self, name: str, *records: dict[str, Any], end: str = "\n") -> Path:
        """Add records to a transcript."""
        path = self.logs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            file.write("\n".join(map(json.dumps, records)) + end)
        return path

    async def look(self, *, rest: bool = False) -> bool:
        """Look at all transcripts once; with `rest` as if nothing had come for long."""
        if rest:
            for path in self.logs.rglob("*.jsonl"):
                os.utime(path, (time.time() - 600, time.time() - 600))
        if self.state is None:
            self.state = states.load(self.services.paths.data)
        return await self.watcher.look(WorkersDesk(self.services.watchers, "transcripts"), self.state)

    def restart(self) -> None:
        """Forget all but what is on disk."""
        self.watcher, self.state = TranscriptWatcher(rest_ms=60_000), None

    async def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """What the database holds."""
        return await self.services.store.aread(lambda conn: list(conn.execute(sql)))

    async def kinds(self) -> list[str]:
        """The kinds of the events that were kept, in their order."""
        return [row[0] for row in await self.rows("SELECT kind FROM events ORDER BY id")]


def meta(session: str, cwd: object) -> dict[str, Any]:
    return {"type": "meta", "id": session, "cwd": str(cwd)}


def turn(text: str, number: str, answer: str = "") -> list[dict[str, Any]]:
    """A prompt, a tool use with its result, and an answer."""
    command = {"command": f"make {number}"}
    return [
        {"type": "user", "text": text},
        {"type": "call", "id": number, "name": "Bash", "input": command},
        {"type": "result", "id": number, "output": "made"},
        {"type": "agent", "text": answer or f"Done with {number}."},
    ]


def play(tmp_path: Path, scenario: Callable[[Home], Coroutine[Any, Any, None]]) -> None:
    """Run a scenario; in the end the journal must hold together."""
    (tmp_path / "data").mkdir(mode=0o700)
    (tmp_path / "shop").mkdir()

    async def main() -> None:
        async with open_services(Paths(tmp_path / "data")) as services:
            home = Home(services, tmp_path)
            home.configure(startAtEnd=False)
            await scenario(home)
            assert not services.store.read(verify.verify).off

    anyio.run(main)
