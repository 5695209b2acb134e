"""Case O10: the same hook event delivered more than once, through hook and worker.

That a provider gets each tool event once comes with the providers; here the observer
without a model must have seen each once. What the journal makes of repeats is in
`test_journal_order.py`.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.case_home import Played, played, until
from tests.hook_home import CASES

FOLDER = CASES / "O10-duplicate-delivery"
SUMS = """
  SELECT (SELECT count(*) FROM user_prompts), (SELECT count(*) FROM tool_uses),
    (SELECT count(*) FROM events WHERE kind = 'turn_ended'),
    (SELECT count(*) FROM sdk_sessions)
"""


def load(home: Played, name: str) -> dict[str, Any]:
    return home.filled(json.loads((FOLDER / f"{name}.json").read_text("utf-8")))


def first_round(home: Played) -> None:
    for _ in range(2):
        home.hook(load(home, "prompt"))
    assert home.all_at_once([load(home, "tool")] * 5) == [0] * 5
    home.hook(load(home, "tool-again"))
    for _ in range(3):
        home.hook(load(home, "stop"))


def check(home: Played) -> None:
    home.settle()
    assert home.prompts() == ["run the linter twice"] * 2
    assert home.rows(SUMS) == [(2, 2, 1, 1)]
    used = home.rows("SELECT tool_use_id FROM tool_uses ORDER BY id")
    assert used == [("toolu_d1",), ("toolu_d2",)]
    answers = home.rows(
        "SELECT json_extract(payload, '$.answer') FROM events WHERE kind = 'turn_ended'"
    )
    assert answers == [("Linter is clean, twice.",)]
    twice = "SELECT event_id FROM evidence WHERE kind = 'observation' GROUP BY event_id HAVING count(*) > 1"
    assert not home.rows(
        f"SELECT * FROM ({twice}) WHERE event_id IN (SELECT event_id FROM tool_uses)"
    )
    assert (
        home.rows("SELECT count(*) FROM session_summaries WHERE superseded_by IS NULL")[0][0]
        <= 2
    )
    home.is_sound()


@pytest.mark.slow
def test_o10_every_event_once_whatever_is_repeated() -> None:
    with played() as home:
        first_round(home)
        assert home.worker is not None
        home.worker.kill()
        home.start()
        home.hook(load(home, "tool"))
        home.hook(load(home, "stop"))
        home.hook(load(home, "same-text-later"))
        check(home)


@pytest.mark.slow
def test_o10_the_same_while_the_worker_is_down_in_the_middle() -> None:
    """Half of the repeats wait on disk, half come over the socket."""
    with played(running=False) as home:
        argv = home.paths.worker_argv.read_bytes()
        home.hooks.worker_is(["/bin/false"])
        first_round(home)
        home.paths.worker_argv.write_bytes(argv)
        home.start()
        first_round(home)
        home.hook(load(home, "same-text-later"))
        check(home)


def test_o10_a_repeat_is_as_fast_as_a_first_one() -> None:
    with played() as home:
        home.hook(load(home, "prompt"))
        first = home.hook(load(home, "tool")).seconds
        again = min(home.hook(load(home, "tool")).seconds for _ in range(5))
        assert again < first + 0.5


def test_o10_one_turn_typed_twice_where_the_host_has_no_ids() -> None:
    """Two copies of one prompt within seconds are one; another text is another one."""
    with played() as home:
        plain = home.payload("UserPromptSubmit", prompt="again")
        assert home.all_at_once([plain] * 4) == [0] * 4
        home.hook({**plain, "prompt": "again "})
        home.hook({**plain, "prompt": "Again"})
        home.hook({**plain, "session_id": "s-2"})
        until(lambda: len(home.prompts()) >= 3)
        assert sorted(home.prompts()) == sorted(["again", "again ", "Again", "again"])


def test_o10_a_stop_in_the_same_words_belongs_to_its_own_turn() -> None:
    with played() as home:
        for number in range(2):
            home.hook(home.payload("UserPromptSubmit", prompt=f"question {number}"))
            for _ in range(2):
                home.hook(home.payload("Stop", last_assistant_message="Done."))
        sql = "SELECT prompt_number FROM events WHERE kind = 'turn_ended' ORDER BY id"
        assert home.rows(sql) == [(1,), (2,)]


def test_o10_the_same_ids_in_two_sessions_are_two_uses() -> None:
    with played() as home:
        tool = load(home, "tool")
        for session in ("a", "b"):
            home.hook({**tool, "session_id": session})
            home.hook({**tool, "session_id": session, "cwd": str(home.place / "sub")})
        assert home.rows("SELECT count(*) FROM tool_uses") == [(2,)]
