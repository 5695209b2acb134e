"""The agent that is run, the loopback observer, and the two together."""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import anyio
import pytest
from claude_mem_provider_host import address, lacks, open_model
from claude_mem_provider_host.agent import AGENTS, argv
from claude_mem_provider_host.shim import application, only_xml, serve

from claude_mem_core.errors import Failure, ProviderError, UsageError
from claude_mem_core.testing import FakeModels
from claude_mem_core.types import Message, Reply

COMMAND, PORT = "CLAUDE_MEM_HOST_OBSERVER_COMMAND", "CLAUDE_MEM_HOST_OBSERVER_PORT"
SEEN = "<observation><title>seen</title></observation>"
PROGRAM = """#!{python}
import json, os, sys, time
told = sys.stdin.read()
json.dump({{"told": told, "env": dict(os.environ), "cwd": os.getcwd(), "argv": sys.argv[1:]}},
          open({note!r}, "w"))
{code}
"""


class Agent:
    """A program that stands in for a logged-in agent."""

    def __init__(self, folder: Path) -> None:
        self.path, self.note, self.data = folder / "agent", folder / "note", folder / "data"

    def does(self, code: str) -> Agent:
        words = {"python": sys.executable, "note": str(self.note), "code": code}
        self.path.write_text(PROGRAM.format(**words))
        self.path.chmod(0o700)
        return self

    @property
    def settings(self) -> dict[str, Any]:
        return {COMMAND: f"{self.path} --quiet", "CLAUDE_MEM_DATA_DIR": str(self.data)}

    @property
    def noted(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.note.read_text())
        return found


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path).does(f"print({SEEN!r})")


def asked(settings: dict[str, Any], *messages: Message) -> Reply:
    said = messages or (Message(role="user", text="hello"),)

    async def ask() -> Reply:
        model = open_model(settings)
        try:
            return await model.reply("Be brief.", said, max_tokens=64)
        finally:
            await model.aclose()

    return anyio.run(ask)


def failed(settings: dict[str, Any]) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        asked(settings)
    return caught.value


# The agent that is run ----------------------------------------------------------------


def test_the_agent_is_asked_on_stdin(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "planted")
    reply = asked(agent.settings, Message(role="user", text="PRIVATE-TEXT"))
    noted = agent.noted
    assert reply.text == SEEN
    assert reply.usage.input_tokens > 0
    assert noted["told"] == "Be brief.\n\nPRIVATE-TEXT"
    assert noted["argv"] == ["--quiet"]
    assert "planted" not in noted["env"].values()
    assert Path(noted["cwd"]).samefile(agent.data / "observer" / "host")


@pytest.mark.parametrize(
    ("code", "failure"),
    [
        ("sys.exit(4)", Failure.UNUSABLE),
        ("print('')", Failure.UNUSABLE),
        ("print('Not logged in · Please run /login')", Failure.KEY_REFUSED),
        ('sys.stderr.write("You\'ve hit your usage limit"); sys.exit(1)', Failure.QUOTA),
        ("time.sleep(600)", Failure.TIMEOUT),
    ],
)
def test_an_agent_that_fails(agent: Agent, code: str, failure: Failure) -> None:
    agent.does(code)
    error = failed({**agent.settings, "CLAUDE_MEM_LLM_TIMEOUT_MS": 1_500})
    assert error.failure is failure


@pytest.mark.parametrize("command", ["/nowhere/agent", "'", "no-such-program-at-all -p"])
def test_an_agent_that_is_not_there(command: str) -> None:
    assert "mem config set host-observer-command" in lacks({COMMAND: command})


def test_what_is_known_by_name(agent: Agent) -> None:
    assert argv("gemini")[0] == "gemini"
    assert argv("agent --flag 'two words'") == ["agent", "--flag", "two words"]
    assert all(
        "{" not in word or json.loads(word) for words in AGENTS.values() for word in words
    )
    assert (lacks(agent.settings), lacks({})) == ("", "")
    assert address(agent.settings) == ""
    assert address({}) == "http://127.0.0.1:37778/v1"


# The loopback observer ----------------------------------------------------------------


@contextmanager
def shim(agent: Agent, timeout_s: float = 60) -> Iterator[int]:
    """A running loopback observer; its port."""
    import uvicorn

    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(16)  # whoever comes before it serves waits
    app = application(str(agent.path), timeout_s, agent.settings)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
    serving = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    serving.start()
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        serving.join(30)
        listening.close()


def test_both_ends_together(agent: Agent) -> None:
    with shim(agent) as port:
        reply = asked({PORT: port})
    assert (reply.text, reply.model) == (SEEN, "host")
    assert "Be brief." in agent.noted["told"]


@pytest.mark.parametrize(
    ("code", "failure"),
    [
        ("print('I am still observing.')", Failure.UNUSABLE),
        ("time.sleep(600)", Failure.TIMEOUT),
        ("print('Not logged in · Please run /login')", Failure.KEY_REFUSED),
        ("sys.exit(4)", Failure.OUTAGE),
    ],
)
def test_failures_come_through(agent: Agent, code: str, failure: Failure) -> None:
    agent.does(code)
    with shim(agent, timeout_s=1.5) as port:
        assert failed({PORT: port}).failure is failure


def post(port: int, body: Any, **headers: str) -> Any:
    import httpx2

    url = f"http://127.0.0.1:{port}/v1/chat/completions"
    kind = {"Content-Type": "application/json", **headers}
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return httpx2.post(url, content=data, headers=kind, timeout=60)


TALK = {"messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}]}


def test_prose_and_slowness_are_skips_and_no_errors(agent: Agent) -> None:
    with shim(agent.does("print('Hm.')")) as port:
        answer = post(port, TALK)
    assert answer.status_code == 200
    message = answer.json()["choices"][0]["message"]
    assert message["content"] == '<skip_summary reason="prose" />'
    with shim(agent.does("time.sleep(600)"), timeout_s=1) as port:
        answer = post(port, TALK)
    assert answer.status_code == 200
    assert 'reason="timeout"' in answer.json()["choices"][0]["message"]["content"]


def test_pages_and_strangers_are_not_answered(agent: Agent) -> None:
    with shim(agent) as port:
        assert post(port, TALK, Origin="http://localhost:3000").status_code == 403
        assert post(port, TALK, **{"Content-Type": "text/plain"}).status_code == 403
        assert post(port, TALK, Host="evil.example").status_code == 400
        for body in (
            b"{",
            {},
            {"messages": [1]},
            {"messages": [{"role": "system", "content": ""}]},
        ):
            assert post(port, body).status_code == 400
        assert not agent.note.exists()
        with urlopen(f"http://127.0.0.1:{port}/health") as answer:
            assert json.load(answer) == {"status": "ok"}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"Here it is:\n```xml\n{SEEN}\n```", SEEN),
        (f"{SEEN}\n{SEEN}", f"{SEEN}\n{SEEN}"),
        ('<skip_summary reason="noise" />', '<skip_summary reason="noise" />'),
        ("still observing", '<skip_summary reason="prose" />'),
        ("", '<skip_summary reason="prose" />'),
    ],
)
def test_only_xml(text: str, kept: str) -> None:
    assert only_xml(text) == kept


def test_a_port_that_is_taken() -> None:
    with FakeModels([]) as models, pytest.raises(UsageError, match="--port"):
        serve(sys.executable, models.port, 1)
    with pytest.raises(UsageError, match="--agent"):
        serve("/nowhere/agent", 0, 1)
