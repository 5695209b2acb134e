"""Why a memory was given, and what people's words about memories change afterwards."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.edge import install_hook
from claude_mem_core.errors import NotFound
from claude_mem_core.recall import find, fusion
from claude_mem_core.recall.counts import Counts
from claude_mem_core.recall.why import why
from claude_mem_core.store import correct, feedback, given_log
from claude_mem_core.testing.worker import LiveWorker, data_dir, start
from claude_mem_core.types import DocKind, Query
from tests.cli_run import mem
from tests.mcp_kit import call
from tests.recall_store import DAY_MS, NOW_MS, Filled
from tests.test_context import build
from tests.worker_home import until

O = DocKind.OBSERVATION


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Filled]:
    made = Filled(tmp_path)
    yield made
    made.close()


def write(filled: Filled, work: Any) -> Any:
    return filled.store.write(work).result(60)


def say(filled: Filled, number: int, *words: str) -> None:
    for word in words:
        write(filled, lambda conn, word=word: feedback.say(conn, number, word, 1))


def found(filled: Filled, text: str) -> list[int]:
    query = Query(text=text, kinds=(O,))
    answer = filled.store.read(lambda conn: find.find(conn, query, Counts(), 1.0))
    scores = [hit.score for hit in answer.hits]
    assert scores == sorted(scores, reverse=True)
    return [hit.id for hit in answer.hits]


# Feedback ------------------------------------------------------------------------------------


def test_useful_moves_up_and_outdated_down_and_back(filled: Filled) -> None:
    a, b, c = filled.observe(
        [{"title": f"Otter rule {word}"} for word in ("one", "two", "six")]
    )
    usual = found(filled, "otter rule")
    assert usual == [c, b, a]
    say(filled, a, "useful")
    assert found(filled, "otter rule") == [a, c, b]
    say(filled, a, "outdated")
    assert found(filled, "otter rule") == [c, b, a]
    say(filled, a, "current")
    assert found(filled, "otter rule") == [a, c, b]
    say(filled, a, "not-useful")
    assert found(filled, "otter rule") == usual
    assert filled.value("SELECT count(*) FROM feedback") == 0


def test_praise_is_bounded_and_beats_no_better_match(filled: Filled) -> None:
    weak, strong = filled.observe([
        {"title": "Notes of a day", "narrative": "somewhere a heron, and much else " * 9},
        {"title": "Heron heron heron", "narrative": "heron"},
    ])  # fmt: skip
    say(filled, weak, *["useful"] * 50)
    assert filled.store.read(lambda conn: feedback.of(conn, weak)).useful == feedback.MOST
    assert found(filled, "heron") == [strong, weak]


def test_by_meaning_too(filled: Filled) -> None:
    a, b = filled.observe([{"title": "A", "session": "x"}, {"title": "B", "session": "y"}])
    query, scores = Query(text="q"), {(O, a): 0.9, (O, b): 0.8}

    def order() -> list[int]:
        hits = filled.store.read(lambda conn: fusion.fused(conn, query, [], [scores], 5))
        return [hit.id for hit in hits]

    assert order() == [a, b]
    say(filled, a, "outdated")
    assert order() == [b, a]


def test_an_outdated_memory_is_in_no_context_a_useful_old_one_is(filled: Filled) -> None:
    old = filled.observe([{"title": "Deploy by hand", "created_ms": NOW_MS - 90 * DAY_MS}])[0]
    new = filled.observe([{"title": f"Work {n}", "created_ms": NOW_MS - n} for n in range(5)])
    assert str(old) not in build(filled, CONTEXT_OBSERVATIONS=3).ids
    say(filled, old, "useful")
    made = build(filled, CONTEXT_OBSERVATIONS=3)
    assert made.reasons[str(old)] == "called useful (`mem useful`)"
    assert [key for key in made.ids if key != str(old)] == [str(number) for number in new[:3]]
    say(filled, new[0], "outdated")
    assert str(new[0]) not in build(filled, CONTEXT_OBSERVATIONS=3).ids
    assert (
        build(filled, CONTEXT_OBSERVATIONS=3).text == build(filled, CONTEXT_OBSERVATIONS=3).text
    )


def test_it_goes_and_comes_with_its_memory(filled: Filled) -> None:
    (number,) = filled.observe([{"title": "x"}])
    say(filled, number, "useful", "useful")
    done = write(filled, lambda conn: correct.delete(conn, O, number, 1))
    assert filled.value("SELECT count(*) FROM feedback") == 0
    write(filled, lambda conn: correct.undo(conn, done.undo, 2))
    assert filled.store.read(lambda conn: feedback.of(conn, number)).useful == 2
    with pytest.raises(NotFound):
        say(filled, 99, "useful")


# The log -------------------------------------------------------------------------------------


def test_the_log_keeps_the_newest(filled: Filled, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(given_log, "KEPT", 3)
    (number,) = filled.observe([{"title": "x"}])
    for at in range(9):
        write(
            filled,
            lambda conn, at=at: given_log.note(conn, 0, "api:", {"1": f"r{at}"}, at, "q" * 999),
        )
    write(filled, lambda conn: given_log.note(conn, 0, "api:", {}, 9))
    log = filled.store.read(lambda conn: why(conn, (O, number)))["log"]
    assert [entry["reason"] for entry in log] == ["r8", "r7", "r6"]
    assert {len(entry["query"]) for entry in log} == {given_log.QUERY_CHARS}


@pytest.fixture(scope="module")
def live() -> Iterator[LiveWorker]:
    with data_dir() as paths:
        (paths.data.parent / "shop").mkdir()
        install_hook(paths)
        worker = start(paths)
        try:
            yield worker
        finally:
            worker.stop()


@pytest.mark.slow
def test_by_command(live: LiveWorker) -> None:
    data, shop = live.paths.data, str(live.paths.data.parent / "shop")
    body = {"text": "The pelican deploys on Tuesdays", "cwd": shop}
    number = str(live.ask("POST", "/api/memory/save", body).json["id"])
    live.ask("POST", "/api/memory/save", {"text": "Other work", "cwd": shop})
    until(
        lambda: (
            "pelican"
            in call(live, "stdio", "search", cwd=shop, query="pelican secret=hunter2").text
        )
    )
    assert live.ask("GET", f"/api/context/inject?cwd={shop}").status == 200
    until(lambda: "in a context that a program asked for" in mem(data, "why", number).out)
    said = mem(data, "why", number).out
    assert "to an agent in claude-code, which searched" in said
    assert "why: found, number 1 by keyword" in said
    assert "asked: pelican" in said
    assert "in a context that a program asked for" in said
    assert "why: number 2 of the newest in the project" in said
    shown = mem(data, "context", "--cwd", shop, "--why").out
    assert "pelican deploys on Tuesdays\n    why: number 2 of the newest" in shown
    assert "    why: always: how to read the rows" in shown
    assert mem(data, "useful", number).code == 0
    assert mem(data, "outdated", number, "--json").code == 0
    said = mem(data, "why", number).out
    assert "called useful 1 time\n" in said
    assert "called outdated" in said
    assert "pelican" not in mem(data, "context", "--cwd", shop).out
    assert mem(data, "outdated", "--undo", f"#{number}").code == 0
    assert "pelican" in mem(data, "context", "--cwd", shop).out
    assert mem(data, "useful", "999").code == 1
    assert live.ask("POST", f"/api/memories/{number}/feedback", {"said": "wrong"}).status == 200
    assert "marked wrong" in mem(data, "why", number).out
    assert json.loads(mem(data, "why", number, "--json").out)["feedback"]["useful"] == 1
