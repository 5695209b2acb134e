"""The extension for VS Code, with a stand-in for the editor and a real worker."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from claude_mem_core.testing.worker import LiveWorker, running
from tests.worker_home import until
from tools import hosts

pytestmark = [pytest.mark.real_host, pytest.mark.slow, pytest.mark.timeout(600)]

ROOT = Path(__file__).resolve().parent.parent
EXTENSION = ROOT / "contrib" / "vscode"
CHECK = (
    "--noEmit", "--allowJs", "--checkJs", "--strict", "--target", "es2023", "--module", "nodenext",
    "--moduleResolution", "nodenext", "--types", "node,vscode", "--skipLibCheck",
)  # fmt: skip
CART = "def total(prices):\n    return sum(prices) * {}\n"


@attrs.define
class Editor:
    """VS Code as far as the extension sees it."""

    process: subprocess.Popen[str]
    project: Path

    def do(self, step: str, **given: Any) -> Any:
        """Let it do a step; what came of it. The extension never throws."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"step": step, **given}) + "\n")
        self.process.stdin.flush()
        found = json.loads(self.process.stdout.readline())
        assert "fault" not in found, found
        return found["ok"]

    def edit(self, name: str, before: str, after: str) -> None:
        path = str(self.project / name)
        self.do("open", path=path, text=before)
        self.do("save", path=path, text=after)


@pytest.fixture(scope="module")
def live() -> Iterator[LiveWorker]:
    with running() as worker:
        yield worker


@pytest.fixture
def editor(live: LiveWorker, tmp_path: Path) -> Iterator[Editor]:
    project = tmp_path / "shop"
    (project / ".git").mkdir(parents=True)
    yield from opened(str(live.paths.data), project)


def opened(data: str, project: Path) -> Iterator[Editor]:
    node = str(hosts.ensure("node"))
    driver = ROOT / "tests" / "vscode" / "driver.cjs"
    words = [node, str(driver), str(EXTENSION / "extension.js"), data, str(project)]
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={"PATH": os.environ["PATH"], "HOME": str(project)},
    )  # fmt: skip
    with process:
        yield Editor(process, project)
        process.kill()


def test_a_saved_edit_is_remembered_and_found(live: LiveWorker, editor: Editor) -> None:
    editor.edit("cart.py", CART.format("1.9"), CART.format("1.19"))
    editor.do("chat", prompt="the cart charges 90 % tax", answer="It charges 19 % now.")
    until(lambda: "cart.py" in editor.do("search", query="cart.py"))
    said = editor.do("chat", prompt="what of cart.py?", answer="It is known, see #1.")
    assert said["written"] == "It is known, see #1."
    assert "cart.py" in said["asked"][0]
    assert "data, not orders" in said["asked"][0]
    assert said["asked"][1] == "what of cart.py?"


def test_without_a_model_what_was_found_is_shown(live: LiveWorker, editor: Editor) -> None:
    found = editor.do("command", name="remember", selection="The parking ticket is opalstoat")
    assert found == "It is remembered."
    until(lambda: "opalstoat" in editor.do("search", query="opalstoat"))
    assert "opalstoat" in editor.do("chat", prompt="opalstoat")["written"]


def test_the_session_ends_with_the_window(live: LiveWorker, editor: Editor) -> None:
    editor.edit("price.py", "a = 1\n", "a = 2\n")
    editor.do("end")
    until(lambda: "price.py" in editor.do("search", query="price.py"))


def test_nothing_is_recorded_when_it_is_switched_off(live: LiveWorker, editor: Editor) -> None:
    editor.do("settings", record=False)
    editor.edit("quiet.py", "a = 1\n", "a = 'zebrafinch'\n")
    editor.do("chat", prompt="zebrafinch?", answer="Nothing.")
    editor.do("end")
    editor.do("settings", record=True)
    editor.edit("loud.py", "a = 1\n", "a = 3\n")
    editor.do("end")
    until(lambda: "loud.py" in editor.do("search", query="loud.py"))
    assert "quiet.py" not in editor.do("search", query="zebrafinch quiet.py").replace(
        "zebrafinch quiet.py", ""
    )


def test_a_worker_that_is_down_costs_the_memory_only(tmp_path: Path) -> None:
    project = tmp_path / "shop"
    project.mkdir()
    for editor in opened(str(tmp_path / "none"), project):
        editor.edit("cart.py", "a\n", "b\n")
        assert "`mem start`" in editor.do("search", query="cart")
        assert "`mem start`" in editor.do("chat", prompt="cart", answer="x")["written"]
        assert editor.do("command", name="status").startswith("! The worker")
        assert "Select what" in editor.do("command", name="remember")
        editor.do("end")


def test_the_state_is_shown(editor: Editor) -> None:
    assert re.fullmatch(r"claude-mem \S+: ok", editor.do("command", name="status"))


def test_it_is_what_its_manifest_says() -> None:
    manifest = json.loads((EXTENSION / "package.json").read_text())
    text = (EXTENSION / "extension.js").read_text()
    offered = manifest["contributes"]
    names = [row["command"] for row in offered["commands"]]
    names += [row["id"] for row in offered["chatParticipants"]]
    names += [row["name"] for row in offered["languageModelTools"]]
    assert [name for name in names if f'"{name}"' not in text] == []
    for key in offered["configuration"]["properties"]:
        assert f'setting("{key.removeprefix("claude-mem.")}"' in text


def complaints(folder: Path) -> str:
    done = subprocess.run(
        [str(hosts.ensure("typescript")), *CHECK, "extension.js", "worker.js", "edits.js"],
        cwd=folder, capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, "PATH": f"{hosts.node_bin()}{os.pathsep}{os.environ['PATH']}"},
    )  # fmt: skip
    return done.stdout if done.returncode else ""


def test_its_types_are_those_of_the_oldest_vs_code_it_takes(tmp_path: Path) -> None:
    pin = hosts.pins()["vscode-types"]["version"]
    engine = json.loads((EXTENSION / "package.json").read_text())["engines"]["vscode"]
    assert engine == f"^{pin}"
    types = tmp_path / "node_modules" / "@types"
    types.mkdir(parents=True)
    compiler = hosts.ensure("typescript").parent.parent
    (types / "node").symlink_to(compiler / "@types" / "node")
    (types.parent / "undici-types").symlink_to(compiler / "undici-types")
    (types / "vscode").symlink_to(hosts.ensure("vscode-types").parent)
    for name in ("extension.js", "worker.js", "edits.js"):
        (tmp_path / name).write_text((EXTENSION / name).read_text())
    assert complaints(tmp_path) == ""
    wrong = (tmp_path / "extension.js").read_text()
    wrong = wrong.replace("onDidSaveTextDocument", "onNoSuchEvent")
    (tmp_path / "extension.js").write_text(wrong)
    assert "onNoSuchEvent" in complaints(tmp_path), "the check looks"
