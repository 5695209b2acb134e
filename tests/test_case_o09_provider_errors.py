"""Case O09: a provider says no, in codes and in friendly text; through a real SDK.

Each entry plays in a session of its own, in one home: the worker, its processor and the
openai SDK run once. What fails for good is mended by what the product says to run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.cli.client import WorkerClient
from claude_mem_core.edge import install_hook
from claude_mem_core.files import secure_dir
from claude_mem_core.settings import SettingsSource
from claude_mem_core.testing.fake_models import FakeModels, Talk, Turn
from claude_mem_core.testing.worker import data_dir, start
from tests.case_home import Played, until
from tests.hook_home import CASES, HookHome

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

FOLDER = CASES / "O09-provider-auth-quota-errors"
ERRORS = json.loads((FOLDER / "errors.json").read_text("utf-8"))
EVENTS = [
    json.loads(line) for line in (FOLDER / "events.jsonl").read_text("utf-8").splitlines()
]
GOOD = json.loads((FOLDER / "good.json").read_text("utf-8"))["text"]
KEY = "sk-planted-0123456789abcdef0123456789abcdef"
NAME = "openai-compatible"
USER = {"auth", "quota", "model_missing"}
FAILURE = {
    "auth": {"key-refused"}, "quota": {"quota", "payment"}, "model_missing": {"model"},
}  # fmt: skip


class Home(Played):
    """With the scripted server as its provider."""

    models: FakeModels

    @property
    def client(self) -> WorkerClient:
        return WorkerClient(self.paths)

    def script(self, *turns: Turn) -> None:
        self.models.talks[:] = [Talk(match=".", anywhere=True, turns=turns)]

    def standing(self) -> dict[str, Any]:
        found: dict[str, Any] = self.client.get("/api/providers")
        return found

    def waiting(self, session: str) -> int:
        sql = """SELECT count(*) FROM pending_messages q JOIN sdk_sessions s
          ON s.id = q.session_db_id WHERE s.content_session_id = ?"""
        return int(self.rows(sql, session)[0][0])

    def made(self, session: str) -> list[tuple[Any, ...]]:
        """Maker and title of what is remembered of a session."""
        sql = """SELECT o.generated_by_model, o.title FROM observations o JOIN sdk_sessions s
          ON s.memory_session_id = o.memory_session_id WHERE s.content_session_id = ?"""
        return self.rows(sql, session)

    def evidence(self, session: str) -> list[int]:
        sql = """SELECT DISTINCT e.event_id FROM evidence e JOIN events v ON v.id = e.event_id
          JOIN sdk_sessions s ON s.id = v.session_db_id WHERE s.content_session_id = ?"""
        return [row[0] for row in self.rows(sql, session)]

    def log(self) -> str:
        return "".join(p.read_text("utf-8") for p in sorted(self.paths.logs.iterdir()))

    def look(self) -> None:
        """Have the worker look for work, turns that are not over included."""
        self.client.post("/api/pending-queue/process")

    def is_done(self, session: str) -> bool:
        self.look()
        return self.waiting(session) == 0


@pytest.fixture(scope="module")
def home() -> Iterator[Home]:
    with data_dir() as paths, FakeModels([]) as models:
        user = Path(paths.data.parent) / "ann"
        (user / "work").mkdir(parents=True)
        secure_dir(paths.data)
        made = Home(paths, HookHome(paths, install_hook(paths)), user, user / "work")
        made.models = models
        values = {"CLAUDE_MEM_OPENAI_COMPAT_BASE_URL": f"{models.url}/v1",
                  "CLAUDE_MEM_OPENAI_COMPAT_MODEL": "gone-1"}  # fmt: skip
        paths.settings.write_text(json.dumps(values))
        (paths.data / ".env").write_text(f"OPENAI_COMPAT_API_KEY={KEY}\n")
        (paths.data / ".env").chmod(0o600)
        SettingsSource(paths).update({"CLAUDE_MEM_PROVIDER": NAME})
        made.worker = start(paths, env={"HOME": str(user)})
        try:
            yield made
        finally:
            made.worker.stop()


def turn_of(entry: dict[str, Any]) -> Turn:
    reply = entry["reply"]
    return Turn(
        text=reply.get("text", ""), status=reply.get("status", 200), raw=reply.get("raw"),
        headers=reply.get("headers", {}),
    )  # fmt: skip


@pytest.mark.parametrize("entry", ERRORS, ids=[entry["name"] for entry in ERRORS])
def test_nothing_is_lost_and_nothing_is_asked_in_vain(
    home: Home, entry: dict[str, Any]
) -> None:
    session, kind = f"o09-{ERRORS.index(entry)}", entry["kind"]
    home.script(*[turn_of(entry)] * entry["times"], Turn(text=GOOD))
    begun, told = len(home.models.requests), len(home.log())
    for event in EVENTS:
        filled = home.filled({**event, "session_id": session})
        filled["tool_use_id"] += session
        assert b"essage" not in home.hook(filled).out, "hooks stay silent"
    if kind in USER:
        until(lambda: (home.look(), home.standing()["state"] == "held")[1], 60)
        _held(home, entry, session, begun)
        _mend(home, kind)
    until(lambda: home.is_done(session), 90)
    calls = len(home.models.requests) - begun
    assert calls <= 6 + (kind in USER)
    bodies = [json.dumps(r.body["messages"]) for r in home.models.requests[begun:]]
    if kind == "too_long":
        assert len(set(bodies)) == len(bodies), "never the same bytes twice"
    assert len(home.evidence(session)) == 3
    titles = [title for _, title in home.made(session)]
    assert titles
    assert "builtin" not in {maker for maker, _ in home.made(session)}, "nothing stands twice"
    _logged(home.log()[told:], entry)


def _held(home: Home, entry: dict[str, Any], session: str, begun: int) -> None:
    found, kind = home.standing(), entry["kind"]
    assert found["hold"]["failure"] in FAILURE[kind]
    for _ in range(3):
        home.look()
    assert len(home.models.requests) - begun <= 2
    assert home.waiting(session) == 3, "the events still wait for a model"
    assert {maker for maker, _ in home.made(session)} <= {"builtin"}, "rules serve meanwhile"
    notice = found["notice"]
    assert notice.startswith("memory: ")
    assert "run: mem " in notice
    if kind == "model_missing":
        assert "gone-1" in notice
        assert "mem config set openai-compat-model" in notice
    if entry is next(each for each in ERRORS if each["kind"] == kind):
        _shown(home)


def _shown(home: Home) -> None:
    """What people see; once for each kind, since a process costs a second."""
    status = home.mem("status", check=False).stdout
    assert "models    openai-compatible" in status
    assert "held" in status
    checks = json.loads(home.mem("doctor", "--json", check=False).stdout)["checks"]
    cure = [check["cure"] for check in checks if check["topic"] == "models"]
    assert cure[0].startswith("mem ") or "then mem " in cure[0]


def _mend(home: Home, kind: str) -> None:
    """What the product says to run, once the service is good again."""
    home.script(Turn(text=GOOD))
    if kind == "auth":
        assert "answered in" in home.mem("auth", "test", NAME).stdout
    else:
        assert home.client.post(f"/api/providers/{NAME}/test", timeout=60)["ok"]


def _logged(text: str, entry: dict[str, Any]) -> None:
    """One line a failure, with its kind and the service's id; no key, no data."""
    lines = [line for line in text.splitlines() if f"provider {NAME}: " in line]
    failures = [line for line in lines if "WARN" in line and "left alone" not in line]
    assert failures
    assert KEY not in text
    assert "echo step" not in text
    request = entry["reply"].get("headers", {}).get("x-request-id")
    assert request is None or request in failures[0]
