"""Whose memories a client reads, what it may write, and who brings further tools."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import attrs
import pytest

from claude_mem_core.edge import install_hook
from claude_mem_core.mcp.asker import Asker
from claude_mem_core.mcp.server import answer
from claude_mem_core.paths import Paths
from claude_mem_core.settings import SettingsSource
from claude_mem_core.testing.fake_site import FakeSite
from claude_mem_core.testing.worker import LiveWorker, data_dir, start
from claude_mem_core.worker.spec import Call
from tests.cli_run import mem
from tests.mcp_kit import Said, call
from tests.worker_home import until

SHOP, PAY = "marker-shopfish", "marker-payowl"


def repository(folder: Path) -> None:
    """What makes a directory a repository, without git."""
    for name in ("objects", "refs"):
        (folder / ".git" / name).mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "src").mkdir()


@attrs.frozen
class Scene:
    """Two repositories with a memory each, and a worker."""

    live: LiveWorker
    shop: Path
    pay: Path

    def ask(self, tool: str, cwd: Path | str, **arguments: Any) -> Said:
        return call(self.live, "stdio", tool, cwd=str(cwd), **arguments)

    def ids(self, cwd: Path | str, **arguments: Any) -> set[str]:
        said = self.ask("search", cwd, query="marker", **arguments)
        return set(re.findall(r"marker-\w+", said.text))


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    with data_dir() as paths:
        work = paths.data.parent
        shop, pay = work / "shop", work / "pay"
        for folder in (shop, pay):
            repository(folder)
        install_hook(paths)
        live = start(paths)
        for folder, word in ((shop, SHOP), (pay, PAY)):
            body = {"text": f"The {word} lives here", "cwd": str(folder)}
            assert live.ask("POST", "/api/memory/save", body).json["success"]
        made = Scene(live, shop, pay)
        try:
            yield made
        finally:
            live.stop()


def test_a_client_reads_its_own_project(scene: Scene) -> None:
    assert scene.ids(scene.shop) == {SHOP}
    assert scene.ids(scene.shop / "src") == {SHOP}
    assert scene.ids(scene.pay) == {PAY}
    assert scene.ids(scene.shop, project="shop") == {SHOP}


def test_outside_of_projects_all_is_open(scene: Scene) -> None:
    assert scene.ids("/") == {SHOP, PAY}
    assert scene.ids("/", project="pay") == {PAY}
    assert scene.ids("/", project="*") == {SHOP, PAY}


@pytest.mark.parametrize("name", ["pay", "*", "all", "2", "no-such-project"])
@pytest.mark.parametrize(
    ("tool", "more"),
    [
        ("search", {"query": "marker"}), ("timeline", {"anchor": "2"}),
        ("get_observations", {"ids": [2]}), ("get_tool_uses", {"ids": ["x"]}),
        ("session_start_context", {}), ("remember", {"text": "planted"}),
        ("work_state_read", {}), ("work_state_write", {"tasks": [{"task": "planted"}]}),
    ],
)  # fmt: skip
def test_no_other_project_is(scene: Scene, name: str, tool: str, more: dict[str, Any]) -> None:
    said = scene.ask(tool, scene.shop, project=name, **more)
    assert said.failed
    assert "mem mcp allow claude-code --all-projects" in said.text
    assert PAY not in said.text


def test_several_projects_at_once_are_searched_where_all_are_open(scene: Scene) -> None:
    both = ["shop", "pay"]
    assert scene.ids("/", projects=both) == {SHOP, PAY}
    assert scene.ids("/", projects=["pay"]) == {PAY}
    assert scene.ids("/", projects="shop,*") == {SHOP, PAY}
    assert scene.ids(scene.shop, projects=["shop"]) == {SHOP}
    said = scene.ask("search", scene.shop, query="marker", projects=both)
    assert (said.failed, PAY in said.text) == (True, False)


def test_ids_of_another_project_are_as_unknown_ones(scene: Scene) -> None:
    said = scene.ask("get_observations", scene.shop, ids=[1, 2])
    assert SHOP in said.text
    assert PAY not in said.text
    assert "Observation IDs not found: [2]" in said.text
    assert "not found" in scene.ask("timeline", scene.shop, anchor="2").text
    assert PAY not in scene.ask("timeline", scene.shop, query=PAY).text


def test_the_user_opens_all_projects_to_a_client(scene: Scene) -> None:
    data = scene.live.paths.data
    said = mem(data, "mcp", "allow", "claude-code", "--all-projects")
    assert (said.code, said.out) == (0, "CLAUDE_MEM_MCP_ALL_PROJECTS=claude-code\n")
    try:
        assert scene.ids(scene.shop, project="*") == {SHOP, PAY}
        assert scene.ids(scene.shop, project="pay") == {PAY}
    finally:
        assert mem(data, "mcp", "deny", "claude-code", "--all-projects").code == 0
    assert scene.ask("search", scene.shop, query="marker", project="*").failed


def test_an_excluded_project_gets_nothing(scene: Scene) -> None:
    data = scene.live.paths.data
    mem(data, "config", "set", "CLAUDE_MEM_EXCLUDED_PROJECTS", str(scene.shop))
    try:
        for tool, more in (("search", {"query": "marker"}), ("remember", {"text": "x"})):
            said = scene.ask(tool, scene.shop, **more)
            assert (said.failed, said.text) == (
                True,
                "this project is excluded from the memory",
            )
    finally:
        mem(data, "config", "set", "CLAUDE_MEM_EXCLUDED_PROJECTS", "")


def test_what_an_agent_remembers_is_told_as_a_title_only(scene: Scene) -> None:
    long = "The owl note begins here " + "and goes on with more words than a title has " * 3
    number = re.search(r"#(\d+)", scene.ask("remember", scene.pay, text=long).text)
    assert number is not None
    said = scene.ask("session_start_context", scene.pay).text
    assert f"{number[1]} " in said
    assert "goes on with more words than a title has and goes on" not in said


def test_a_project_that_holds_nothing_yet(scene: Scene, tmp_path: Path) -> None:
    fresh = scene.live.paths.data.parent / "fresh"
    repository(fresh)
    assert scene.ids(fresh) == set()
    assert not scene.ask("remember", fresh, text="a first marker-newt").failed
    assert scene.ids(fresh) == {"marker-newt"}


def test_who_read_it_is_told_by_why(scene: Scene) -> None:
    scene.ask("get_observations", scene.shop, ids=[1])
    said = mem(scene.live.paths.data, "why", "1").out
    assert "to an agent in claude-code, which asked for it" in said


# The to-do list ------------------------------------------------------------------


@pytest.mark.slow
def test_a_to_do_list_reaches_the_next_session_and_survives_its_switch(scene: Scene) -> None:
    tasks = [{"task": "mend the cart"}, {"task": "ask for a key", "state": "needs_you"}]
    said = scene.ask("work_state_write", scene.shop, tasks=tasks, title="Release")
    assert said.text == "saved: list main of project shop, 2 open of 2"
    read = scene.ask("work_state_read", scene.shop).text
    assert "To do, as an agent keeps it: Release (2 open of 2; request_id main)" in read
    assert "- [needs_you] ask for a key" in read
    assert "no open list" in scene.ask("work_state_read", scene.pay).text
    long = scene.ask("work_state_write", scene.shop, tasks=[{"task": "x" * 501}])
    assert (long.failed, "nothing was kept" in long.text) == (True, True)
    context = scene.ask("session_start_context", scene.shop).text
    assert "- [queued] mend the cart" in context
    kept = scene.live.ask("GET", "/api/work-state?project=shop").json["items"]
    assert [one["open"] for one in kept] == [2]

    key = "CLAUDE_MEM_WORK_STATE_ENABLED"
    assert mem(scene.live.paths.data, "config", "set", key, "false").code == 0
    until(lambda: scene.live.ask("GET", "/api/work-state?project=shop").status == 409)
    refused = scene.ask("work_state_write", scene.shop, tasks=[])
    assert refused.failed
    assert "mem config set CLAUDE_MEM_WORK_STATE_ENABLED true" in refused.text
    assert "Work state" not in scene.ask("session_start_context", scene.shop).text
    assert mem(scene.live.paths.data, "config", "set", key, "true").code == 0
    until(lambda: scene.live.ask("GET", "/api/work-state?project=shop").status == 200)
    assert "mend the cart" in scene.ask("work_state_read", scene.shop).text


# Tools of plugins ----------------------------------------------------------------

PLUGIN = """
from claude_mem_core import hookimpl
from claude_mem_core.types import Tool

async def shout(arguments):
    return str(arguments.get("text", "")).upper()

async def long(arguments):
    return "line\\n" * 100_000

async def broken(arguments):
    raise ValueError("secret inside")

async def search(arguments):
    return "mine"

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}

@hookimpl
def mem_tools():
    yield Tool(name="shout", summary="Says it louder.", call=shout, schema=SCHEMA)
    yield Tool(name="long", call=long)
    yield Tool(name="broken", call=broken)
    yield Tool(name="write", call=shout, schema=SCHEMA, read_only=False)
    yield Tool(name="search", call=search)
"""


class Plugged:
    """A server with that plugin and another that fails."""

    def __init__(self, site: FakeSite, folder: Path) -> None:
        site("tool.loud", PLUGIN)
        site(
            "tool.sad",
            "from claude_mem_core import hookimpl\n@hookimpl\ndef mem_tools():\n    1/0",
        )
        self.paths = Paths(folder / "d")
        self.services: Any = SimpleNamespace(registry=site.registry(), fence_id="0" * 12)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        call: Any = Call(services=self.services, worker=None, params={})  # type: ignore[arg-type]
        settings = SettingsSource(self.paths).current()
        asker = Asker(client="kimi", cwd="", place=None, call=call, settings=settings)
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        found = anyio.run(answer, message, asker)
        assert found is not None
        return found

    def said(self, name: str, **arguments: Any) -> tuple[str, bool]:
        result = self.ask("tools/call", name=name, arguments=arguments)["result"]
        return result["content"][0]["text"], bool(result.get("isError"))


@pytest.fixture
def plugged(install_fake_plugin: FakeSite, tmp_path: Path) -> Plugged:
    return Plugged(install_fake_plugin, tmp_path)


def test_hook_mem_tools_are_listed_after_ours(plugged: Plugged) -> None:
    tools = plugged.ask("tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools[9:]] == ["shout", "long", "broken"]
    shout = tools[9]
    assert shout["description"] == "Says it louder."
    assert shout["inputSchema"]["properties"] == {"text": {"type": "string"}}
    assert shout["annotations"]["readOnlyHint"] is True


def test_they_are_called_and_kept_in_bounds(plugged: Plugged) -> None:
    assert plugged.said("shout", text="ahoy") == ("AHOY", False)
    text, failed = plugged.said("long")
    assert not failed
    assert len(text) < 41_000


def test_one_that_fails_costs_its_own_answer(plugged: Plugged) -> None:
    assert plugged.said("broken") == ("the tool broken failed; `mem logs` says more", True)
    assert plugged.said("important_workflow")[1] is False


def test_one_that_writes_is_opt_in(plugged: Plugged) -> None:
    text, failed = plugged.said("write", text="x")
    assert failed
    assert "mem mcp allow kimi --write" in text
    assert mem(plugged.paths.data, "mcp", "allow", "kimi", "--write").code == 0
    assert plugged.said("write", text="x") == ("X", False)
    names = [tool["name"] for tool in plugged.ask("tools/list")["result"]["tools"]]
    assert "write" in names
    assert mem(plugged.paths.data, "mcp", "deny", "kimi", "--write").code == 0
    assert plugged.said("write", text="x")[1] is True


def test_allowing_nothing_is_a_mistake(plugged: Plugged) -> None:
    assert mem(plugged.paths.data, "mcp", "allow", "kimi").code == 2
