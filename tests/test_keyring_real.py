"""A real keyring: the Secret Service of GNOME on a message bus of its own.

Keys go from `mem auth set` into it, and from it through the worker to the service; no file
of ours has them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import open_dbus_connection

from claude_mem_core.paths import Paths
from claude_mem_core.settings import SettingsSource
from claude_mem_core.testing.fake_models import FakeModels
from claude_mem_core.testing.worker import data_dir
from tests.worker_home import until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

NAME = "openai-compatible"
KEY = "sk-planted-0123456789abcdef0123456789abcdef"


def program(name: str) -> str:
    found = shutil.which(name)
    assert found, f"no {name}: run .venv/bin/python tools/debian.py"
    return found


@contextmanager
def running(
    argv: list[str], env: dict[str, str], said: bytes = b""
) -> Iterator[subprocess.Popen[bytes]]:
    """A program beside the test."""
    process = subprocess.Popen(
        argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdin
    assert process.stdout
    process.stdin.write(said)
    process.stdin.close()
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@attrs.frozen
class Person:
    """A home with a keyring that is unlocked, and a data directory."""

    paths: Paths
    env: dict[str, str]

    def mem(self, *words: str, stdin: str = "", code: int = 0) -> str:
        """What `mem` says to this person."""
        done = subprocess.run(
            [sys.executable, "-m", "claude_mem_core.cli.main", *words], input=stdin, env=self.env,
            capture_output=True, text=True, timeout=120, check=False, cwd=self.env["HOME"],
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def row(self) -> dict[str, Any]:
        """What `mem auth list` says of the provider."""
        rows = json.loads(self.mem("auth", "list", "--json"))["providers"]
        (found,) = [row for row in rows if row["name"] == NAME]
        return dict(found)


@pytest.fixture
def person() -> Iterator[Person]:
    with data_dir() as paths:
        home, run = paths.data.parent / "ann", paths.data.parent / "run"
        for folder in (home, run, paths.data):
            folder.mkdir(mode=0o700)
        env = {
            "PATH": os.environ["PATH"], "HOME": str(home), "XDG_RUNTIME_DIR": str(run),
            "CLAUDE_MEM_DATA_DIR": str(paths.data),
        }  # fmt: skip
        bus = [program("dbus-daemon"), "--session", "--nofork", "--print-address"]
        with running(bus, env) as dbus:
            assert dbus.stdout
            env["DBUS_SESSION_BUS_ADDRESS"] = address = dbus.stdout.readline().decode().strip()
            ring = [program("gnome-keyring-daemon"), "--foreground", "--unlock"]
            with running([*ring, "--components=secrets"], env, b"a password\n"):
                until(lambda: is_served(address), 60)
                made = Person(paths, env)
                yield made
                made.mem("stop")


def is_served(address: str) -> bool:
    """Whether somebody on the bus keeps secrets."""
    with open_dbus_connection(bus=address) as bus:
        answer = bus.send_and_get_reply(message_bus.NameHasOwner("org.freedesktop.secrets"))
    return bool(answer.body[0])


def holding(folder: Path, text: str) -> list[Path]:
    """Files below a folder that have a text in them."""
    files = (Path(top) / name for top, _, names in os.walk(folder) for name in names)
    return [file for file in files if file.is_file() and text.encode() in file.read_bytes()]


def test_a_key_goes_through_the_systems_keyring_to_its_service(person: Person) -> None:
    with FakeModels([], side="ready") as models:
        values = {"OPENAI_COMPAT_BASE_URL": f"{models.url}/v1", "OPENAI_COMPAT_MODEL": "small"}
        text = json.dumps({f"CLAUDE_MEM_{key}": value for key, value in values.items()})
        person.paths.settings.write_text(text)
        SettingsSource(person.paths).update({"CLAUDE_MEM_PROVIDER": NAME})
        assert "the system's keyring" in person.mem("auth", "set", NAME, stdin=KEY)
        assert (person.row()["where"], person.row()["lacks"]) == ("keyring", "")
        assert "answered in" in person.mem("auth", "test", NAME)
        (request,) = models.requests
        assert request.headers["authorization"] == f"Bearer {KEY}"
        assert not (person.paths.data / ".env").exists()
        assert holding(person.paths.data.parent, KEY) == [], "the keyring is encrypted"
        assert "removed:" in person.mem("auth", "remove", NAME)
        assert person.row()["keys"] == 0
        person.mem("auth", "remove", NAME, code=1)
