"""A case played end to end: the installed hook, a worker's process, its own answers."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw
import attrs

from claude_mem_core.cli.client import WorkerClient
from claude_mem_core.edge import install_hook
from claude_mem_core.files import secure_dir
from claude_mem_core.paths import Paths
from claude_mem_core.testing.worker import LiveWorker, data_dir, start
from tests.hook_home import HookHome, Ran
from tests.quick_mem import run_mem
from tests.worker_home import until

__all__ = ["Played", "Ran", "played", "until"]
TRACE = re.compile("Traceback|Error:|database is locked", re.IGNORECASE)


@attrs.define
class Played:
    """A person's home with our hook installed, and the worker that serves it."""

    paths: Paths
    hooks: HookHome
    home: Path
    place: Path
    worker: LiveWorker | None = None

    # The worker's life --------------------------------------------------------------

    def start(self, **env: str) -> LiveWorker:
        """Start the worker by hand, as this home's user."""
        self.worker = start(self.paths, env={"HOME": str(self.home), **env})
        return self.worker

    def stop(self) -> None:
        """End the worker in good order, whoever started it."""
        self.mem("stop")
        if self.worker is not None:
            self.worker.stop()

    def mem(self, *args: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run `mem` as a person does."""
        env = {"CLAUDE_MEM_DATA_DIR": str(self.paths.data), "HOME": str(self.home)}
        done = run_mem(*args, cwd=self.home, env={**os.environ, **env})
        assert done.returncode == 0 or not check, f"mem {args}: {done.stdout}{done.stderr}"
        return done

    def json(self, *args: str) -> Any:
        """What `mem ... --json` prints."""
        return json.loads(self.mem(*args, "--json").stdout)

    # What a host does ---------------------------------------------------------------

    def payload(self, event: str, session: str = "s-1", **more: Any) -> dict[str, Any]:
        """A payload as Claude Code sends it."""
        common = {"session_id": session, "cwd": str(self.place), "transcript_path": ""}
        return {**common, "hook_event_name": event, **more}

    def filled(self, payload: Mapping[str, Any], **values: str) -> dict[str, Any]:
        """A payload of a case with its `{{NAMES}}` filled in."""
        given = {"CWD": str(self.place), "TRANSCRIPT": "", "HOME": str(self.home), **values}
        text = json.dumps(payload)
        for name, value in given.items():
            text = text.replace("{{" + name + "}}", json.dumps(value)[1:-1])
        found: dict[str, Any] = json.loads(text)
        return found

    def hook(
        self,
        payload: Mapping[str, Any] | bytes,
        event: str = "",
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | str | None = None,
    ) -> Ran:
        """Deliver a payload; the hook ends well and says nothing of itself."""
        name = event or str(payload["hook_event_name"])  # type: ignore[index]
        data = payload if isinstance(payload, bytes) else dict(payload)
        ran = self.hooks.run(name, data, env={"HOME": str(self.home), **(env or {})}, cwd=cwd)
        assert (ran.code, ran.err) == (0, b""), ran
        return ran

    def all_at_once(self, payloads: Sequence[Mapping[str, Any]]) -> list[int]:
        """Deliver all of them side by side; the exit codes."""
        started = []
        for payload in payloads:
            process = subprocess.Popen(
                [*self.hooks.argv, "claude-code", str(payload["hook_event_name"])],
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                cwd="/",
            )  # fmt: skip
            assert process.stdin is not None
            process.stdin.write(json.dumps(payload).encode())
            process.stdin.close()
            started.append(process)
        return [process.wait(30) for process in started]

    def told(self, ran: Ran) -> str:
        """The context that a hook's answer gives the agent."""
        answer = json.loads(ran.out)
        return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))

    def begin(
        self, session: str, cwd: Path | str | None = None, source: str = "startup"
    ) -> str:
        """Start a session there; the context that it is given."""
        payload = self.payload("SessionStart", session, source=source)
        return self.told(self.hook({**payload, "cwd": str(cwd or self.place)}))

    # What is remembered -------------------------------------------------------------

    def get(self, path: str, **params: Any) -> Any:
        """What the worker answers."""
        return WorkerClient(self.paths).get(path, **params)

    def settle(self, seconds: float = 60.0) -> None:
        """Wait until what was left on disk is taken in, observed, and to be found."""
        client = WorkerClient(self.paths)
        until(client.running, seconds)
        client.post("/api/spool")

        def done() -> bool:
            client.post("/api/pending-queue/process")
            found = client.get("/api/admin/doctor")
            waiting = found["queue"]["pending"] + found["queue"]["processing"]
            return not (waiting or found["spool"]["waiting"])

        until(done, seconds)
        until(lambda: client.get("/api/search", query="x")["coverage"] == 1.0, seconds)

    def search(self, text: str, **params: Any) -> dict[str, Any]:
        """What a search finds, by kind."""
        found: dict[str, Any] = self.get("/api/search", query=text, limit=100, **params)
        return found

    def taken_in(self, seconds: float = 30.0) -> None:
        """Wait for what hooks left on disk, as they do on a busy machine, if a worker runs."""
        client = WorkerClient(self.paths)
        if any(self.paths.spool.glob("*.ev")) and client.running():
            client.post("/api/spool")
            until(lambda: not any(self.paths.spool.glob("*.ev")), seconds)

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """What the database holds, read beside the worker."""
        self.taken_in()
        conn = apsw.Connection(str(self.paths.database), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            return list(conn.execute(sql, values))
        finally:
            conn.close()

    def prompts(self) -> list[str]:
        """The stored prompts, oldest first."""
        sql = "SELECT prompt_text FROM user_prompts ORDER BY session_db_id, prompt_number"
        return [row[0] for row in self.rows(sql)]

    def logs(self) -> str:
        """The worker's logs."""
        files = sorted(self.paths.logs.glob("*.log")) if self.paths.logs.is_dir() else []
        return "".join(file.read_text("utf-8", "replace") for file in files)

    def is_sound(self) -> None:
        """`mem verify` accounts for every event, and the log tells of no accident."""
        account = self.json("verify")
        assert account["ok"], account
        assert not TRACE.search(self.logs()), self.logs()


@contextmanager
def played(*, running: bool = True) -> Iterator[Played]:
    """A fresh home under a short path; its worker is stopped at the end."""
    with data_dir() as paths:
        home, place = paths.data.parent / "ann", paths.data.parent / "ann" / "work"
        place.mkdir(parents=True)
        secure_dir(paths.data)
        environ = {**os.environ, "HOME": str(home)}
        hooks = HookHome(paths, install_hook(paths, environ=environ))
        made = Played(paths, hooks, home, place)
        try:
            if running:
                made.start()
            yield made
        finally:
            with suppress(subprocess.TimeoutExpired):
                made.mem("stop", check=False)
            if made.worker is not None:
                made.worker.stop()
