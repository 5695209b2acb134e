"""What people said of memories and projects goes along, and comes in with their yes only."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.clean.cleaner import builtin_cleaner
from claude_mem_core.errors import InvalidInput
from claude_mem_core.store import (
    correct,
    export,
    feedback,
    imports,
    personal,
    projects,
    regroup,
)
from claude_mem_core.store.imports import Counts
from claude_mem_core.types import DocKind
from tests.cli_run import mem
from tests.store_home import Home, opened
from tests.terminal_kit import at_a_terminal

AT = 1_780_000_000_000
STATE = {
    "pins": """SELECT p.kind, coalesce(o.title, s.request), p.at_ms FROM pins p
      LEFT JOIN observations o ON p.kind = 'observation' AND o.id = p.record_id
      LEFT JOIN session_summaries s ON p.kind = 'summary' AND s.id = p.record_id
      ORDER BY p.at_ms""",
    "personal": """SELECT o.title FROM personal p JOIN observations o ON o.id = p.memory_id
      ORDER BY p.place""",
    "feedback": """SELECT o.title, f.useful, f.outdated, f.at_ms FROM feedback f
      JOIN observations o ON o.id = f.memory_id ORDER BY o.title""",
    "aliases": """SELECT l.label, p.label FROM project_labels l
      JOIN projects p ON p.id = l.project_id ORDER BY 1""",
    "names": """SELECT n.said, p.label, n.shown FROM project_names n
      JOIN projects p ON p.id = n.project_id ORDER BY 1""",
    "merged": """SELECT p.label, m.label FROM projects p JOIN projects m ON m.id = p.merged_into
      ORDER BY 1""",
    "projects": "SELECT label FROM projects ORDER BY 1",
    "rows": "SELECT title, project, trust FROM observations ORDER BY 1",
}


def told(home: Home) -> None:
    """Memories of three projects, and everything a person can say of them."""
    rows = [
        {"id": n, "title": title, "narrative": f"{title} it is", "project": project,
         "memory_session_id": f"m-{project}", "created_at_epoch": AT + n}
        for n, (title, project) in enumerate([
            ("spaces, not tabs", "shop"), ("the cart rounds", "shop"), ("the mill wheel", "mill"),
            ("the old mill", "oldmill"), ("answer briefly", "shop"),
        ], 1)
    ]  # fmt: skip
    summary = {"id": 1, "memory_session_id": "m-shop", "project": "shop", "request": "fix it",
               "prompt_number": 1, "created_at_epoch": AT}  # fmt: skip
    take(home, {"observations": rows, "summaries": [summary]})

    def say(conn: Any) -> None:
        correct.pin(conn, DocKind.OBSERVATION, 2, AT + 50)
        correct.pin(conn, DocKind.SUMMARY, 1, AT + 40)
        for number, place in ((5, None), (1, None), (3, 1)):
            personal.promote(conn, number, place, AT + 60)
        for number, word in ((2, "useful"), (2, "useful"), (4, "outdated")):
            feedback.say(conn, number, word, AT + 70)
        regroup.rename(conn, "shop", "store", AT + 80)
        regroup.alias(conn, "store", "kiosk", AT + 81)
        old, new = projects.labelled(conn, "oldmill"), projects.labelled(conn, "mill")
        assert old is not None
        assert new is not None
        regroup.merge(conn, [old], new, AT + 82)

    home.write(say)


def take(home: Home, value: Any, *, own: bool = False) -> Counts:
    staged = imports.read_json(value, builtin_cleaner(), own=own)
    try:
        return home.write(lambda conn: imports.keep(conn, staged, home.now))
    finally:
        staged.close()


def exported(home: Home, wanted: export.Wanted | None = None) -> dict[str, Any]:
    file = io.BytesIO()
    home.store.read(lambda conn: export.write(conn, wanted or export.Wanted(), "", AT, file))
    value: dict[str, Any] = json.loads(file.getvalue())
    export.verify(value)
    return value


def state(home: Home) -> dict[str, Any]:
    return {name: home.rows(sql) for name, sql in STATE.items()}


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with opened(tmp_path / "memory.db") as found:
        told(found)
        yield found


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Home]:
    with opened(tmp_path / "other.db") as found:
        yield found


def test_export_wipe_import_gives_all_of_it_back(home: Home, other: Home) -> None:
    whole = exported(home)
    before = state(home)
    assert all(before.values())
    counts = take(other, whole, own=True)
    assert state(other) == before
    assert all(counts.own.values())
    again = take(other, whole, own=True)
    assert state(other) == before
    assert not any(again.own.values())
    assert exported(other)["own"]["projects"] == whole["own"]["projects"]


def test_without_a_yes_nothing_of_it_holds(home: Home, other: Home) -> None:
    counts = take(other, exported(home))
    assert counts.imported > 0
    assert counts.left_out == {"pins, ratings and names": 9}
    found = state(other)
    for name in ("pins", "personal", "feedback", "aliases", "names", "merged"):
        assert found[name] == []
    assert {trust for _, _, trust in found["rows"]} == {"foreign"}


def test_what_is_here_comes_first_and_stays(home: Home, other: Home) -> None:
    take(other, [{"title": "mine", "project": "home"}, {"title": "kiosk rows", "project": "kiosk"}])

    def say(conn: Any) -> None:
        personal.promote(conn, 1, None, AT)
        feedback.say(conn, 1, "useful", AT)

    other.write(say)
    take(other, exported(home), own=True)
    order = [title for (title,) in other.rows(STATE["personal"])]
    assert order == ["mine", "the mill wheel", "answer briefly", "spaces, not tabs"]
    # Another project here has that name: it keeps it.
    assert other.rows(STATE["aliases"]) == []
    assert "kiosk" in [label for (label,) in other.rows(STATE["projects"])]


def test_the_personal_list_stays_small(home: Home, other: Home) -> None:
    take(other, [{"title": f"t{n}", "project": "home"} for n in range(personal.MOST - 1)])
    other.write(
        lambda conn: [personal.promote(conn, n + 1, None, AT) for n in range(personal.MOST - 1)]
    )
    counts = take(other, exported(home), own=True)
    assert counts.own["personal"] == 1
    assert other.value("SELECT count(*) FROM personal") == personal.MOST


def test_a_project_that_still_has_its_old_name_is_renamed_and_that_can_be_undone(
    home: Home, other: Home
) -> None:
    take(other, [{"title": "before", "project": "shop"}])
    take(other, exported(home), own=True)
    assert other.rows(STATE["projects"]) == [("mill",), ("oldmill",), ("store",)]
    assert other.write(lambda conn: regroup.undo(conn, None, AT)).action == "rename"
    assert ("shop",) in other.rows(STATE["projects"])


def test_a_part_holds_what_was_said_of_that_part(home: Home) -> None:
    number = home.value("SELECT id FROM projects WHERE label = 'mill'")
    own = exported(home, export.Wanted(projects=[number]))["own"]
    assert own["personal"] == [3]
    assert (own["pins"], own["feedback"], own["projects"]) == ([], [], [])
    assert exported(home, export.Wanted(types=["discovery"]))["own"]["projects"] == []


def test_the_digest_covers_it(home: Home) -> None:
    value = exported(home)
    value["own"]["personal"].append(4)
    with pytest.raises(InvalidInput, match="--edited"):
        export.verify(value)
    value = exported(home)
    value["format"] = "claude-mem-core/1"
    value["own"]["personal"].append(4)
    with pytest.raises(InvalidInput, match="--edited"):
        export.verify(value)


def test_the_form_before_is_read_still(home: Home) -> None:
    import hashlib

    value = exported(home)
    del value["own"]
    lines = b"".join(export.canonical(r) + b"\n" for kind in export.KINDS for r in value[kind])
    export.verify(
        {**value, "format": "claude-mem-core/1", "sha256": hashlib.sha256(lines).hexdigest()}
    )


@pytest.mark.parametrize(
    "own",
    [
        [], {"pins": {}}, {"pins": ["x"]}, {"pins": [{"kind": "prompt", "id": 1, "at": 1}]},
        {"pins": [{"kind": "observation", "id": "1", "at": 1}]}, {"personal": ["1"]},
        {"personal": [True]}, {"feedback": [{"id": 1, "useful": -1, "outdated": 0, "at": 1}]},
        {"projects": [{"label": "a\nb"}]}, {"projects": [{"label": "x" * 300}]},
        {"projects": [{"label": "a", "names": [["b"]]}]},
        {"projects": [{"label": "a", "aliases": ["x"] * 2_000}]},
    ],
)  # fmt: skip
def test_what_is_not_as_exported_is_refused_and_changes_nothing(other: Home, own: Any) -> None:
    with pytest.raises(InvalidInput, match="own"):
        take(other, {"observations": [{"title": "t", "project": "p"}], "own": own}, own=True)
    assert other.value("SELECT count(*) FROM observations") == 0


def test_what_names_no_memory_of_the_file_is_passed_over(other: Home) -> None:
    own = {"pins": [{"kind": "observation", "id": 99, "at": 1}], "personal": [98],
           "feedback": [{"id": 97, "useful": 3, "outdated": 0, "at": 1}],
           "projects": [{"label": "p", "merged_into": "nowhere"}]}  # fmt: skip
    counts = take(other, {"observations": [{"title": "t", "project": "p"}], "own": own}, own=True)
    assert not any(counts.own.values())


def test_praise_is_bounded_and_times_are_not_in_the_future(other: Home) -> None:
    row = {"id": 1, "title": "t", "project": "p", "created_at_epoch": AT}
    own = {"feedback": [{"id": 1, "useful": 10**9, "outdated": 0, "at": 10**14}]}
    take(other, {"observations": [row], "own": own}, own=True)
    assert other.rows("SELECT useful, at_ms FROM feedback") == [(feedback.MOST, other.now)]


def test_only_a_person_at_a_terminal_can_take_it(home: Home, tmp_path: Path) -> None:
    file = tmp_path / "all.json"
    file.write_text(json.dumps(exported(home)), "utf-8")
    data = tmp_path / "data"
    refused = mem(data, "import", str(file), "--own")
    assert (refused.code, "terminal" in refused.err) == (2, True)
    asked = at_a_terminal(data, "import", str(file), "--own", answer="n")
    assert asked.code == 1
    assert "the mill wheel" in asked.out
    assert not (data / "memory.db").exists()
    taken = at_a_terminal(data, "import", str(file), "--own", answer="y")
    assert taken.code == 0, taken.out
    assert "3 personal" in taken.out
    assert "add `--own`" in mem(data, "import", str(file)).out
