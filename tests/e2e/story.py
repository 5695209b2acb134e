"""Two sessions with a real agent program: the second begins with the first.

A host's module names its agent and the model's part; the tests here are the same for all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from claude_mem_core.testing.fake_models import Call, FakeModels, Request, Talk, Turn
from tests.e2e import proven
from tests.e2e.agents import Agent, Place

MARKS = [pytest.mark.real_host, pytest.mark.slow, pytest.mark.timeout(600)]
FENCE = re.compile(r"<claude-mem-context.*?</claude-mem-context>", re.DOTALL)
FIRST = "FIRST-TASK the cart charges 90 % tax, mend it"
SECOND = "SECOND-TASK what do you know?"
ANSWER = "The cart now charges 19 % tax: 1.9 was a slip for 1.19 in cart.py."
# Words in a prompt that a shell would run, had the payload ever been given to one.
SHELL = "`touch PWNED` $(touch PWNED) '; touch PWNED; \" && touch PWNED"


class Story:
    """Inherit, and name the agent and what the model does.

    Attributes:
        agent: the program.
        title: its name as `mem install` prints it.
        kinds: kinds of event that the first session must leave.
        tools: the tools of the first session as they are kept, sorted.
        failures: how many tool uses the host, or what it says, tells as failed.
        search: how the model calls our search.
        pause: seconds that the model takes for its last words.
        options: further words for `mem install`.
        limits: what the program can't do, for the page of hosts; None where another
            test tells of this program.
    """

    agent: ClassVar[Callable[[Place, FakeModels], Agent]]
    title: ClassVar[str]
    kinds: ClassVar[frozenset[str]] = frozenset(
        {"session_started", "prompt_sent", "tool_used", "turn_ended"}
    )
    tools: ClassVar[Sequence[str]] = ()
    failures: ClassVar[int] = 1
    search: ClassVar[Call]
    pause: ClassVar[float] = 0.0
    options: ClassVar[Sequence[str]] = ()
    limits: ClassVar[str | None] = ""

    @classmethod
    def calls(cls, place: Place) -> Sequence[Call]:
        """The tool calls of the first session, in order."""
        raise NotImplementedError

    @classmethod
    def reading(cls, place: Place) -> Sequence[Call]:
        """What the model calls in the second session before it searches."""
        return ()

    @classmethod
    def sent(cls, prompt: str) -> str:
        """A prompt as the program hands it to its hooks."""
        return prompt

    # Once for each host ----------------------------------------------------------

    @pytest.fixture(scope="class")
    @classmethod
    def running(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
        place = Place(tmp_path_factory.mktemp("st")).make()
        first = [Turn(calls=[call]) for call in cls.calls(place)]
        second = [Turn(calls=[call]) for call in (*cls.reading(place), cls.search)]
        talks = [
            Talk(match="SECOND-TASK", turns=[*second, Turn(text="It is known.")]),
            Talk(match="FIRST-TASK", turns=[*first, Turn(text=ANSWER, delay=cls.pause)]),
        ]
        with FakeModels(talks) as models:
            agent = cls.agent(place, models)
            agent.configure()
            try:
                yield agent
            finally:
                agent.end()
                place.mem("stop")

    @pytest.fixture(scope="class")
    @classmethod
    def before(cls, running: Agent) -> dict[str, bytes]:
        """The home before `mem install`, which this runs, with what the program asks then."""
        kept = home(running)
        said = running.place.mem("install", "--ide", running.host, "--yes", *cls.options)
        assert f"{cls.title}: installed" in said
        running.approve(said)
        return kept

    @pytest.fixture(scope="class")
    @classmethod
    def first(cls, running: Agent, before: dict[str, bytes]) -> str:
        """The id of the first session, once it is observed."""
        running.run(f"{FIRST} {SHELL}")
        running.place.observed(1)
        rows = running.place.rows("SELECT content_session_id FROM sdk_sessions ORDER BY id")
        return str(rows[0][0])

    @pytest.fixture(scope="class")
    @classmethod
    def second(cls, running: Agent, first: str) -> Request:
        """The second session's first request to the model."""
        running.run(SECOND)
        return running.models.asked("SECOND-TASK")[0]

    # What must be so -------------------------------------------------------------

    def test_all_of_the_first_session_is_kept(self, running: Agent, first: str) -> None:
        rows = running.place.rows("SELECT kind FROM events WHERE session = ?", first)
        assert {str(row[0]) for row in rows} >= self.kinds
        tools = running.place.rows("SELECT tool_name FROM tool_uses ORDER BY id")
        assert [row[0] for row in tools] == list(self.tools)
        assert json.loads(running.place.mem("verify", "--json"))["off"] == []

    def test_the_prompt_is_the_users_alone(self, running: Agent, first: str) -> None:
        prompts = running.place.rows("SELECT prompt_text FROM user_prompts ORDER BY id")
        assert prompts[0][0] == self.sent(f"{FIRST} {SHELL}")

    def test_a_failed_command_counts_as_failed(self, running: Agent, first: str) -> None:
        rows = running.place.rows("SELECT id FROM events WHERE kind = 'tool_failed'")
        assert len(rows) == self.failures

    def test_the_turns_answer_is_kept(self, running: Agent, first: str) -> None:
        def answers() -> list[str]:
            rows = running.place.rows("SELECT payload FROM events WHERE kind = 'turn_ended'")
            return [str(json.loads(row[0] or "{}").get("answer") or "") for row in rows]

        running.place.wait(lambda: ANSWER in answers(), "the final answer")

    def test_a_payload_is_never_run(self, running: Agent, first: str) -> None:
        made = [path for path in running.place.root.rglob("PWNED*")]
        assert made == []

    def test_what_was_observed_is_about_the_work(self, running: Agent, first: str) -> None:
        text = json.dumps(running.place.observed(1))
        assert "cart.py" in text
        assert "1.19" in text

    def test_the_first_session_had_nothing_to_remember(
        self, running: Agent, first: str
    ) -> None:
        request = running.models.asked("FIRST-TASK")[0]
        titles = [row["title"] for row in running.place.observations()]
        assert not any(title in request.text for title in titles)

    def test_the_second_session_begins_with_the_first(
        self, running: Agent, second: Request
    ) -> None:
        text = injected(second)
        assert text, "no context of ours in the request"
        titles = [row["title"] for row in running.place.observations()]
        assert any(title in text for title in titles), f"none of {titles} in {text}"
        said = FENCE.sub("", text_of(second.said))
        assert "FIRST-TASK" not in said, "a new session, not the old one continued"

    def test_our_own_words_are_no_prompt(self, running: Agent, second: Request) -> None:
        rows = running.place.rows("SELECT prompt_text FROM user_prompts ORDER BY id")
        assert [row[0] for row in rows[1:]] == [self.sent(SECOND)]

    def test_the_model_can_search_the_memory(self, running: Agent, second: Request) -> None:
        last = running.models.asked("SECOND-TASK")[-1]
        results = text_of(last.body).removeprefix(text_of(second.body))
        titles = [row["title"] for row in running.place.observations()]
        assert any(title in results for title in titles), results[-1500:]

    def test_the_page_of_hosts_claims_only_what_was_seen(
        self, running: Agent, second: Request
    ) -> None:
        if self.limits is None:
            return
        requests = running.models.asked("SECOND-TASK")
        titles = [row["title"] for row in running.place.observations()]
        begun = injected(second)
        more = injected(requests[1]).removeprefix(begun) if self.reading(running.place) else ""
        found = text_of(requests[-1].body).removeprefix(text_of(second.body))
        proven.hold(
            running, "two sessions", self.limits,
            context=any(title in begun for title in titles),
            history=any(title in more for title in titles),
            search=any(title in found for title in titles),
        )  # fmt: skip

    def test_nothing_is_left_undone(self, running: Agent, second: Request) -> None:
        running.place.observed(1)
        assert json.loads(running.place.mem("verify", "--json"))["off"] == []
        assert '"Traceback' not in running.place.logs()

    def test_uninstall_leaves_the_home_as_it_was(
        self, running: Agent, before: dict[str, bytes], second: Request
    ) -> None:
        running.place.mem("uninstall", "--ide", running.host, "--yes")
        now = home(running)
        assert running.ours(now) == [], "lines that still name us"
        for path, content in before.items():
            assert running.same(path, content, now.get(path)), path


def home(agent: Agent) -> dict[str, bytes]:
    """The files of the program's own settings, without what it writes of its sessions."""
    files = (path for path in agent.place.home.rglob("*") if path.is_file())
    kept = (path for path in files if agent.is_setting(path))
    return {str(path.relative_to(agent.place.home)): path.read_bytes() for path in kept}


def injected(request: Request) -> str:
    """The text that our hooks brought into a request, wherever the host put it."""
    return "\n".join(FENCE.findall(text_of(request.body)))


def text_of(value: Any) -> str:
    """All texts of a request, in order, with the escapes that hosts put in undone."""
    if isinstance(value, str):
        return value.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"')
    parts = value.values() if isinstance(value, dict) else value
    return "\n".join(map(text_of, parts)) if isinstance(value, dict | list) else ""


def cart(place: Place) -> Path:
    """The file with the mistake."""
    return place.project / "cart.py"
