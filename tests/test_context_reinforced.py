"""`CLAUDE_MEM_REINFORCE_ALPHA`: what later days confirmed stays among newer rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.recall import dates
from claude_mem_core.recall.context import ContextText
from tests.recall_store import DAY_MS, NOW_MS, Filled
from tests.test_context import build, utc

__all__ = ["utc"]


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Filled]:
    made = Filled(tmp_path)
    yield made
    made.close()


def made(filled: Filled, alpha: float, limit: int = 8, **changed: Any) -> ContextText:
    values = {"CONTEXT_OBSERVATIONS": limit, "REINFORCE_ALPHA": alpha, **changed}
    return build(filled, **values)


def days_ago(days: int, title: str = "", **row: Any) -> dict[str, Any]:
    return {"title": title or f"day {days}", "created_ms": NOW_MS - days * DAY_MS, **row}


def confirm(filled: Filled, number: int, *ago: int) -> None:
    """Evidence of an observation from later days."""
    for day in ago:
        key = f"{number}-{day}"
        filled.execute(
            "INSERT INTO events (key, host, kind, session, at_ms, received_ms, state)"
            " VALUES (?, 'claude-code', 'tool_used', 's', ?, 1, 'stored')",
            key, NOW_MS - day * DAY_MS,
        )  # fmt: skip
        filled.execute(
            "INSERT INTO evidence SELECT 'observation', ?, id FROM events WHERE key = ?",
            number, key,
        )  # fmt: skip


def test_without_it_only_the_time_counts(filled: Filled) -> None:
    filled.observe(days_ago(day) for day in range(40, 0, -1))
    confirm(filled, 1, 2, 3, 4, 5)
    assert made(filled, 0).ids == tuple(str(n) for n in range(40, 32, -1))


def test_what_later_days_confirmed_climbs_and_the_newest_quarter_stays(filled: Filled) -> None:
    filled.observe(days_ago(day) for day in range(40, 0, -1))
    confirm(filled, 1, 2, 3, 4, 5)
    found = made(filled, 0.5)
    assert len(found.ids) == 8
    assert "1" in found.ids
    assert found.reasons["1"] == "confirmed on 4 other days"
    assert set(found.ids) >= {"40", "39"}, "the newest quarter"
    assert list(map(int, found.ids)) == sorted(map(int, found.ids), reverse=True)
    assert made(filled, 0.5) == found


def test_the_score_is_the_documented_one(filled: Filled) -> None:
    from claude_mem_core.recall.context_rows import Wanted, observations
    from claude_mem_core.recall.reinforce import _days, _score

    filled.observe([days_ago(16)])
    confirm(filled, 1, 4, 9)
    rows, _ = filled.store.read(lambda conn: observations(conn, Wanted(project_ids=(1,)), 5))
    days = filled.store.read(lambda conn: _days(conn, rows))
    score = _score(rows[0], days[1], 0.5, dates.day_number(NOW_MS))
    assert score == pytest.approx(math.log(1 + 1 / 4 + 0.5 * (1 / 2 + 1 / 3)))


def test_the_same_said_again_stands_once_and_counts_as_confirmed(filled: Filled) -> None:
    filled.observe(days_ago(day) for day in range(40, 20, -1))
    filled.observe([days_ago(19, "Use tabs!"), days_ago(18, "use TABS")])
    filled.observe(days_ago(day) for day in range(17, 0, -1))
    found = made(filled, 3.0, limit=8)
    assert "22" in found.ids
    assert "21" not in found.ids
    assert found.reasons["22"] == "confirmed on 1 other day"


def test_several_confirmations_of_one_day_count_once(filled: Filled) -> None:
    from claude_mem_core.recall.context_rows import Wanted, observations
    from claude_mem_core.recall.reinforce import _days

    filled.observe([days_ago(16)])
    confirm(filled, 1, 4)
    filled.execute(
        "INSERT INTO events (key, host, kind, session, at_ms, received_ms, state)"
        " VALUES ('again', 'h', 'tool_used', 's', ?, 1, 'stored')",
        NOW_MS - 4 * DAY_MS,
    )
    filled.execute(
        "INSERT INTO evidence SELECT 'observation', 1, id FROM events WHERE key = 'again'"
    )
    rows, _ = filled.store.read(lambda conn: observations(conn, Wanted(project_ids=(1,)), 5))
    days = filled.store.read(lambda conn: _days(conn, rows))
    assert len(days[1]) == 2


def test_in_a_small_budget_the_newest_have_half_of_the_room(filled: Filled) -> None:
    filled.observe(days_ago(day, f"row {day} " + "word " * 20) for day in range(60, 0, -1))
    for number in range(1, 20):
        confirm(filled, number, 2, 3, 4, 5, 6)
    found = made(filled, 5.0, limit=40, CONTEXT_TOKEN_BUDGET=500, CONTEXT_FULL_COUNT=0)
    assert len(found.text.encode()) <= 2_000
    ids = {int(key) for key in found.ids}
    assert 60 in ids
    assert ids & set(range(1, 20))


def test_on_resume_nothing_climbs(filled: Filled) -> None:
    from claude_mem_core.types import StartSource

    filled.observe(days_ago(day) for day in range(40, 0, -1))
    confirm(filled, 1, 2, 3, 4, 5)
    filled.execute("UPDATE sdk_sessions SET context_at_epoch = ?", NOW_MS - 3 * DAY_MS)
    request = {"session_db_id": 1, "source": StartSource.RESUME}
    filled.execute("INSERT INTO context_given VALUES (1, 'session', 1, 1, '[\"38\"]')")
    found = build(filled, request=request, CONTEXT_OBSERVATIONS=8, REINFORCE_ALPHA=5.0)
    assert set(found.ids) <= {"39", "40"}
