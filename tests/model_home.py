"""A person's home whose memories the scripted server makes, through a real processor."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import TimeoutExpired
from threading import Event
from typing import Any

import apsw
import attrs
import psutil

from claude_mem_core.edge import install_hook
from claude_mem_core.files import secure_dir
from claude_mem_core.settings import SettingsSource
from claude_mem_core.testing import scripted
from claude_mem_core.testing.fake_models import FakeModels, Talk, Turn
from claude_mem_core.testing.worker import LiveWorker, data_dir, start
from tests.case_home import Played, until
from tests.hook_home import HookHome

__all__ = ["ModelHome", "model_home", "observation", "until"]


def observation(title: str, kind: str = "discovery", **fields: str) -> str:
    """A reply with one observation."""
    more = {"narrative": "Seen while reading.", **fields}
    inner = "".join(f"<{name}>{text}</{name}>" for name, text in more.items())
    return f"<observation><type>{kind}</type><title>{title}</title>{inner}</observation>"


TABLES = ("events", "observations", "session_summaries", "pending_messages", "user_prompts")
# In the place of a table: its rows of the sessions whose ids begin with a mark.
VIEW = """
  CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} WHERE session_db_id IN (
    SELECT id FROM main.sdk_sessions WHERE content_session_id LIKE '{mark}%')
"""


@attrs.define
class ModelHome(Played):
    """With the server that answers, and the Python that knows its provider."""

    models: FakeModels = attrs.field(kw_only=True)
    python: str = attrs.field(kw_only=True)
    number: int = attrs.field(default=0, kw_only=True)
    mark: str = attrs.field(default="", kw_only=True)
    gates: list[Event] = attrs.field(factory=list, kw_only=True)

    def fresh(self) -> ModelHome:
        """For the next test on the same worker: its sessions and rows are its own."""
        for gate in self.gates:
            gate.set()
        self.settle()
        self.number += 1
        self.mark = f"t{self.number}."
        self.gates.clear()
        self.models.requests.clear()
        self.replies(observation("The retry test fails in pytest"))
        return self

    def gate(self) -> Event:
        """What an answer of the server waits for."""
        self.gates.append(Event())
        return self.gates[-1]

    def payload(self, event: str, session: str = "s-1", **more: Any) -> dict[str, Any]:
        """A payload as Claude Code sends it."""
        return super().payload(event, self.mark + session, **more)

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """What the database holds of this test's sessions, read beside the worker."""
        conn = apsw.Connection(str(self.paths.database), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            for table in TABLES if self.mark else ():
                conn.execute(VIEW.format(table=table, mark=self.mark))
            return list(conn.execute(sql, values))
        finally:
            conn.close()

    def start(self, **env: str) -> LiveWorker:
        """Start a worker that finds the provider."""
        env = {"HOME": str(self.home), **env}
        self.worker = start(self.paths, env=env, python=self.python)
        return self.worker

    def replies(self, *texts: str) -> None:
        """What the server says from now on; the last one again and again."""
        turns = [Turn(text=text) for text in texts]
        self.turns(*turns)

    def turns(self, *turns: Turn) -> None:
        """The same with delays and failures."""
        self.models.talks[:] = [Talk(match=".", anywhere=True, turns=turns)]

    @property
    def asked(self) -> list[dict[str, Any]]:
        """Bodies of the requests so far."""
        return [request.body for request in self.models.requests]

    def said(self, number: int = -1) -> str:
        """The newest message of a request."""
        return str(self.asked[number]["messages"][-1]["content"])

    def set(self, **values: str) -> None:
        """Change settings, as `mem config set` does."""
        SettingsSource(self.paths).update(values)

    def processors(self) -> list[psutil.Process]:
        """Processes of the providers of this data directory."""
        found = []
        for process in psutil.process_iter(["cmdline"]):
            line = process.info["cmdline"] or []
            if "claude_mem_core.processor.main" in line and str(self.paths.data) in line:
                found.append(process)
        return found

    def observed(self) -> list[dict[str, Any]]:
        """Titles, types and makers of what is remembered, oldest first."""
        sql = """SELECT title, type, generated_by_model, metadata FROM observations ORDER BY id"""
        names = ("title", "type", "model", "metadata")
        return [dict(zip(names, row, strict=True)) for row in self.rows(sql)]

    def turn(self, session: str, prompt: str, answer: str = "It is done and it works.") -> None:
        """A turn with one edit, from prompt to stop."""
        self.hook(self.payload("UserPromptSubmit", session, prompt=prompt))
        self.tool(session, f"{session}-{len(self.rows('SELECT 1 FROM events'))}")
        self.hook(self.payload("Stop", session, last_assistant_message=answer))

    def tool(self, session: str, number: str, output: str = "1 failed\nE   assert 8 == 1") -> None:
        """One run of the tests."""
        used = {"command": "pytest -q tests/test_retry.py"}
        self.hook(
            self.payload("PostToolUse", session, tool_name="Bash", tool_use_id=number,
                         tool_input=used, tool_response={"stdout": output, "stderr": ""})
        )  # fmt: skip


@contextmanager
def model_home(
    replies: Sequence[str] = (), *, running: bool = True, **settings: str
) -> Iterator[ModelHome]:
    """A fresh home; its worker and processor are gone at the end."""
    with data_dir() as paths, FakeModels([]) as models:
        home, place = paths.data.parent / "ann", paths.data.parent / "ann" / "work"
        place.mkdir(parents=True)
        secure_dir(paths.data)
        hooks = HookHome(paths, install_hook(paths, environ={**os.environ, "HOME": str(home)}))
        scripted.choose(paths, models.url, **settings)
        python = scripted.own_python(Path(paths.data.parent) / "py")
        made = ModelHome(paths, hooks, home, place, models=models, python=python)
        made.replies(*(replies or [observation("The retry test fails in pytest")]))
        try:
            if running:
                made.start()
            yield made
        finally:
            with suppress(TimeoutExpired):
                made.mem("stop", check=False)
            if made.worker is not None:
                made.worker.stop()
            until(lambda: not made.processors())
