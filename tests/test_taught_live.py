"""A program of our own, taught with one file, remembers: its commands, a real worker."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from tests.hosts.live import Live, eventually

pytestmark = pytest.mark.slow

FILE = Path(__file__).parent / "taught" / "my-agent.toml"
SHELL = "`touch PWNED` $(touch PWNED) '; touch PWNED; \" && touch PWNED"


@attrs.frozen
class Agent:
    """A program that runs the commands of its own settings, each with its JSON."""

    live: Live
    session: str

    def tell(self, event: str, **payload: Any) -> str:
        """What the command printed."""
        file = self.live.home / ".my-agent" / "settings.json"
        (entry,) = json.loads(file.read_bytes())["on"][event]
        shop = str(self.live.home / "shop")
        body = {"conversation": {"id": self.session, "folders": [shop]}, **payload}
        done = subprocess.run(
            ["/bin/sh", "-c", entry["run"]], input=json.dumps(body), env=self.live.env,
            cwd=shop, capture_output=True, text=True, timeout=30, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def turn(self, prompt: str) -> None:
        """A prompt, an edit, a test run, an answer."""
        edit = {"file_path": "cart.py", "old_string": "1.9", "new_string": "1.19"}
        self.tell("asked", message={"number": 1, "parts": [{"text": prompt}]})
        self.tell(
            "tool-after", call={"id": "1", "name": "Edit", "arguments": edit, "result": "ok"}
        )
        run = {
            "id": "2",
            "name": "Bash",
            "arguments": {"command": "make test"},
            "result": "passed",
        }
        self.tell("tool-after", call=run)
        self.tell(
            "answered", message={"content": "The cart charges 19 % tax: cart.py had 1.9."}
        )


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    live = Live(tmp_path_factory.mktemp("t") / "home", host=str(FILE))
    (live.home / "shop").mkdir(parents=True)
    live.start()
    yield live
    live.mem("stop")


def test_one_file_is_enough_to_remember(live: Live) -> None:
    first = Agent(live, "one")
    assert json.loads(first.tell("begin"))["ok"] is True
    first.turn(f"mend the tax in the cart {SHELL}")
    assert eventually(lambda: live.rows("SELECT title FROM observations") != [], 30), (
        live.logs()
    )
    (prompt,) = live.rows("SELECT prompt_text FROM user_prompts")
    assert prompt[0] == f"mend the tax in the cart {SHELL}"
    assert list(live.home.rglob("PWNED")) == []
    said = json.loads(Agent(live, "two").tell("begin"))
    (title,) = live.rows("SELECT title FROM observations LIMIT 1")
    assert title[0] in said["inject"]["text"]
    assert "my-agent" in json.loads(live.mem("status", "--json"))["connected"]


def test_it_goes_again(live: Live) -> None:
    gone = json.loads(live.mem("uninstall", "--ide", "my-agent", "--json"))
    assert [row["state"] for row in gone["hosts"]] == ["uninstalled"]
    assert not (live.home / ".my-agent").exists()
    live.mem("install", "--ide", str(FILE))
    assert (live.home / ".my-agent" / "settings.json").exists()
    assert (live.home / ".my-agent" / "servers.json").exists()


READER = """
name = "reader"
title = "Reader"
[mcp]
file = "~/.reader/mcp.json"
"""


@pytest.mark.parametrize(
    ("host", "file"),
    [("claude-desktop", ".config/Claude/claude_desktop_config.json"),
     ("reader", ".reader/mcp.json")],
)  # fmt: skip
def test_a_program_with_mcp_only_can_search(live: Live, host: str, file: str) -> None:
    path = live.home / "reader.toml"
    path.write_text(READER)
    live.mem("mcp", "install", "--ide", host if host != "reader" else str(path))
    entry = json.loads((live.home / file).read_bytes())["mcpServers"]["claude-mem"]
    asked = [
        {"method": "initialize", "id": 1, "params": {"protocolVersion": "2025-06-18"}},
        {"method": "tools/call", "id": 2, "params": {"name": "search", "arguments": {}}},
    ]
    lines = "".join(json.dumps({"jsonrpc": "2.0", **one}) + "\n" for one in asked)
    done = subprocess.run(
        [entry["command"], *entry["args"]], input=lines, env=live.env, cwd="/",
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    said = {one["id"]: one["result"] for one in map(json.loads, done.stdout.splitlines())}
    assert said[1]["serverInfo"]["name"]
    assert said[2]["content"][0]["type"] == "text"
    rows = json.loads(live.mem("mcp", "status", "--json", "--ide", host))["hosts"]
    assert [row["registered"] for row in rows] == [True]
    live.mem("mcp", "remove", "--ide", host)
    assert not (live.home / file).exists()
