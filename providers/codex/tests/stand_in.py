"""A program in Codex's place: it speaks the app server's protocol as it was recorded."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import attrs
from claude_mem_provider_codex import open_model

from claude_mem_core.types import Message, Reply

PROGRAM = """#!{python}
import json, os, sys, time
calls, events, refused = [], json.loads({events!r}), {refused!r}
home = os.environ.get("CODEX_HOME", "")

def note():
    with open({note!r} + ".part", "w") as file:  # it may be ended while it writes
        json.dump({{"argv": sys.argv[1:], "env": dict(os.environ), "cwd": os.getcwd(),
                   "calls": calls, "config": open(home + "/config.toml").read(),
                   "linked": os.path.islink(home + "/auth.json"), "home": home}}, file)
    os.replace({note!r} + ".part", {note!r})

def say(message):
    print(json.dumps(message), flush=True)

print("no json", flush=True)
for line in sys.stdin:
    message = json.loads(line)
    calls.append(message)
    note()
    method, number = message.get("method"), message.get("id")
    if number is None or method is None:
        continue
    if method == refused:
        say({{"id": number, "error": {{"code": -32600, "message": "no such thing"}}}})
        continue
    results = {{"thread/start": {{"thread": {{"id": "t1"}}, "model": "gpt-recorded"}}}}
    say({{"method": "remoteControl/status/changed", "params": {{"status": "disabled"}}}})
    say({{"id": number, "result": results.get(method, {{}})}})
    if method == "turn/start":
        for event in events:
            if event == "wait":
                time.sleep(600)
            elif event == "end":
                sys.exit(3)
            else:
                say(event)
"""


def jwt() -> str:
    return "eyJhbGciOiJub25lIn0.e30.e30"


@attrs.define
class StandIn:
    """The program, the login beside it, and a note of how it was run."""

    folder: Path

    @property
    def path(self) -> Path:
        return self.folder / "codex"

    @property
    def auth(self) -> Path:
        return self.folder / "home" / "auth.json"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def told(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "note").read_text())
        return found

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "CLAUDE_MEM_CODEX_PATH": str(self.path),
            "CLAUDE_MEM_CODEX_HOME": str(self.auth.parent),
            "CLAUDE_MEM_DATA_DIR": str(self.data),
            "CLAUDE_MEM_CODEX_REASONING_EFFORT": "low",
        }

    def login(self, **changed: Any) -> StandIn:
        """A login with ChatGPT, in a file."""
        self.auth.parent.mkdir(exist_ok=True)
        tokens = {"id_token": jwt(), "access_token": jwt(), "refresh_token": "rt"}
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        login = {"OPENAI_API_KEY": None, "tokens": tokens, "last_refresh": stamp, **changed}
        self.auth.write_text(json.dumps(login))
        return self

    def says(self, *events: Any, refused: str = "") -> StandIn:
        """What it tells after a turn began."""
        note = str(self.folder / "note")
        words = {"python": sys.executable, "note": note, "events": json.dumps(events)}
        self.path.write_text(PROGRAM.format(**words, refused=refused))
        self.path.chmod(0o700)
        return self

    def asked(self, *messages: Message, **settings: Any) -> Reply:
        """What comes of one request."""
        model = open_model({**self.settings, **settings})
        said = messages or (Message(role="user", text="hello"),)
        return anyio.run(lambda: model.reply("Be brief.", said, max_tokens=64))
