"""The part that all plugins inside of hosts share: deadlines, and nothing thrown."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs
import pytest

from claude_mem_core.editing.inprocess import MARK, script
from tools import hosts

OPENCLAW = Path(__file__).parents[1] / "hosts/openclaw/src/claude_mem_host_openclaw/plugin.mjs"

# A Node is needed, which comes with the programs of the hosts.
pytestmark = [pytest.mark.real_host, pytest.mark.slow]

PART = """
const patient = process.argv[2] === "patient"
const began = performance.now()
const said = await tell("an event", () => ({ words: "ü `touch PWNED`" }), patient)
const broken = await tell("broken", () => { throw new Error("no payload") })
const kept = await safe(async () => { throw new Error("a fault") })()
await settled()
console.log(JSON.stringify({ said, broken, kept: kept ?? null, ms: performance.now() - began }))
"""


@attrs.frozen
class Stage:
    """A data directory, a client that notes what it is given, and what runs the script."""

    data: Path
    runtime: str

    @property
    def noted(self) -> Path:
        return self.data / "noted"

    def client(self) -> list[str]:
        source = (
            "import json, pathlib, sys\n"
            f"path = pathlib.Path({str(self.noted)!r})\n"
            "text = json.dumps([sys.argv[1:], sys.stdin.read()])\n"
            "path.with_suffix('.new').write_text(text)\n"
            "path.with_suffix('.new').rename(path)\n"
            "print('from the client', end='')\n"
        )
        (self.data / "client.py").write_text(source)
        return [sys.executable, str(self.data / "client.py")]

    def run(self, *args: str, argv: list[str] | None = None) -> dict[str, object]:
        """Run a plugin that tells one event; what came of it."""
        file = self.data / "plugin.mjs"
        argv = self.client() if argv is None else argv
        file.write_bytes(script("sample", str(self.data), argv, PART))
        done = subprocess.run(
            [str(hosts.ensure(self.runtime)), str(file), *args],
            cwd=self.data, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        assert not list(self.data.rglob("PWNED*"))
        found: dict[str, object] = json.loads(done.stdout)
        assert (found["broken"], found["kept"]) == ("", None)
        return found

    def handed(self) -> tuple[list[str], object]:
        """What the client was given, once it was."""
        end = time.monotonic() + 30
        while not self.noted.exists():
            assert time.monotonic() < end, "the client was not started"
            time.sleep(0.05)
        words, body = json.loads(self.noted.read_text())
        return words, json.loads(body)

    @contextmanager
    def worker(self, answer: bytes, *, hang: bool = False) -> Iterator[list[bytes]]:
        """A stand-in that answers each request so, and keeps what it was sent."""
        seen: list[bytes] = []
        open_links: list[socket.socket] = []
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(self.data / "w.sock"))
            server.listen()

            def serve() -> None:
                while True:
                    try:
                        link, _ = server.accept()
                    except OSError:
                        return
                    link.settimeout(10)
                    seen.append(_request(link))
                    link.sendall(answer)
                    open_links.append(link)
                    if not hang:
                        link.close()

            threading.Thread(target=serve, daemon=True).start()
            try:
                yield seen
            finally:
                server.shutdown(socket.SHUT_RDWR)
                for link in open_links:
                    link.close()


def _request(link: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        data += link.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    lines = [line.lower() for line in head.split(b"\r\n")]
    sizes = [int(line[15:]) for line in lines if line.startswith(b"content-length:")]
    size = sizes[0] if sizes else 0
    while len(body) < size:
        body += link.recv(65536)
    return head + b"\r\n\r\n" + body


def ok(text: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(text), text)


@pytest.fixture(params=["node", "bun"])
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    """Once for each runtime that a host of ours has."""
    with TemporaryDirectory(prefix="mem-") as folder:
        yield Stage(Path(folder), request.param)


def test_the_worker_is_told_and_its_answer_given(stage: Stage) -> None:
    with stage.worker(ok("context ü".encode())) as seen:
        assert stage.run("patient")["said"] == "context ü"
    head, _, body = seen[0].partition(b"\r\n\r\n")
    assert json.loads(body) == {"words": "ü `touch PWNED`"}
    lines = head.lower().split(b"\r\n")
    assert lines[0] == b"post /hook http/1.1"
    assert {b"x-mem-host: sample", b"x-mem-event: an%20event"} <= set(lines)
    assert not stage.noted.exists()


@pytest.mark.parametrize("patient", [True, False])
def test_without_a_worker_the_client_is_given_it(stage: Stage, patient: bool) -> None:
    said = stage.run("patient" if patient else "quick")["said"]
    words, body = stage.handed()
    assert words == ["sample", "an event", *(["--wait", "3"] if patient else [])]
    assert body == {"words": "ü `touch PWNED`"}
    assert said == ("from the client" if patient else "")


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"])
def test_a_worker_that_hangs_is_left_at_the_deadline(stage: Stage, answer: bytes) -> None:
    with stage.worker(answer, hang=True):
        found = stage.run("quick")
    assert found["said"] == ""
    assert stage.handed()[1] == {"words": "ü `touch PWNED`"}


def test_nobody_waits_twice_for_a_worker_that_hangs(stage: Stage) -> None:
    with stage.worker(b"", hang=True):
        assert stage.run("patient")["said"] == ""
    assert stage.handed()[0] == ["sample", "an event"], "the client is not asked to wait"


def test_a_worker_known_to_hang_is_not_waited_for(stage: Stage) -> None:
    (stage.data / "mute").touch()
    with stage.worker(b"", hang=True):
        assert stage.run("patient")["said"] == ""
    assert stage.handed()[0] == ["sample", "an event"]


def test_an_event_that_the_worker_refuses_goes_to_the_client(stage: Stage) -> None:
    with stage.worker(b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n"):
        assert stage.run("patient")["said"] == "from the client"


def test_what_is_no_answer_is_none(stage: Stage) -> None:
    with stage.worker(b"nonsense\r\n\r\n"):
        assert stage.run("patient")["said"] == "from the client"


@pytest.mark.parametrize("argv", [["/nowhere/python"], ["/bin/false"]])
def test_even_a_client_that_is_gone_throws_nothing(stage: Stage, argv: list[str]) -> None:
    assert stage.run("patient", argv=argv)["said"] == ""


CLAW = """
const commands = {}
const handlers = {}
const api = {
  on: (name, handler) => { handlers[name] = handler },
  registerCommand: (command) => { commands[command.name] = command },
  registerService: () => undefined,
  logger: { info: () => undefined },
}
plugin.register(api)
const said = await commands.claude_mem_status.handler({})
const given = await handlers.before_prompt_build({ prompt: "x" }, { sessionId: "s", workspaceDir: "/w" })
console.log(JSON.stringify({ said, given: given ?? null }))
"""


def claw(stage: Stage) -> dict[str, Any]:
    """Load OpenClaw's plugin as OpenClaw does, with its own part stood in for."""
    entry = stage.data / "node_modules" / "openclaw" / "plugin-sdk"
    entry.mkdir(parents=True)
    (entry.parent / "package.json").write_text(
        '{"type": "module", "exports": {"./plugin-sdk/*": "./plugin-sdk/entry.js"}}'
    )
    (entry / "entry.js").write_text(
        "export const definePluginEntry = (entry) => entry\n"
        "export const sendDurableMessageBatch = async () => ({ status: 'sent' })\n"
    )
    feed = OPENCLAW.with_name("feed.mjs").read_text()
    part = OPENCLAW.read_text().replace("export default definePluginEntry(", "const plugin = (")
    file = stage.data / "plugin.mjs"
    file.write_bytes(script("openclaw", str(stage.data), stage.client(), part + feed + CLAW))
    done = subprocess.run(
        [str(hosts.ensure(stage.runtime)), str(file)],
        cwd=stage.data, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_chat_command_says_how_the_memory_does(stage: Stage) -> None:
    with stage.worker(ok(b'{"status": "ok", "version": "1.2.3", "recording": true}')):
        assert claw(stage)["said"]["text"].startswith("claude-mem 1.2.3: recording.")


def test_without_a_worker_the_chat_command_says_the_cure(stage: Stage) -> None:
    found = claw(stage)
    assert "`mem start`" in found["said"]["text"]
    assert found["given"] == {"prependContext": "from the client"}


def test_every_script_begins_with_the_mark() -> None:
    text = script("sample", '/a "b"\u2028c', ["x"], "")
    assert text.startswith(MARK)
    assert "\u2028".encode() not in text
