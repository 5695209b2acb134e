"""The real Claude Code and Kimi Code call the memory's tools and receive the right rows."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from claude_mem_core.render import for_prompt
from claude_mem_core.testing.fake_models import Call, FakeModels, Talk, Turn
from tests.e2e import proven
from tests.e2e.agents import Agent, ClaudeCode, KimiCode, Place

SLOW = 2.0  # Kimi Code does not wait for the hooks of its last tools

pytestmark = [pytest.mark.real_host, pytest.mark.slow, pytest.mark.timeout(600)]

SERVER = "mcp__claude-mem__"
ASKS = "SEARCH-TASK what happened to the tax in cart.py?"
LOOKS = {"query": "cart.py tax", "limit": 5}


def wanted(project: str, *, deferred: bool) -> list[Talk]:
    """First some work; then a session that searches, fetches and remembers.

    `deferred`: Claude Code's way, where tools are loaded first and files named otherwise.
    """
    cart = {"file_path" if deferred else "path": f"{project}/cart.py"}
    edit = {**cart, "old_string": "1.9", "new_string": "1.19"}
    names = [SERVER + name for name in ("search", "get_observations", "remember")]
    load = [Turn(calls=[Call("ToolSearch", {"query": f"select:{','.join(names)}"})])]
    return [
        Talk(match="SEARCH-TASK", turns=[
            *(load if deferred else []),
            Turn(calls=[Call(SERVER + "search", LOOKS)]),
            Turn(calls=[Call(SERVER + "get_observations", {"ids": [1]})]),
            Turn(calls=[Call(SERVER + "remember", {"text": "The tax word is opalstoat"})]),
            Turn(text="It was 1.9 and is 1.19 now."),
        ]),
        Talk(match="FIRST-TASK", turns=[
            Turn(calls=[Call("Read", cart)]),
            Turn(calls=[Call("Edit", edit)]),
            Turn(text="The cart now charges 19 % tax, 1.9 was a slip.", delay=SLOW),
        ]),
    ]  # fmt: skip


@pytest.fixture(scope="module", params=["claude-code", "kimi"])
def agent(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Agent]:
    kinds: dict[str, type[Agent]] = {"claude-code": ClaudeCode, "kimi": KimiCode}
    kind = kinds[request.param]
    place = Place(tmp_path_factory.mktemp(request.param[:2])).make()
    talks = wanted(str(place.project), deferred=kind is ClaudeCode)
    with FakeModels(talks) as models:
        made = kind(place, models)
        made.configure()
        place.mem("install", "--ide", kind.host, "--yes")
        made.run("FIRST-TASK the cart charges 90 % tax, mend it")
        place.observed(1)
        made.run(ASKS)
        yield made
        place.mem("stop")


def results(agent: Agent) -> str:
    """All that the model has read at the end of the second session."""
    return agent.models.asked("SEARCH-TASK")[-1].text


def test_search_finds_the_row(agent: Agent) -> None:
    rows = agent.place.rows("SELECT id, title FROM observations ORDER BY id")
    text = results(agent)
    found = text[text.index("Found ") :]
    assert "Searched by:" in found
    number, title = rows[0]
    assert f"#{number} |" in found
    assert title in found
    proven.hold(agent, "a search", search=True)


def test_get_observations_gives_it_in_full(agent: Agent) -> None:
    ((narrative,),) = agent.place.rows("SELECT narrative FROM observations WHERE id = 1")
    text = results(agent)
    assert "## #1 " in text
    assert "1.19" in text
    assert for_prompt(narrative)[:50] in text


def test_remember_keeps_it_in_the_project(agent: Agent) -> None:
    sql = "SELECT project, trust, title FROM observations WHERE narrative LIKE '%opalstoat%'"
    ((project, trust, title),) = agent.place.rows(sql)
    assert (project, trust) == ("shop", "foreign")
    assert "opalstoat" in title
    assert "is kept in project shop" in results(agent)


def test_what_the_tools_gave_is_not_remembered_again(agent: Agent) -> None:
    """The frame is known at capture, so that a memory never feeds on itself."""
    rows = agent.place.rows(
        "SELECT tool_response FROM tool_uses WHERE tool_name LIKE '%search'"
    )
    assert rows
    assert all("Found " not in json.dumps(row) for row in rows)


def test_the_skill_is_offered_to_the_model(agent: Agent) -> None:
    text = agent.models.asked("SEARCH-TASK")[0].text
    assert "mem-search" in text
    assert "what earlier sessions did" in text


def test_no_server_is_left(agent: Agent) -> None:
    import psutil

    mark = str(agent.place.paths.hook / "bridge.py")

    def left() -> list[int]:
        found = []
        for process in psutil.process_iter(["pid", "cmdline"]):
            if mark in (process.info["cmdline"] or []):
                found.append(process.info["pid"])
        return found

    agent.place.wait(lambda: not left(), "the end of the bridge")
