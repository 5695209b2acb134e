"""The real Claude Code with an observer model switched on: its memory begins the next session."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from claude_mem_core.testing.fake_models import Call, FakeModels, Talk, Turn
from tests.e2e.agents import ClaudeCode, Place

pytestmark = [pytest.mark.real_host, pytest.mark.slow, pytest.mark.timeout(600)]

OBSERVER = "You watch a coding agent at work"
TITLE = "Cart total: 1.9 was a slip for factor 1.19"
REPLY = f"""<observation><type>bugfix</type><title>{TITLE}</title>
<subtitle>The tax factor in cart.py</subtitle>
<facts><fact>cart.py multiplied by 1.9, which charged 90 % tax</fact></facts>
<narrative>The factor had lost a digit; check.py passes now.</narrative>
<concepts><concept>problem-solution</concept></concepts>
<files_modified><file>cart.py</file></files_modified></observation>
<summary><request>mend the tax of the cart</request><completed>factor is 1.19</completed></summary>"""


def talks(place: Place) -> list[Talk]:
    cart = str(place.project / "cart.py")
    edit = {"file_path": cart, "old_string": "1.9", "new_string": "1.19"}
    return [
        Talk(match=OBSERVER, anywhere=True, turns=[Turn(text=REPLY)]),
        Talk(match="SECOND-TASK", turns=[Turn(text="It is known.")]),
        Talk(match="FIRST-TASK", turns=[
            Turn(calls=[Call("Read", {"file_path": cart})]),
            Turn(calls=[Call("Edit", edit)]),
            Turn(text="The cart now charges 19 % tax."),
        ]),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def claude(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClaudeCode]:
    place = Place(tmp_path_factory.mktemp("ccm")).make()
    with FakeModels(talks(place)) as models:
        agent = ClaudeCode(place, models)
        agent.configure()
        place.mem("install", "--ide", "claude-code", "--yes")
        place.mem("config", "set", "openai_compat_base_url", f"{models.url}/v1")
        place.mem("config", "set", "openai_compat_model", "fake-observer")
        place.mem("config", "set", "provider", "openai-compatible")
        yield agent
        place.mem("stop")


def test_the_model_remembers_and_the_next_session_knows(claude: ClaudeCode) -> None:
    session = claude.session("FIRST-TASK the cart charges 90 % tax, please mend it")
    place = claude.place

    def by_the_model() -> bool:
        sql = "SELECT DISTINCT generated_by_model FROM observations"
        waiting = place.rows("SELECT count(*) FROM pending_messages")[0][0]
        return not waiting and place.rows(sql) == [("fake-observer",)]

    place.wait(by_the_model, "memories of the model")
    rows = place.rows("SELECT title, type, files_modified FROM observations")
    assert [row[:2] for row in rows] == [(TITLE, "bugfix")]
    assert json.loads(rows[0][2]) == ["cart.py"]
    assert place.rows("SELECT completed FROM session_summaries") == [("factor is 1.19",)]
    asked = [r for r in claude.models.requests if OBSERVER in r.text]
    assert len(asked) == 1, "one turn, one request"
    assert "FIRST-TASK" in asked[0].said
    assert not asked[0].tools
    claude.session("SECOND-TASK what do you know?")
    assert TITLE in claude.models.asked("SECOND-TASK")[0].text
    assert place.rows("SELECT count(*) FROM sdk_sessions") == [(2,)], (
        "the observer is no session"
    )
    assert session
    assert json.loads(place.mem("verify", "--json"))["off"] == []
    assert '"Traceback' not in place.logs()
