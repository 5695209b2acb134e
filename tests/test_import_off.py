"""Imports and the places where memory is off: one answer, as at the door."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.clean.cleaner import builtin_cleaner
from claude_mem_core.pipeline.off import OFF, leave_out
from claude_mem_core.store import imports, regroup
from claude_mem_core.store.imports import Counts
from claude_mem_core.store.imports.records import Incoming, Kind, Origin
from claude_mem_core.testing import worker
from tests.cli_run import mem
from tests.store_home import HERE, NOW, Home, opened

AT = 1_780_000_000_000
EXCLUDED, INCLUDED = "CLAUDE_MEM_EXCLUDED_PROJECTS", "CLAUDE_MEM_INCLUDED_PROJECTS"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with opened(tmp_path / "memory.db") as found:
        yield found


def rows(*projects: str) -> list[dict[str, Any]]:
    return [{"title": f"of {p}", "project": p, "created_at_epoch": AT} for p in projects]


def take(home: Home, value: Any, tool: tuple[str, str] = ("", ""), **settings: Any) -> Counts:
    with closing(imports.read_json(value, builtin_cleaner())) as staged:
        if tool[0]:
            texts = {"cwd": tool[1], "tool_use_id": "t1", "tool_name": "Bash"}
            row = Incoming(origin=Origin(content_id="c", number="1"), project=tool[0], texts=texts)
            staged.add(Kind.TOOL, row)
        home.store.read(lambda conn: leave_out(conn, staged, settings))
        return home.write(lambda conn: imports.keep(conn, staged, NOW))


def labels(home: Home) -> set[str]:
    return {label for (label,) in home.rows("SELECT DISTINCT project FROM observations")}


def recorded(home: Home, folder: Path) -> None:
    """A session in that folder, under its name."""
    home.place = type(HERE)(key=f"k-{folder}", label=folder.name, kind="folder", root=str(folder))
    home.session = f"s-{folder.name}"
    home.prompt("hello", cwd=str(folder))


@pytest.mark.parametrize("pattern", ["acme", "ac*"])
def test_projects_that_are_excluded_by_name_stay_out_and_are_counted(
    home: Home, pattern: str
) -> None:
    counts = take(home, rows("acme", "shop", "acme"), **{EXCLUDED: [pattern]})
    assert labels(home) == {"shop"}
    assert counts.left_out == {OFF: 2}
    assert home.rows("SELECT label FROM projects") == [("shop",)]


def test_with_nothing_switched_off_all_comes_in(home: Home) -> None:
    assert take(home, rows("acme", "shop")).left_out == {}
    assert labels(home) == {"acme", "shop"}


def test_a_pattern_for_paths_holds_for_names_that_were_recorded_below(
    home: Home, tmp_path: Path
) -> None:
    folder = tmp_path / "clients" / "acme"
    recorded(home, folder)
    counts = take(home, rows("acme", "shop"), **{EXCLUDED: [f"{tmp_path}/clients/**"]})
    assert (labels(home), counts.left_out) == ({"shop"}, {OFF: 1})


def test_so_it_does_when_the_project_has_another_name_now(home: Home, tmp_path: Path) -> None:
    recorded(home, tmp_path / "acme")
    home.write(lambda conn: regroup.rename(conn, "acme", "customer", NOW))
    settings = {EXCLUDED: [str(tmp_path / "acme")]}
    assert take(home, rows("acme", "customer", "shop"), **settings).left_out == {OFF: 2}
    assert labels(home) == {"shop"}


def test_a_marker_file_switches_imports_off_too(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "acme"
    folder.mkdir()
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n", "utf-8")
    (folder / ".claude-mem.json").write_text('{"enabled": false}', "utf-8")
    recorded(home, folder)
    assert take(home, rows("acme", "shop")).left_out == {OFF: 1}
    assert labels(home) == {"shop"}


def test_with_opt_in_only_what_was_switched_on_comes_in(home: Home, tmp_path: Path) -> None:
    recorded(home, tmp_path / "here")
    recorded(home, tmp_path / "there")
    settings = {"CLAUDE_MEM_OPT_IN": True, INCLUDED: [str(tmp_path / "here"), "named"]}
    value = [*rows("here", "there", "named", "unknown"), {"title": "of none"}]
    assert take(home, value, **settings).left_out == {OFF: 3}
    assert labels(home) == {"here", "named"}


def test_rows_that_name_no_project_go_with_their_session(home: Home, tmp_path: Path) -> None:
    recorded(home, tmp_path / "acme")
    value = {
        "sessions": [{"content_session_id": "c", "project": "acme", "started_at_epoch": AT}],
        "prompts": [
            {"content_session_id": "c", "prompt_text": "told", "prompt_number": 1},
            {"content_session_id": "s-acme", "prompt_text": "here", "prompt_number": 9},
            {"content_session_id": "x", "prompt_text": "other", "prompt_number": 1},
        ],
    }
    counts = take(home, value, **{EXCLUDED: ["acme"]})
    assert counts.left_out == {OFF: 3}
    kept = home.rows("SELECT prompt_text FROM user_prompts ORDER BY id")
    assert kept == [("hello",), ("other",)]


def test_what_is_merged_into_an_excluded_project_stays_out(home: Home) -> None:
    value = [{"title": "t", "project": "old", "merged_into_project": "acme"}]
    assert take(home, value, **{EXCLUDED: ["acme"]}).left_out == {OFF: 1}


def test_the_directories_that_an_import_tells_decide(home: Home, tmp_path: Path) -> None:
    settings = {EXCLUDED: [f"{tmp_path}/clients/**"]}
    cwd = str(tmp_path / "clients" / "acme")
    assert take(home, rows("acme", "shop"), ("acme", cwd), **settings).left_out == {OFF: 2}
    assert labels(home) == {"shop"}
    # A tool that ran below is left out; the project it was of is not.
    below = take(home, rows("mill"), ("mill", f"{cwd}/src"), **settings)
    assert below.left_out == {OFF: 1}
    assert labels(home) == {"shop", "mill"}


def test_the_command_and_the_endpoint_ask_too() -> None:
    with worker.running() as live:
        live.paths.settings.write_text(json.dumps({EXCLUDED: ["acme"]}), "utf-8")
        file = live.paths.data / "rows.json"
        file.write_text(json.dumps(rows("acme", "shop")), "utf-8")
        done = mem(live.paths.data, "import", str(file))
        assert f"1 {OFF}" in done.out
        answer = live.ask("POST", "/api/import", {"observations": rows("acme", "shop")}).json
        assert answer["left_out"] == {OFF: 1}
        found = live.ask("GET", "/api/observations?limit=10").json
        assert [item["title"] for item in found["items"]] == ["of shop"]
