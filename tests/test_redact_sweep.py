"""`mem redact scan` and `sweep`: secrets that were stored before a pattern knew them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from claude_mem_core.clean.cleaner import Cleaner, CleaningFailed, Filter, builtin_cleaner
from claude_mem_core.store import fetch, sweep
from claude_mem_core.testing.worker import LiveWorker, running
from claude_mem_core.types import Batch, Draft, Observed
from tests.cli_run import mem
from tests.store_home import Home, opened

KEY = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
MARK = "<redacted type='github_pat'/>"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with opened(tmp_path / "memory.db") as made:
        yield made


def counts(before: str, after: str) -> dict[str, int]:
    return {"github_pat": after.count(MARK) - before.count(MARK)}


def swept(home: Home, cleaner: Cleaner, *, write: bool) -> sweep.Swept:
    return home.write(
        lambda conn: sum(
            sweep.iterate(conn, cleaner.secrets, counts, write=write), start=sweep.Swept()
        )
    )


def filled(home: Home) -> None:
    home.prompt(f"use {KEY} please", 0, prompt_id="p1")
    home.tool("t1", 10, input={"command": f"curl -H {KEY}", "n": 1}, output={"stdout": "ok"})
    home.stop(f"I used {KEY}", 20)
    (work,) = home.claim(30, force=True)
    draft = Draft(type="decision", title=f"Key {KEY}", facts=("a", f"b {KEY}"), events=work.event_ids)
    home.keep(work, Observed(observations=(draft,)))


def test_a_scan_counts_and_changes_nothing(home: Home) -> None:
    filled(home)
    before = home.rows("SELECT title, facts FROM observations")
    found = swept(home, builtin_cleaner(), write=False)
    assert found.rows["user_prompts"] == found.rows["tool_uses"] == found.rows["observations"] == 1
    assert found.patterns["github_pat"] >= 5
    assert "#1" in found.where
    assert KEY not in repr(found)
    assert home.rows("SELECT title, facts FROM observations") == before


def test_a_sweep_leaves_none_and_everything_else(home: Home) -> None:
    filled(home)
    swept(home, builtin_cleaner(), write=True)
    title, facts, key = home.rows("SELECT title, facts, title_key FROM observations")[0]
    assert (title, json.loads(facts)) == (f"Key {MARK}", ["a", f"b {MARK}"])
    assert "ghp" not in key
    (tool,) = home.rows("SELECT tool_input FROM tool_uses")
    assert json.loads(tool[0]) == {"command": f"curl -H {MARK}", "n": 1}
    assert not swept(home, builtin_cleaner(), write=False)
    assert home.verify().off == ()


def test_a_redactor_that_fails_changes_nothing(home: Home) -> None:
    def fails(text: str) -> str:
        raise ValueError(text)

    filled(home)
    with pytest.raises(CleaningFailed) as caught:
        swept(home, Cleaner([Filter("acme", fails)]), write=True)
    assert KEY not in str(caught.value)
    assert home.value("SELECT title FROM observations") == f"Key {KEY}"


def test_every_field_of_an_observers_reply_is_cleaned() -> None:
    from claude_mem_core.pipeline.clean_reply import LONGEST, cleaned

    said: dict[str, Any] = {
        "title": KEY, "subtitle": KEY, "narrative": "x" * (LONGEST - 20) + " " + KEY,
        "facts": (KEY,), "concepts": (KEY,), "files_read": (f"/a/{KEY}",), "files_modified": (KEY,),
    }  # fmt: skip
    batch = Batch(session_db_id=1, project="p", events=())
    made = cleaned(Observed(observations=(Draft(type="decision", **said),)), builtin_cleaner(), batch)
    assert KEY[:12] not in repr(made)


# A worker ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def live() -> Iterator[LiveWorker]:
    with running() as worker:
        yield worker


def holding(folder: Path) -> list[str]:
    return [p.name for p in folder.rglob("*") if p.is_file() and KEY.encode() in p.read_bytes()]


def test_the_commands_find_it_and_take_it_out_of_every_file(live: LiveWorker) -> None:
    data = live.paths.data
    body = {"text": "The deploy key of the robot", "project": "p"}
    number = live.ask("POST", "/api/memory/save", body).json["id"]
    assert mem(data, "redact", "scan").code == 0
    conn = apsw.Connection(str(live.paths.database))
    conn.set_busy_timeout(10_000)
    conn.execute("UPDATE observations SET narrative = narrative || ? WHERE id = ?", (f" {KEY}", number))
    conn.close()
    mem(data, "db", "snapshot")
    assert len(holding(data)) >= 2

    scan = mem(data, "redact", "scan")
    assert scan.code == 1
    assert "github_pat" in scan.out
    assert f"#{number}" in scan.out
    assert "holds some" in scan.out
    assert KEY not in scan.out
    assert mem(data, "redact", "sweep").code == 2, "nobody was asked"

    done = mem(data, "redact", "sweep", "--yes", "--json").json
    assert done["swept"]
    assert done["rows"] == {"observations": 1}
    assert done["unread"] == []
    assert holding(data) == []
    assert mem(data, "redact", "scan").code == 0
    assert "robot" in mem(data, "search", "deploy robot").out
    reader = apsw.Connection(str(live.paths.database), flags=apsw.SQLITE_OPEN_READONLY)
    assert fetch.rows(reader, "SELECT 1 FROM memory_words WHERE word LIKE 'ghp%'") == []
    reader.close()


def test_a_copy_that_could_not_be_worked_over_is_told_by_the_exit_code(live: LiveWorker) -> None:
    broken = live.paths.data / f"{live.paths.database.name}.20260101.before-restore"
    broken.write_bytes(b"no database" * 99)
    try:
        for args in (("scan",), ("sweep", "--yes")):
            done = mem(live.paths.data, "redact", *args)
            assert (done.code, f"! {broken.name}" in done.out) == (1, True)
    finally:
        broken.unlink()
    assert mem(live.paths.data, "redact", "scan").code == 0


def test_a_written_memory_and_an_edit_pass_the_same_door(live: LiveWorker) -> None:
    saved = live.ask("POST", "/api/memory/save", {"text": f"see {KEY}", "project": "p"}).json
    key = saved["id"]
    live.ask("PATCH", f"/api/memories/{key}", {"facts": [KEY], "title": KEY})
    import_ = {"prompts": [], "sessions": [], "summaries": [], "observations": []}
    assert live.ask("POST", "/api/import", import_).status == 200
    assert KEY not in live.ask("GET", f"/api/observation/{key}").body.decode()
    assert holding(live.paths.data) == []
