"""Keys, budget, fallback and notices from the hook to a model service and back.

The provider is the real openai SDK in the real processor; only the service is scripted.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from claude_mem_core import secrets
from claude_mem_core.cli.client import WorkerClient
from claude_mem_core.cli.keyring import Desk
from claude_mem_core.edge import install_hook
from claude_mem_core.files import secure_dir
from claude_mem_core.paths import Paths
from claude_mem_core.settings import SettingsSource
from claude_mem_core.testing.fake_models import FakeModels, Talk, Turn
from claude_mem_core.testing.worker import data_dir, start
from tests.case_home import Played, until
from tests.hook_home import HookHome

pytest.importorskip("claude_mem_provider_openai_compatible")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

NAME = "openai-compatible"
KEY = "sk-planted-0123456789abcdef0123456789abcdef"
SHELL_KEY = "sk-ofshell-0123456789abcdef0123456789abcdef"
FRESH_KEY = "sk-corrected-0123456789abcdef0123456789abcdef"
GOOD = (
    "<observation><type>bugfix</type><title>Retry timer reset in pytest</title>"
    "<narrative>The tests pass.</narrative></observation>"
)
KEY_NAMES = ("OPENAI_API_KEY", "OPENAI_COMPAT_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY",
             "CLAUDE_MEM_OPENAI_COMPAT_API_KEY", "OPENROUTER_API_KEY")  # fmt: skip


class Chain(Played):
    """A home with a scripted service."""

    models: FakeModels

    @property
    def client(self) -> WorkerClient:
        return WorkerClient(self.paths)

    def script(self, *turns: Turn) -> None:
        self.models.talks[:] = [Talk(match=".", anywhere=True, turns=turns)]

    def standing(self) -> dict[str, Any]:
        found: dict[str, Any] = self.client.get("/api/providers")
        return found

    def set(self, **values: str) -> None:
        """Change settings as `mem config set` does, without the cost of a process."""
        source = SettingsSource(self.paths)
        source.update({f"CLAUDE_MEM_{k.upper()}": v for k, v in values.items()})

    def turn(self, session: str) -> None:
        file = str(self.place / "timer.py")
        change = {"file_path": file, "old_string": "a = 1", "new_string": "a = reset()"}
        self.hook(self.payload("UserPromptSubmit", session, prompt=f"mend the timer {session}"))
        self.hook(
            self.payload(
                "PostToolUse", session, tool_name="Edit", tool_use_id=f"t-{session}",
                tool_input=change, tool_response={"filePath": file},
            )
        )  # fmt: skip
        self.hook(self.payload("Stop", session, last_assistant_message="It is mended now."))

    def until_asked(self, number: int = 1) -> None:
        """Until so many more requests came and nothing is in work."""
        until(lambda: len(self.models.requests) >= number and not self._busy(), 60)

    def _busy(self) -> bool:
        self.client.post("/api/pending-queue/process")
        found = self.client.get("/api/admin/doctor")
        return bool(found["queue"]["processing"])

    def makers(self) -> set[str]:
        return {row[0] for row in self.rows("SELECT generated_by_model FROM observations")}


@contextmanager
def chain(**settings: str) -> Iterator[Chain]:
    with data_dir() as paths, FakeModels([]) as models:
        user = Path(paths.data.parent) / "ann"
        (user / "work").mkdir(parents=True)
        secure_dir(paths.data)
        made = Chain(paths, HookHome(paths, install_hook(paths)), user, user / "work")
        made.models = models
        values = {"OPENAI_COMPAT_BASE_URL": f"{models.url}/v1", "OPENAI_COMPAT_MODEL": "small-1",
                  **{key.upper(): value for key, value in settings.items()}}  # fmt: skip
        paths.settings.write_text(json.dumps({f"CLAUDE_MEM_{k}": v for k, v in values.items()}))
        secrets.write(paths, "CLAUDE_MEM_OPENAI_COMPAT_API_KEY", KEY, "file")
        made.set(provider=NAME)
        made.script(Turn(text=GOOD))
        shell = dict.fromkeys(KEY_NAMES, SHELL_KEY)
        made.worker = start(paths, env={"HOME": str(user), **shell})
        try:
            yield made
        finally:
            made.worker.stop()


def test_a_key_is_seen_by_its_service_and_nowhere_else() -> None:
    with chain() as home:
        home.turn("s-1")
        home.until_asked()
        sent = {request.headers.get("authorization") for request in home.models.requests}
        assert sent == {f"Bearer {KEY}"}, "its own key, and not the one of the shell"
        echo = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}})
        home.script(Turn(status=401, raw=echo))
        home.turn("s-2")
        until(lambda: (home.client.post("/api/pending-queue/process"),
                       home.standing()["state"] == "held")[1], 60)  # fmt: skip
        _not_in_answers(home)
        _not_in_processes(home.paths)
        said = [home.mem(*words, check=False) for words in (("status",), ("doctor",),
                ("config", "list"), ("auth", "list"), ("usage", "--json"), ("logs",))]  # fmt: skip
        for done in said:
            assert KEY not in done.stdout + done.stderr
        start_said = home.hook(home.payload("SessionStart", "s-3", source="startup")).out
        assert KEY.encode() not in start_said
        # The worker is gone: everything is on the disk.
        _not_in_files(home.paths)


def _not_in_answers(home: Chain) -> None:
    for path in ("/api/settings", "/api/providers", "/api/usage", "/api/admin/doctor",
                 "/api/logs", "/api/stats", "/api/observations"):  # fmt: skip
        raw = home.client.request("GET", path)
        assert KEY not in raw.body.decode("utf-8", "replace"), path
        assert SHELL_KEY not in raw.body.decode("utf-8", "replace"), path


def _not_in_processes(paths: Paths) -> None:
    """No process of ours has it in its words; the processor has it in no variable either."""
    ours = [p for p in psutil.process_iter() if str(paths.data) in " ".join(_words(p))]
    names = " ".join(word for p in ours for word in _words(p))
    assert "claude_mem_core.worker.main" in names
    assert "claude_mem_core.processor.main" in names
    assert KEY not in names
    for process in ours:
        try:
            environ = Path(f"/proc/{process.pid}/environ").read_bytes()
        except OSError:
            continue  # closed to everybody, as it should be
        assert KEY.encode() not in environ


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def _not_in_files(paths: Paths) -> None:
    looked = 0
    for folder, _, names in os.walk(paths.data):
        for name in names:
            file = Path(folder) / name
            if file == paths.data / ".env" or not file.is_file():
                continue
            looked += 1
            data = file.read_bytes()
            assert KEY.encode() not in data, file
            assert KEY[11:].encode() not in data, file
    assert looked > 5


def test_a_session_start_says_once_what_is_wrong_and_what_to_run() -> None:
    with chain() as home:
        home.script(Turn(status=401, text="invalid x-api-key"))
        home.turn("s-1")
        until(lambda: (home.client.post("/api/pending-queue/process"),
                       home.standing()["state"] == "held")[1], 60)  # fmt: skip
        first, second = (_system(home, f"s-{number}") for number in (2, 3))
        assert first == (
            f"memory: {NAME} refused the key or login; rules make the memories meanwhile;"
            f" run: mem auth set {NAME}"
        )
        assert second != first
        home.script(Turn(text=GOOD))
        desk = Desk.open(home.paths)
        desk.keep(desk.record(NAME), "CLAUDE_MEM_OPENAI_COMPAT_API_KEY", FRESH_KEY, "file")
        until(lambda: (home.client.post("/api/pending-queue/process"),
                       home.makers() == {"small-1"})[1], 60)  # fmt: skip
        assert home.models.requests[-1].headers["authorization"] == f"Bearer {FRESH_KEY}"
        said = [_system(home, f"s-{number}") for number in range(4, 8)]
        assert "tokens in 2 requests (`mem usage`)" in said[-1], "nothing is wrong any more"


def _system(home: Chain, session: str) -> str:
    out = home.hook(home.payload("SessionStart", session, source="startup")).out
    return str(json.loads(out).get("systemMessage", ""))


def test_at_the_cap_capture_goes_on_and_later_a_model_takes_it_up() -> None:
    with chain(budget_daily_calls="2") as home:
        home.turn("s-1")
        home.until_asked(1)
        for number in range(2, 6):
            home.turn(f"s-{number}")
        until(lambda: (home.client.post("/api/pending-queue/process"),
                       home.standing()["state"] == "over-budget")[1], 60)  # fmt: skip
        known = {"name": NAME, "serving": "builtin", "state": "over-budget"}
        assert home.client.get("/api/health")["provider"] == known
        home.until_asked(2)
        assert len(home.models.requests) == 2
        assert "builtin" in home.makers()
        found = home.client.get("/api/search", query="mend the timer s-5")
        assert found, "what nobody observed yet is found all the same"
        usage = home.client.get("/api/usage", by="provider")
        (item,) = usage["items"]
        assert (item["name"], item["calls"]) == (NAME, 2)
        assert item["input_tokens"] > 0
        by_project = home.client.get("/api/usage", by="project")["items"]
        assert by_project[0]["name"] == "work"
        assert usage["memories"] == 2
        notice = home.standing()["notice"]
        assert "mem config set budget-daily-calls" in notice
        home.set(budget_daily_calls="1000")
        until(lambda: (home.client.post("/api/pending-queue/process"),
                       home.makers() == {"small-1"})[1], 90)  # fmt: skip
        assert len(home.rows("SELECT 1 FROM pending_messages")) == 0


def test_half_a_provider_is_shown_and_the_work_goes_on() -> None:
    with chain(openai_compat_base_url="") as home:
        home.turn("s-1")
        until(lambda: (home.client.post("/api/pending-queue/process"), home.makers())[1], 60)
        assert home.makers() == {"builtin"}
        assert home.models.requests == []
        found = home.standing()
        assert found["state"] == "incomplete"
        assert found["cure"].startswith("mem config set openai-compat-")
        checks = json.loads(home.mem("doctor", "--json", check=False).stdout)["checks"]
        (row,) = [check for check in checks if check["topic"] == "models"]
        assert row["state"] == "warn"
        assert row["cure"] == found["cure"]
        assert found["cure"] in _system(home, "s-2")
