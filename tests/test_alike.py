"""What a new memory does to older ones: contradiction, the same title, what is merely alike."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.errors import InvalidInput, NotFound
from claude_mem_core.pipeline import alike
from claude_mem_core.store import correct, dedup, memories, personal, projects, subjects
from claude_mem_core.store.subjects import Statement, statement
from claude_mem_core.testing.worker import data_dir, start
from claude_mem_core.types import DocKind, Draft, Observed, Trust
from tests.cli_run import mem
from tests.recall_store import Filled
from tests.store_home import HERE, Home, opened
from tests.test_context import build, values
from tests.worker_home import until

O = DocKind.OBSERVATION


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with opened(tmp_path / "memory.db") as made:
        yield made


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The port is 8080", Statement("port", "number", "8080")),
        ("port moved to 9090.", Statement("port", "number", "9090")),
        (
            "From now on, our deploy branch is release/2",
            Statement("deploy branch", "path", "release/2"),
        ),
        ("timeout = 30s", Statement("timeout", "number", "30s")),
        ("The API listens on :8443", Statement("api", "number", ":8443")),
        ("The worker is slow", Statement("worker", "word", "slow")),
        ("It is 8080", None),
        ("The cart rounds each line to whole cents", None),
        ("The port is 8080 and the host is example.test", None),
        ("We use tabs", None),
        ("What is 8080?", None),
        ("port is", None),
        ("", None),
        ("x " * 500 + "is 8", None),
    ],
)
def test_what_is_said_of_what(text: str, found: Statement | None) -> None:
    assert statement(text) == found


def save(home: Home, words: str, trust: Trust = Trust.USER, label: str = "here") -> int:
    place = HERE if label == "here" else type(HERE)(key=label, label=label, kind="folder")

    def write(conn: Any) -> int:
        project = projects.resolve(conn, place, home.now)
        number = memories.save_manual(conn, words, words, project, trust, home.now).id
        subjects.settle(conn, number)
        return number

    return home.write(write)


def gone(home: Home) -> dict[int, int]:
    return dict(home.rows("SELECT id, superseded_by FROM observations WHERE superseded_by"))


def test_a_newer_word_on_the_same_subject_takes_the_place(home: Home) -> None:
    old = save(home, "The port is 8080")
    other = save(home, "The admin port is 8081")
    elsewhere = save(home, "The port is 1", label="there")
    path = save(home, "The port is conf/port.ini")
    new = save(home, "port moved to 9090")
    assert gone(home) == {old: new}
    assert {other, elsewhere, path}.isdisjoint(gone(home))
    assert save(home, "The port is 8080") == old, "said again: it holds after all"
    assert gone(home) == {new: old}


def test_nobody_displaces_what_is_trusted_more_pinned_or_yours(home: Home) -> None:
    own = save(home, "The port is 8080")
    save(home, "The port is 1", Trust.FOREIGN)
    save(home, "The port is 2", Trust.WORK)
    assert own not in gone(home)
    pinned = save(home, "The limit is 5")
    home.write(lambda conn: correct.pin(conn, O, pinned, 1))
    promoted = save(home, "The quota is 5")
    home.write(lambda conn: personal.promote(conn, promoted, None, 1))
    save(home, "The limit is 6")
    save(home, "The quota is 6")
    assert {pinned, promoted}.isdisjoint(gone(home))


def test_an_edit_takes_its_word_back_and_a_deletion_revives(home: Home) -> None:
    old = save(home, "The port is 8080")
    home.write(lambda conn: correct.edit(conn, O, old, {"title": "Ports vary"}, None, 1))
    new = save(home, "The port is 9090")
    assert gone(home) == {}
    last = save(home, "The port is 7")
    assert gone(home) == {new: last}
    home.write(lambda conn: correct.delete(conn, O, last, 1))
    assert gone(home) == {}


def test_by_hand(home: Home) -> None:
    old, foreign = save(home, "We deploy by hand"), save(home, "A page says so", Trust.FOREIGN)
    new = save(home, "A robot deploys")
    with pytest.raises(InvalidInput, match="at a terminal"):
        home.write(lambda conn: subjects.replace(conn, foreign, [old]))
    home.write(lambda conn: subjects.replace(conn, new, [old]))
    assert gone(home) == {old: new}
    for number in (99, old, new):
        with pytest.raises(NotFound):
            home.write(lambda conn, number=number: subjects.replace(conn, new, [number]))


# Near-duplicates -----------------------------------------------------------------------------


def observe(home: Home, title: str, *, on: bool = True, agent: str | None = None) -> int:
    """A turn with one observation, kept as the pipeline keeps it."""
    at = 1000 * int(home.value("SELECT count(*) FROM user_prompts"))
    home.prompt(f"do {title}", at)
    home.tool(f"t{at}", at + 10)
    home.stop("done", at + 20)
    (work,) = home.claim(at + 30, force=True)
    draft = Draft(type="change", title=title, narrative=f"at {at}", events=work.event_ids,
                  files_modified=(f"f{at}.py",), agent_id=agent)  # fmt: skip
    settings = values(DEDUP_ENABLED=on, DEDUP_MIN_PROJECT_DOCS=2, DEDUP_IDF_VETO_DF=1)

    def write(conn: Any) -> memories.Kept:
        kept = memories.keep(
            conn, work, work.session_db_id, Observed(observations=(draft,)), home.now
        )
        return alike.settled(conn, kept, settings, home.now)

    return home.write(write).observations[0].id


def test_off_nothing_merges(home: Home) -> None:
    assert observe(home, "Fix the cart", on=False) != observe(home, "Fix the cart!", on=False)
    assert home.rows("SELECT * FROM observation_dedup_candidates") == []


def test_the_same_title_merges_across_sessions_with_its_evidence(home: Home) -> None:
    first = observe(home, "Fix the cart")
    home.session = "s2"
    assert observe(home, "  fix THE cart!! ") == first
    assert home.value("SELECT occurrence_count FROM observations WHERE id = ?", first) == 2
    assert home.value("SELECT count(*) FROM observations") == 1
    assert (
        home.value("SELECT count(DISTINCT memory_id) FROM evidence WHERE kind = 'observation'")
        == 1
    )
    assert len(home.rows("SELECT * FROM memory_files WHERE memory_id = ?", first)) == 2
    assert observe(home, "Fix the cart", agent="sub-1") != first, "never into the main agent's"
    home.host = "codex"
    assert observe(home, "Fix the cart") != first, "nor across hosts"
    assert home.verify().off == ()


def test_what_is_alike_is_a_pair_for_a_person_and_a_rare_word_tells_apart(home: Home) -> None:
    titles = ["cart total rounds wrong", "cart total rounds", "wrong again",
              "cart wrong rounds total again", "cart total rounds wrong twice"]  # fmt: skip
    ids = [observe(home, title) for title in titles]
    pairs = {(row[0], row[1]) for row in home.rows(
        "SELECT observation_id, other_id FROM observation_dedup_candidates")}  # fmt: skip
    assert (ids[3], ids[0]) in pairs
    assert not any(ids[4] in pair for pair in pairs), "`twice` stands in no other title"
    assert len(home.rows("SELECT id FROM observations")) == len(titles)
    (number,) = home.rows("SELECT id FROM observation_dedup_candidates LIMIT 1")[0]
    home.write(lambda conn: dedup.resolve(conn, number, "distinct"))
    rules = dedup.Rules(least=2, veto=1, threshold=0.75)
    project = home.value("SELECT project_id FROM observations LIMIT 1")
    home.write(lambda conn: conn.execute("UPDATE observations SET title_key = NULL").fetchall())
    assert home.write(lambda conn: dedup.rekey(conn, project)) == len(titles)
    found = home.store.read(lambda conn: dedup.pairs(conn, project, rules))
    assert found is not None
    assert (ids[3], ids[0]) in {(new, old) for new, old, _ in found}
    home.write(lambda conn: dedup.note(conn, project, found, 2))
    listed = home.store.read(lambda conn: dedup.candidates(conn, None, "distinct", 9))
    assert [row["id"] for row in listed] == [number]
    small = dedup.Rules(largest=2)
    assert home.store.read(lambda conn: dedup.pairs(conn, project, small)) is None
    with pytest.raises(NotFound, match="mem dedup list"):
        home.write(lambda conn: dedup.resolve(conn, 999, "distinct"))
    home.write(lambda conn: correct.delete(conn, O, ids[3], 3))
    assert not any(ids[3] in row[:2] for row in home.rows(
        "SELECT observation_id, other_id FROM observation_dedup_candidates"))  # fmt: skip


@pytest.mark.slow
def test_by_command() -> None:
    with data_dir() as paths:
        filled = Filled(paths.data)
        words = ["cart total rounds wrong", "total rounds wrong cart"] * 2
        filled.observe([{"title": title, "project": "shop"} for title in words])
        filled.observe(
            [{"title": f"cart total rounds wrong {n}", "project": "shop"} for n in range(9)]
        )
        filled.close()
        live = start(paths)
        try:
            cwd = str(paths.data.parent)
            for text in ("The port is 8080", "port moved to 9090"):
                body = {"text": text, "project": "shop", "cwd": cwd}
                assert live.ask("POST", "/api/memory/save", body).json["success"]
            context = mem(paths.data, "context", "--project", "shop").out
            assert "9090" in context
            assert "8080" not in context
            assert "superseded by #15" in mem(paths.data, "why", "14").out
            until(lambda: "(superseded by #15)" in mem(paths.data, "search", "8080").out)
            scanned = json.loads(mem(paths.data, "dedup", "scan", "--json").out)
            assert scanned["candidates"] > 0
            listed = json.loads(mem(paths.data, "dedup", "list", "--json").out)["candidates"]
            first = str(listed[0]["id"])
            assert mem(paths.data, "dedup", "list").out.split()[0] == first
            assert mem(paths.data, "dedup", "resolve", first, "dismissed").code == 0
            assert first not in [
                str(row["id"])
                for row in json.loads(mem(paths.data, "dedup", "list", "--json").out)[
                    "candidates"
                ]
            ]
            assert mem(paths.data, "dedup", "resolve", "999", "distinct").code == 1
            body = {"text": "Deploys are done by a robot", "project": "shop", "replaces": [15]}
            assert live.ask("POST", "/api/memory/save", body).status == 200
            assert (
                live.ask("POST", "/api/memory/save", {**body, "replaces": [77]}).status == 404
            )
            assert "9090" not in mem(paths.data, "context", "--project", "shop").out
        finally:
            live.stop()


def test_a_context_holds_the_newer_one_only(tmp_path: Path) -> None:
    filled = Filled(tmp_path)
    try:
        old, new = filled.observe(
            [{"title": "The port is 8080"}, {"title": "port moved to 9090"}]
        )
        for number in (old, new):
            filled.store.write(lambda conn, n=number: subjects.settle(conn, n)).result(30)
        assert build(filled).ids == (str(new),)
    finally:
        filled.close()
