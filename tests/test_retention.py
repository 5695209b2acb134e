"""How long and how much is kept: by age, count and size; what is pinned stays."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from claude_mem_core.errors import InvalidInput
from claude_mem_core.store import correct, erase, expire, personal, retain
from claude_mem_core.store.retain import Rule
from claude_mem_core.testing.worker import LiveWorker, running
from claude_mem_core.types import DocKind, Draft, Observed, SummaryDraft
from tests.cli_run import mem
from tests.store_home import NOW, Home, opened

DAY = 86_400_000
O = DocKind.OBSERVATION


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with opened(tmp_path / "memory.db") as made:
        yield made


def turn(home: Home, title: str, day: int, output: str = "x") -> int:
    home.now = NOW + day * DAY
    home.prompt(f"prompt {title}", 0, prompt_id=f"p{title}")
    home.tool(f"t{title}", 10, output={"stdout": output})
    home.stop("done", 20)
    (work,) = home.claim(30, force=True)
    draft = Draft(type="decision", title=title, events=work.event_ids)
    summary = SummaryDraft(request="asked", completed=title, events=work.event_ids)
    return home.keep(work, Observed(observations=(draft,), summary=summary)).observations[0].id


def applied(home: Home, *rules: Rule, day: int = 100) -> Counter[str]:
    total: Counter[str] = Counter()
    while gone := home.write(lambda conn: retain.some(conn, rules, NOW + day * DAY, 3)):
        total.update(gone)
    return total


def titles(home: Home) -> list[str]:
    return [row[0] for row in home.rows("SELECT title FROM observations ORDER BY id")]


def read(home: Home, given: Any) -> list[Rule]:
    return home.store.read(lambda conn: retain.rules(conn, given))


# Rules ---------------------------------------------------------------------------------------


def test_what_is_older_goes_and_pinned_and_personal_ones_stay(home: Home) -> None:
    numbers = [turn(home, f"n{day}", day) for day in range(5)]
    home.write(lambda c: correct.pin(c, O, numbers[0], home.now))
    home.write(lambda c: personal.promote(c, numbers[1], None, home.now))
    (rule,) = read(home, [{"kind": "observations", "days": 97}])
    assert home.store.read(lambda c: retain.count(c, [rule], NOW + 100 * DAY)) == {"observations": 1}
    assert applied(home, rule) == {"observations": 1}
    assert titles(home) == ["n0", "n1", "n3", "n4"]
    assert len(home.rows("SELECT 1 FROM session_summaries")) == 5
    assert home.verify().off == ()


def test_of_events_the_content_goes_but_not_what_a_pinned_memory_rests_on(home: Home) -> None:
    pinned = turn(home, "pinned", 0, "kept output")
    turn(home, "other", 1, "old output")
    home.write(lambda c: correct.pin(c, O, pinned, home.now))
    events = home.value("SELECT count(*) FROM events")
    applied(home, Rule(kind="events", days=10))
    assert home.value("SELECT count(*) FROM events") == events
    outputs = [row[0] for row in home.rows("SELECT tool_response FROM tool_uses")]
    assert outputs == ['{"stdout":"kept output"}']
    assert home.verify().off == ()
    assert not applied(home, Rule(kind="events", days=10))


def test_the_newest_of_each_project_stay(home: Home) -> None:
    from claude_mem_core.projects import Place

    first = [turn(home, f"a{day}", day) for day in range(4)]
    home.place = Place(key="folder-there", label="there", kind="folder", root="/home/u/there")
    home.session = "s2"
    for day in range(4, 7):
        turn(home, f"b{day}", day)
    home.write(lambda c: correct.pin(c, O, first[0], home.now))
    assert applied(home, *read(home, [{"kind": "observations", "count": 2}])) == {"observations": 2}
    assert titles(home) == ["a0", "a2", "a3", "b5", "b6"]
    there = read(home, [{"kind": "all", "count": 1, "project": "there"}])
    applied(home, *there)
    assert titles(home) == ["a0", "a2", "a3", "b6"]
    assert not applied(home, *read(home, [{"kind": "all", "days": 1, "project": "nowhere"}]))


@pytest.mark.parametrize(
    "rule",
    [
        "x", {"kind": "memories", "days": 1}, {"kind": "all"}, {"kind": "all", "days": -1},
        {"kind": "all", "days": "9"}, {"kind": "all", "days": True}, {"kind": "all", "days": 1, "age": 2},
    ],
)  # fmt: skip
def test_a_rule_that_is_none_is_named(home: Home, rule: Any) -> None:
    with pytest.raises(InvalidInput, match="rule 1 of CLAUDE_MEM_RETENTION_RULES"):
        read(home, [rule])
    with pytest.raises(InvalidInput, match="no list"):
        read(home, {"kind": "all"})


def test_a_database_that_is_too_large_loses_its_oldest_raw_events_first(home: Home) -> None:
    for day in range(6):
        turn(home, f"n{day}", day, f"{day}" * 60_000)
    size = home.store.read(retain.live_bytes)
    limit = size - 150_000
    gone: Counter[str] = Counter()
    for kind in retain.ORDER:
        while found := home.write(lambda conn, k=kind: retain.shrink(conn, k, limit, 1)):
            gone[kind] += found
    assert set(gone) == {"events"}
    assert home.store.read(retain.live_bytes) <= limit
    left = [row[0] for row in home.rows("SELECT tool_use_id FROM tool_uses")]
    assert left == [f"tn{day}" for day in range(6)][-len(left) :], "the newest are there"
    assert 0 < len(left) < 6
    assert len(titles(home)) == 6


def test_imported_tool_uses_are_raw_and_go_before_memories(home: Home) -> None:
    numbers = [turn(home, f"n{day}", day, f"{day}" * 60_000) for day in range(6)]
    applied(home, Rule(kind="events", days=1))
    assert home.rows("SELECT 1 FROM tool_uses") == []
    for day, number in enumerate(numbers):
        turn(home, f"raw{day}", day, f"{day}" * 60_000)
        home.write(lambda c, n=number, t=f"traw{day}": c.execute(
            "UPDATE tool_uses SET event_id = NULL, observation_id = ? WHERE tool_use_id = ?", (n, t)
        ) and None)  # fmt: skip
    home.write(lambda c: c.execute("UPDATE events SET payload = json_object()") and None)
    home.write(lambda c: correct.pin(c, O, numbers[0], home.now))
    limit = home.store.read(retain.live_bytes) - 150_000
    for kind in retain.ORDER:
        while home.write(lambda conn, k=kind: retain.shrink(conn, k, limit, 1)):
            pass
    left = [row[0] for row in home.rows("SELECT tool_use_id FROM tool_uses ORDER BY id")]
    assert left == ["traw0", "traw4", "traw5"]
    assert len(titles(home)) == 12
    wanted = read(home, [{"kind": "events", "days": 1}])
    assert applied(home, *wanted)["tool_uses"] == 2
    assert [row[0] for row in home.rows("SELECT tool_use_id FROM tool_uses")] == ["traw0"]


def test_raw_tool_uses_go_after_days_when_a_memory_was_made_of_them(home: Home) -> None:
    turn(home, "old", 0)
    turn(home, "new", 50)
    home.tool("unseen", -50 * DAY)
    purged = home.write(lambda c: retain.purge_tool_uses(c, 30, NOW + 60 * DAY))
    assert home.write(lambda c: retain.purge_tool_uses(c, 0, NOW + 60 * DAY)) == 0
    linked = home.value("SELECT count(*) FROM tool_uses WHERE observation_id IS NOT NULL")
    left = {row[0] for row in home.rows("SELECT tool_use_id FROM tool_uses")}
    assert (purged, linked) == (1, 1)
    assert left == {"tnew", "unseen"}


def test_deleting_by_age_spares_what_is_pinned_and_forgetting_does_not(home: Home) -> None:
    pinned, mine = turn(home, "pinned", 0, "kept output"), turn(home, "mine", 0)
    home.session = "s2"
    turn(home, "other", 1)
    home.write(lambda c: correct.pin(c, O, pinned, home.now))
    home.write(lambda c: personal.promote(c, mine, None, home.now))
    age = expire.Age(NOW + 50 * DAY)
    assert home.store.read(lambda c: expire.count(c, age)).sessions == 1
    while home.write(lambda c: expire.delete_some(c, age, home.now)):
        pass
    assert titles(home) == ["pinned", "mine"]
    assert "kept output" in str(home.rows("SELECT tool_response FROM tool_uses"))
    assert not home.store.read(lambda c: expire.count(c, age))
    gone = erase.Chosen(before_ms=NOW + 50 * DAY)
    while home.write(lambda c: erase.some(c, gone, home.now)):
        pass
    assert titles(home) == []
    assert home.verify().off == ()


# A worker ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def live() -> Iterator[LiveWorker]:
    with running() as worker:
        yield worker


def test_look_first_then_let_it_go_and_the_file_shrinks(live: LiveWorker) -> None:
    data = live.paths.data
    assert "everything is kept" in mem(data, "retention").out
    for n in range(30):
        text = f"memory {n} " + "word " * 8_000
        live.ask("POST", "/api/memory/save", {"text": text, "project": "big"})
    rule = json.dumps([{"kind": "observations", "project": "big", "count": 3}])
    assert mem(data, "config", "set", "CLAUDE_MEM_RETENTION_RULES", rule).code == 0
    shown = mem(data, "retention", "show", "--json").json
    assert (shown["gone"], shown["applied"]) == ({"observations": 27}, False)
    assert mem(data, "retention").out.startswith("observations of big: the newest 3\n")
    assert mem(data, "retention", "apply").code == 2, "nobody was asked"
    before = live.paths.database.stat().st_size
    done = mem(data, "retention", "apply", "--yes")
    assert done.code == 0
    assert "27 observations went" in done.out
    assert live.paths.database.stat().st_size < before / 2
    assert "nothing would go" in mem(data, "retention").out
    found = live.ask("GET", "/api/observations?limit=50").json["items"]
    assert len(found) == 3
    mem(data, "config", "set", "CLAUDE_MEM_RETENTION_RULES", "[]")
    _emptied_within_pages(live)
    by_hand = json.loads(live.paths.settings.read_text())
    by_hand["CLAUDE_MEM_RETENTION_RULES"] = [{"kind": "x"}]
    live.paths.settings.write_text(json.dumps(by_hand))
    wrong = mem(data, "retention")
    assert wrong.code == 2
    assert "rule 1 of" in wrong.err


def _emptied_within_pages(live: LiveWorker) -> None:
    """Rows that get smaller leave no page free; memories must not go for that."""
    conn = apsw.Connection(str(live.paths.database))
    conn.set_busy_timeout(10_000)
    sql = """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
      INSERT INTO events (key, host, kind, session, at_ms, received_ms, payload, state, trust)
      SELECT 'k' || i, 'h', 'turn_ended', 's', i, i, printf('{"answer":"%.480c"}', 'x'),
        'recorded', 'work' FROM n"""
    conn.execute(sql)
    conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    conn.close()
    size = live.paths.database.stat().st_size
    most = size // (1 << 20)
    assert most >= 1
    mem(live.paths.data, "config", "set", "CLAUDE_MEM_RETENTION_MAX_MB", str(most))
    done = mem(live.paths.data, "retention", "apply", "--yes", "--json").json
    assert set(done["gone"]) == {"events"}
    assert done["over"] == 0
    mem(live.paths.data, "config", "set", "CLAUDE_MEM_RETENTION_MAX_MB", "0")
