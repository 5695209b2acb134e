"""A real OpenClaw gateway with a Telegram chat: the feed of new observations, and its commands."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Iterator

import pytest

from claude_mem_core.testing.fake_models import FakeModels
from tests.e2e.agents import OpenClaw, Place
from tests.e2e.story import MARKS
from tests.e2e.telegram import USER, Telegram, telegram
from tests.worker_home import until

pytestmark = MARKS

START_S = 170


@pytest.fixture(scope="module")
def chat() -> Iterator[Telegram]:
    with telegram() as made:
        yield made


@pytest.fixture(scope="module")
def claw(chat: Telegram, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenClaw]:
    """The gateway with our plugin and the chat, once it listens."""
    place = Place(tmp_path_factory.mktemp("cf")).make()
    with FakeModels([]) as models:
        agent = OpenClaw(place, models)
        agent.configure()
        place.mem("install", "--ide", "openclaw", "--yes")
        connect(agent, chat)
        place.mem("start")
        env = {name: value for name, value in agent.env.items() if "CHANNELS" not in name}
        with (place.root / "gateway.log").open("w") as log:
            gateway = subprocess.Popen(
                [agent.program, "gateway", "--port", free_port()], env=env, cwd=place.project,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
        try:
            until(lambda: chat.polled or gateway.poll() is not None, START_S)
            assert gateway.poll() is None, (place.root / "gateway.log").read_text()[-2000:]
            connected(chat)
            yield agent
        finally:
            gateway.terminate()
            gateway.wait(60)
            place.mem("stop")


def free_port() -> str:
    """The number of a port that nobody has."""
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return str(made.getsockname()[1])


def connect(agent: OpenClaw, chat: Telegram) -> None:
    """Write the chat and the feed into its config, as its user would."""
    config = json.loads(agent.config.read_text())
    config["channels"] = {
        "telegram": {
            "enabled": True, "botToken": "123:dummy", "apiRoot": chat.url,
            "dmPolicy": "allowlist", "allowFrom": [str(USER)],
            "network": {"dangerouslyAllowPrivateNetwork": True},
        }
    }  # fmt: skip
    feed = {"enabled": True, "channel": "telegram", "to": str(USER)}
    config["plugins"]["entries"]["claude-mem"]["config"] = {"observationFeed": feed}
    agent.config.write_text(json.dumps(config, indent=2))


def asked(chat: Telegram, command: str) -> str:
    """What the bot answers to a command."""
    count = len(chat.said)
    chat.say(command)
    until(lambda: len(chat.said) > count, 60)
    return chat.said[-1]


def connected(chat: Telegram) -> None:
    """Wait until the feed follows the worker."""
    until(lambda: "Connection: connected" in asked(chat, "/claude_mem_feed"), 60)


def test_the_feed_and_its_commands(claw: OpenClaw, chat: Telegram) -> None:
    said = asked(chat, "/claude_mem_feed")
    for line in ("Enabled: yes", "Channel: telegram", f"Target: {USER}", "Connection: connected"):
        assert line in said
    assert "recording" in asked(chat, "/claude_mem_status")

    claw.place.mem("remember", "The cart charges 19 % tax")
    until(lambda: any("The cart charges 19 % tax" in text for text in chat.said), 60)
    text = next(text for text in chat.said if "The cart charges" in text)
    assert text.startswith("\N{BRAIN} claude-mem, shop\n<b>The cart charges 19 % tax</b>")

    assert "Enabled: no" in asked(chat, "/claude_mem_feed off")
    claw.place.mem("remember", "Nobody is told of the opalstoat")
    assert "Enabled: yes" in asked(chat, "/claude_mem_feed on")
    connected(chat)
    claw.place.mem("remember", "The checkout is slow")
    until(lambda: any("The checkout is slow" in text for text in chat.said), 60)
    assert not any("opalstoat" in text for text in chat.said), "nothing of the time between"
    assert "Use `/claude_mem_feed`" in asked(chat, "/claude_mem_feed maybe").replace(
        "<code>", "`"
    ).replace("</code>", "`")
