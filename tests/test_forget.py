"""Forgetting for good: every table, every file, and a proof that can fail."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from claude_mem_core.errors import InvalidInput
from claude_mem_core.forgetting import copies, files, proof, words
from claude_mem_core.forgetting.forget import chosen_text
from claude_mem_core.paths import Paths
from claude_mem_core.store import Store, connect, correct, erase, fetch, migrations, snapshot
from claude_mem_core.store.erase import Chosen
from claude_mem_core.testing.worker import LiveWorker, running
from claude_mem_core.types import DocKind, Draft, Observed, SummaryDraft
from tests.cli_run import mem
from tests.store_home import Home, opened
from tests.worker_home import until

SECRET = 'zyxquark "otter" \\ Ünïcode'
WORD = "zyxquark"
O = DocKind.OBSERVATION


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with opened(tmp_path / "memory.db") as made:
        yield made


def turn(home: Home, title: str, n: int, *, tool: str = "ls", prompt: str = "do it") -> int:
    home.prompt(prompt, n, prompt_id=f"p{n}")
    home.tool(f"t{n}", n + 10, input={"command": tool})
    home.stop("done", n + 20)
    (work,) = home.claim(n + 30, force=True)
    draft = Draft(type="decision", title=title, narrative="Some text", events=work.event_ids)
    summary = SummaryDraft(request="asked", completed="did it", events=work.event_ids)
    return home.keep(work, Observed(observations=(draft,), summary=summary)).observations[0].id


def erased(home: Home, **chosen: Any) -> erase.Erased:
    total, wanted = erase.Erased(), Chosen(**chosen)
    while gone := home.write(lambda conn: erase.some(conn, wanted, home.now)):
        total += gone
    return total


def saying(conn: apsw.Connection, needles: tuple[bytes, ...]) -> list[str]:
    """Every column of every table that holds one of the needles."""
    found = []
    for (table,) in fetch.rows(conn, proof.TABLES):
        for column in proof._columns(conn, table, needles):
            found.append(f"{table}.{column}")
    return found


# The tables ----------------------------------------------------------------------------------


def test_every_column_of_text_is_erased_or_is_no_text(home: Home) -> None:
    """A new column has to be put into one of the two lists."""
    no_words = {
        "at", "agent_id", "agent_type", "content_hash", "content_session_id", "created_at", "cwd", "key", "kind",
        "generated_by_model", "host", "memory_session_id", "merged_into_project", "or_generation_id",
        "or_session_id", "origin_device_id", "origin_local_id", "platform_source", "project", "prompt_id", "root",
        "session", "started_at", "completed_at", "state", "status", "sync_rev", "tool_name", "tool_use_id",
        "title_key", "trust", "type", "action", "message_type", "model", "ids", "reason",
        "reasons",
    }  # fmt: skip
    other = {
        "schema_versions", "meta", "projects", "project_labels", "project_places", "evidence",
        "deliveries", "changes", "change_readers", "counters", "totals", "memory_files",
        "private_turns", "pins", "memory_words", "work_checks", "project_names",
        "project_changes", "watched", "verify_marks",
        "subjects", "observation_dedup_candidates",
    }  # fmt: skip
    for (table,) in home.rows("SELECT name FROM sqlite_schema WHERE type = 'table'"):
        if table.startswith(("sqlite_", "memory_index", "memory_words")) or table in other:
            continue
        types = home.rows(f"SELECT name FROM pragma_table_info('{table}') WHERE type = 'TEXT'")
        words_of = erase.WORDS[table].columns if table in erase.WORDS else ()
        assert {name for (name,) in types} <= no_words | set(words_of), table


def test_a_text_goes_from_every_table_and_nothing_else_does(home: Home) -> None:
    kept = turn(home, "Nothing of it", 0)
    by_title = turn(home, f"About {SECRET}", 1000)
    by_tool = turn(home, "By its tool", 2000, tool=f"echo {SECRET}")
    turn(home, "By its prompt", 3000, prompt=f"use {SECRET}")
    edited = turn(home, f"Was {SECRET}", 4000)
    home.write(lambda c: correct.edit(c, O, edited, {"title": "Harmless"}, None, home.now))
    trashed = turn(home, f"Gone {SECRET}", 5000)
    home.write(lambda c: correct.pin(c, O, trashed, home.now))
    home.write(lambda c: correct.delete(c, O, trashed, home.now))
    home.write(lambda c: correct.pin(c, O, by_title, home.now))
    home.prompt(f"waiting {SECRET}", 6000, prompt_id="p6")
    home.tool("t6", 6010, output={"stdout": SECRET})  # nobody has observed it yet
    home.write(lambda c: c.execute("UPDATE sdk_sessions SET custom_title = ?", (SECRET,)) and None)

    gone = erased(home, texts=words.spellings(SECRET))
    assert f"{by_title}" in gone.memories
    needles = words.needles([SECRET])
    assert home.store.read(lambda conn: saying(conn, needles)) == []
    left = [row[0] for row in home.rows("SELECT id FROM observations ORDER BY id")]
    assert left == [kept, by_tool, by_tool + 1, edited]
    assert home.rows("SELECT 1 FROM pins") == []
    assert home.rows("SELECT 1 FROM corrections WHERE before LIKE '%quark%'") == []
    assert home.verify().off == ()
    assert home.verify().skipped == {"forgotten": 1}


def test_a_text_of_one_project_or_age_leaves_the_others(home: Home) -> None:
    turn(home, f"Old {WORD}", 0)
    home.now += 100_000
    turn(home, f"New {WORD}", 0)
    texts = words.spellings(WORD)
    assert not erased(home, texts=texts, projects=[99])
    erased(home, texts=texts, before_ms=home.now - 50_000)
    titles = [row[0] for row in home.rows("SELECT title FROM observations")]
    assert titles == [f"New {WORD}"]


def test_a_whole_project_goes_with_its_name(home: Home) -> None:
    number = turn(home, "Something", 0)
    home.write(lambda c: correct.delete(c, O, number, home.now))
    home.prompt("still to be observed", 5000)
    home.tool("t5", 5010)
    project = home.value("SELECT id FROM projects")
    chosen = Chosen(projects=[project])
    foreseen = home.store.read(lambda conn: erase.count(conn, chosen))
    assert (foreseen.rows["pending_messages"], foreseen.rows["corrections"]) == (1, 1)
    erased(home, projects=[project])
    for table in ("observations", "events", "user_prompts", "sdk_sessions", "corrections", "projects"):
        assert home.rows(f"SELECT 1 FROM {table}") == [], table
    assert home.verify().off == ()


def test_what_a_search_found_goes_by_its_ids(home: Home) -> None:
    first, second = turn(home, "One", 0), turn(home, "Two", 1000)
    gone = erased(home, ids={O: [first]})
    assert gone.memories == (str(first),)
    assert home.rows("SELECT id FROM observations") == [(second,)]


@pytest.mark.parametrize("text", ["", "abc", "   x  "])
def test_a_text_that_stands_everywhere_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="4 characters"):
        chosen_text(text)


@pytest.mark.parametrize("text", ["claude-code", "forgotten", "tool_used"])
def test_our_own_words_end_the_work_too(home: Home, text: str) -> None:
    turn(home, "Something", 0, tool=f"echo {text}")
    erased(home, texts=words.spellings(text))
    assert home.rows("SELECT 1 FROM tool_uses") == []


# The files -----------------------------------------------------------------------------------


def packed(folder: Path, text: str) -> dict[str, Path]:
    """The text in files, in the ways it may stand there."""
    raw = text.encode()
    made = {
        "plain": raw, "utf16": text.encode("utf-16-le"), "json": json.dumps({"a": text}).encode(),
        "twice": json.dumps({"a": json.dumps([text], ensure_ascii=False)}).encode(),
        "zlib": b"head" + zlib.compress(os.urandom(100_000) + raw) + b"tail",
        "gzip": zlib.compress(raw, wbits=31), "far": b"x" * (files.BLOCK - 3) + raw,
    }  # fmt: skip
    paths = {name: folder / name for name in made}
    for name, path in paths.items():
        path.write_bytes(made[name])
    paths["zip"] = folder / "zip"
    with zipfile.ZipFile(paths["zip"], "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inside", raw)
    return paths


def test_the_proof_finds_a_text_however_it_is_packed(tmp_path: Path) -> None:
    needles = words.needles([SECRET])
    for name, path in packed(tmp_path, SECRET).items():
        assert files.holds(path, needles), name
    (tmp_path / "other").write_bytes(zlib.compress(b"an otter") + os.urandom(200_000))
    assert not files.holds(tmp_path / "other", needles)


def test_files_that_are_not_ours_are_named_and_kept(tmp_path: Path) -> None:
    paths = Paths(tmp_path)
    paths.settings.write_text(json.dumps({"note": SECRET}))
    (tmp_path / "export.json").write_text(SECRET)
    kept = tmp_path / "memory.db.damaged-1"
    kept.write_text(SECRET)
    found = {Path(one["place"]).name: one["cure"] for one in proof.left(paths, [SECRET])}
    assert found[kept.name].endswith(f"rm {kept}")
    kept.unlink()
    assert found["settings.json"] == "take it out there"
    assert "rm " in found["export.json"]
    assert copies.clean(paths, Chosen(), [SECRET]) == []


def test_a_copy_that_is_damaged_goes_when_it_may_hold_the_text(tmp_path: Path) -> None:
    paths, text = Paths(tmp_path), "a long sentence about the otter in the river"
    cut = text.encode()[:30] + b"\0\0\0\7" + text.encode()[30:]
    torn = tmp_path / "memory.db.damaged-1"
    torn.write_bytes(b"SQLite" + cut)
    other = tmp_path / "memory.db-wal.2.left"
    other.write_bytes(b"nothing of it")
    paths.snapshots.mkdir()
    broken = paths.snapshots / "memory-20260101T000000-000000000.db"
    broken.write_bytes(b"no database")
    done = {one.path: one.what for one in copies.clean(paths, Chosen(texts=(text,)), [text])}
    assert done == {torn.name: "deleted", f"snapshots/{broken.name}": "deleted"}
    assert other.exists()


def of_an_older_layout(path: Path) -> Path:
    """A snapshot from before there were corrections and pins, with one memory."""
    connect.touch(path)
    conn = apsw.Connection(str(path))
    for step in migrations.MIGRATIONS[:2]:
        migrations._take(conn, step, 1)
    conn.execute(
        "INSERT INTO sdk_sessions (content_session_id, memory_session_id, project, started_at,"
        " started_at_epoch) VALUES ('s', 'm', 'p', '2020', 1)"
    )
    conn.execute(
        "INSERT INTO observations (memory_session_id, session_db_id, project, type, title,"
        " created_at, created_at_epoch) VALUES ('m', 1, 'p', 'decision', ?, '2020', 1)", (SECRET,)
    )  # fmt: skip
    conn.close()
    return path


def test_snapshots_are_rewritten_also_those_of_an_older_layout(home: Home) -> None:
    turn(home, f"About {SECRET}", 0)
    paths = Paths(home.path.parent)
    new = snapshot.take(home.path)
    older = of_an_older_layout(paths.snapshots / "memory-20200101T000000-000000000.db")
    chosen = Chosen(texts=words.spellings(SECRET))
    assert [one.what for one in copies.would(paths, chosen, [SECRET])] == ["rewritten"] * 2
    assert [one.what for one in copies.clean(paths, chosen, [SECRET])] == ["rewritten"] * 2
    for path in (new, older):
        assert not files.holds(path, words.needles([SECRET]))
        store = Store.open(path)
        try:
            assert fetch.value(store._writer._conn, "PRAGMA integrity_check") == "ok"  # type: ignore[arg-type]
            assert store.read(lambda c: saying(c, (WORD.encode(),))) == []
        finally:
            store.close()
    assert copies.clean(paths, chosen, [SECRET]) == []


# A worker ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def live() -> Iterator[LiveWorker]:
    with running() as worker:
        yield worker


def save(live: LiveWorker, text: str, project: str = "here") -> int:
    body = {"text": text, "project": project, "title": text[:40]}
    return int(live.ask("POST", "/api/memory/save", body).json["id"])


def plant(live: LiveWorker) -> None:
    """The secret in every place that a data directory has."""
    data = live.paths.data
    save(live, f"The key is {SECRET}.")
    save(live, "The river is called Zambezi.")
    edited = save(live, f"Old words {SECRET}")
    live.ask("PATCH", f"/api/memories/{edited}", {"narrative": "new", "title": "new"})
    trashed = save(live, f"To be deleted {SECRET}")
    live.ask("POST", f"/api/memories/{trashed}/pin", {})
    live.ask("DELETE", f"/api/memories/{trashed}")
    assert mem(data, "db", "snapshot").code == 0
    (data / "spool" / "rejected").mkdir(parents=True, exist_ok=True, mode=0o700)
    (data / "spool" / "rejected" / "odd").write_text(json.dumps({"prompt": SECRET}))
    (data / "backups").mkdir(exist_ok=True, mode=0o700)
    (data / "backups" / "settings.json").write_text(json.dumps({"env": SECRET}))
    (data / "memory.db.damaged-1").write_bytes(b"..." + SECRET.encode("utf-16-le"))
    log = next((data / "logs").glob("worker-*.log"))
    with log.open("ab") as file:
        file.write(json.dumps({"text": SECRET}).encode() + b"\n")


def found_byte_by_byte(folder: Path) -> list[str]:
    """Looks without the product's own eyes: every file, all its bytes."""
    forms = [SECRET, json.dumps(SECRET)[1:-1], json.dumps(SECRET, ensure_ascii=False)[1:-1], WORD]
    forms += [json.dumps(form)[1:-1] for form in forms]
    needles = {form.encode(code) for form in forms for code in ("utf-8", "utf-16-le")}
    return [
        str(path)
        for path in folder.rglob("*")
        if path.is_file() and any(needle in path.read_bytes() for needle in needles)
    ]


def test_nothing_of_it_is_left_in_any_file(live: LiveWorker) -> None:
    plant(live)
    data = live.paths.data
    assert len(found_byte_by_byte(data)) >= 6
    dry = mem(data, "forget", "--text", SECRET, "--dry-run", "--json").json
    assert dry["dry_run"]
    assert dry["count"] == 1
    assert dry["rows"]["corrections"] == 2
    assert {one["what"] for one in dry["files"]} == {"rewritten", "deleted", "lines"}
    assert len(found_byte_by_byte(data)) >= 6, "a dry run changes nothing"

    done = mem(data, "forget", "--text", SECRET, "--prove", "--yes")
    assert done.code == 0, done.out + done.err
    assert "proven: none of" in done.out
    assert found_byte_by_byte(data) == []
    found = mem(data, "search", "zyxquark otter Unicode").out
    assert "zyxquark" not in found.split("\n", 1)[1:]
    assert "Zambezi" in mem(data, "search", "Zambezi").out
    conn = apsw.Connection(str(live.paths.database), flags=apsw.SQLITE_OPEN_READONLY)
    conn.execute("CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, memory_index, row)")
    terms = {row[0] for row in conn.execute("SELECT term FROM terms")}
    conn.close()
    assert "zambezi" in terms
    assert WORD not in terms
    export = data.parent / "export.json"
    assert mem(data, "export", "", str(export), "--force").code == 0
    assert WORD not in export.read_text()
    assert live.ask("POST", "/api/undo", {}).status == 404, "the trash is forgotten too"


def test_the_proof_says_where_it_still_is(live: LiveWorker) -> None:
    mine = live.paths.data / "mine.txt"
    mine.write_text("my own note about heliotrope")
    done = mem(live.paths.data, "forget", "--text", "heliotrope", "--prove", "--yes")
    assert done.code == 1
    assert f"still in {mine}" in done.out
    assert f"rm {mine}" in done.out
    mine.unlink()


def test_a_search_a_project_and_an_age_over_http(live: LiveWorker) -> None:
    save(live, "The gearbox of the tractor leaks oil", "farm")
    save(live, "The gearbox of the mill is fine", "mill")
    until(lambda: live.ask("GET", "/api/search?query=gearbox&format=json").json["observations"][1:])
    body = {"query": "gearbox", "project": "farm", "dry_run": False, "prove": True}
    done = live.ask("POST", "/api/forget", body, timeout=120).json
    assert (done["count"], done["proven"]) == (1, True)
    assert len(live.ask("GET", "/api/search?query=gearbox&format=json").json["observations"]) == 1
    waiting = live.paths.spool / "rejected" / "same-words"
    waiting.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    waiting.write_text("The gearbox of the mill is fine")
    done = live.ask("POST", "/api/forget", {"project": "mill", "dry_run": False}, timeout=120).json
    assert waiting.exists(), "only a text that was given empties the spool"
    assert done["rows"]["projects"] == 1
    assert done["proven"] is None
    assert mem(live.paths.data, "forget", "--project", "mill", "--dry-run").code == 1
    gone = live.ask("POST", "/api/forget", {"before": "2020-01-01", "dry_run": False}, timeout=120)
    assert (gone.json["count"], gone.json["rows"]) == (0, {})


def test_memories_that_are_named_or_listed_over_http(live: LiveWorker) -> None:
    first = save(live, "The ferry leaves at seven in the morning", "harbour")
    second = save(live, "The ferry is called Amaranth and has two decks", "harbour")
    body: dict[str, Any] = {"keys": [str(first)]}
    dry = live.ask("POST", "/api/forget", body).json
    assert (dry["dry_run"], [card["key"] for card in dry["memories"]]) == (True, [str(first)])
    done = live.ask("POST", "/api/forget", {**body, "dry_run": False, "prove": True}, timeout=120).json
    assert (done["count"], done["proven"], done["looked"] > 0) == (1, True, True)
    assert live.ask("GET", f"/api/memories/{first}").status == 404
    listed = {"filter": {"project": ["harbour"]}, "count": 2}
    assert live.ask("POST", "/api/forget", listed).status == 409
    dry = live.ask("POST", "/api/forget", {**listed, "count": 1}).json
    assert [card["key"] for card in dry["memories"]] == [str(second)]
    assert live.ask("GET", f"/api/memories/{second}").status == 200


def test_where_nothing_can_be_looked_for_nothing_is_proven(live: LiveWorker) -> None:
    number = save(live, "Short", "brief")
    body = {"keys": [str(number)], "dry_run": False, "prove": True}
    done = live.ask("POST", "/api/forget", body, timeout=120).json
    assert (done["count"], done["proven"], done["looked"]) == (1, None, 0)
    save(live, "Terse", "brief")
    found = mem(live.paths.data, "forget", "--query", "Terse", "--prove", "--yes")
    assert found.code == 0
    assert "not proven: what they said was too short" in found.out


@pytest.mark.parametrize(
    "body",
    [{}, {"keys": []}, {"keys": ["x"]}, {"keys": ["1"], "text": "abcd"}, {"filter": {}}, {"text": "  "}, {"text": "abcd", "query": "x"}, {"text": "ab"}, {"before": "never"}],
)
def test_what_chooses_nothing_is_refused(live: LiveWorker, body: dict[str, Any]) -> None:
    answer = live.ask("POST", "/api/forget", body)
    assert answer.status == 400
    assert answer.json["error"]


def test_nobody_is_asked_without_a_terminal(live: LiveWorker) -> None:
    done = mem(live.paths.data, "forget", "--text", "Zambezi")
    assert done.code == 2
    assert "--yes" in done.err
    assert mem(live.paths.data, "forget").code == 2
