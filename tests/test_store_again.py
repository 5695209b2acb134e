"""Which turns a model is given to observe again: by session, time, project and maker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from claude_mem_core.projects import Place
from claude_mem_core.store import again
from claude_mem_core.types import Draft, Observed
from tests.store_home import NOW, Home, opened

THERE = Place(key="folder-there", label="there", kind="folder", root="/home/u/there")
LATER = 3_600_000


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """Three turns: one here, one an hour later, and one there that a model has observed."""
    with opened(tmp_path / "memory.db") as made:
        turn(made, "s-old", 0)
        turn(made, "s-new", LATER)
        made.place = THERE
        turn(made, "s-there", LATER, maker="m-1")
        yield made


def turn(home: Home, session: str, at: int, maker: str = "builtin") -> None:
    home.session = session
    home.prompt(f"please mend {session}", at)
    home.tool(f"tool-{session}", at + 1)
    home.stop("it is mended", at + 2)
    (work,) = home.claim(at + 3)
    made = Draft(
        type="change", title=f"Mended {session}", narrative="It works.", model=maker,
        events=work.event_ids, prompt_number=work.prompt_number,
    )  # fmt: skip
    home.keep(work, Observed(observations=(made,)))


def queued(home: Home, **which: Any) -> set[str]:
    """The sessions whose turns wait afterwards."""
    found = home.write(lambda conn: again.again(conn, home.now, **which))
    sql = "SELECT DISTINCT content_session_id FROM pending_messages"
    sessions = {row[0] for row in home.rows(sql)}
    assert (found.turns, found.events) == (len(sessions), 2 * len(sessions))
    return sessions


def test_what_rules_made_of_everything(home: Home) -> None:
    assert queued(home) == {"s-old", "s-new"}
    marked = home.rows(
        "SELECT title FROM observations WHERE json_extract(metadata, '$.meanwhile') ORDER BY id"
    )
    assert marked == [("Mended s-old",), ("Mended s-new",)], "it serves until then"


@pytest.mark.parametrize(
    ("which", "found"),
    [
        ({"session": "s-old"}, {"s-old"}),
        ({"session": "s-there"}, set()),
        ({"since": NOW + LATER}, {"s-new"}),
        ({"since": NOW + 2 * LATER}, set()),
        ({"everything": True}, {"s-old", "s-new", "s-there"}),
        ({"everything": True, "since": NOW + LATER}, {"s-new", "s-there"}),
    ],
)
def test_a_part_of_it(home: Home, which: dict[str, Any], found: set[str]) -> None:
    assert queued(home, **which) == found


def test_of_one_project(home: Home) -> None:
    ids = dict(home.rows("SELECT label, id FROM projects"))
    assert queued(home, projects=[ids["there"]]) == set()
    assert queued(home, projects=[ids["there"]], everything=True) == {"s-there"}


def test_counting_changes_nothing(home: Home) -> None:
    before = home.rows("SELECT metadata FROM observations ORDER BY id")
    dry = home.write(lambda conn: again.again(conn, home.now, dry=True))
    assert dry == again.Again(turns=2, events=4)
    assert home.rows("SELECT count(*) FROM pending_messages") == [(0,)]
    assert home.rows("SELECT metadata FROM observations ORDER BY id") == before


def test_what_waits_already_is_not_queued_twice(home: Home) -> None:
    queued(home, session="s-old")
    second = home.write(lambda conn: again.again(conn, home.now, session="s-old"))
    assert second == again.Again()
    assert attrs.asdict(home.verify())["pending"] == 2
