"""Taking over a database of claude-mem: every layout, hostile ones too (CAP-029, CAP-356, T13)."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from claude_mem_core.clean.cleaner import builtin_cleaner
from claude_mem_core.cli.importing import known_places
from claude_mem_core.errors import InvalidInput
from claude_mem_core.store import imports, memories
from claude_mem_core.store.imports import Counts, source
from claude_mem_core.store.imports.records import Kind
from claude_mem_core.types import Trust
from tests import worker_home
from tests.cli_run import mem
from tests.store_home import Home, opened

SEED = Path(__file__).parent / "data" / "claude-mem-13.25.3.db"
AT = 1_700_000_000_000
WHEN = "2023-11-14T22:13:20.000Z"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    (tmp_path / "data").mkdir(mode=0o700)
    with opened(tmp_path / "data" / "memory.db") as found:
        yield found


def take(home: Home, path: Path) -> Counts:
    staged = imports.read_claude_mem(path, home.path.parent, builtin_cleaner())
    try:
        return home.write(lambda conn: imports.keep(conn, staged, home.now, "claude-mem"))
    finally:
        staged.close()


def numbers(counts: Counts) -> list[tuple[int, int]]:
    return [(counts.of(kind).imported, counts.of(kind).skipped) for kind in Kind]


def made(path: Path, *statements: str) -> Path:
    conn = sqlite3.connect(path)
    for statement in statements:
        conn.executescript(statement)
    conn.commit()
    conn.close()
    return path


def state(path: Path) -> dict[str, tuple[str, int]]:
    """Bytes and times of a database and what lies beside it."""
    return {
        p.name: (hashlib.sha256(p.read_bytes()).hexdigest(), p.stat().st_mtime_ns)
        for p in path.parent.iterdir()
        if p.is_file() and p.name.startswith(path.name)
    }


# The layouts ------------------------------------------------------------------------------


def test_the_newest_layout_comes_in_whole_and_once(home: Home, tmp_path: Path) -> None:
    path = tmp_path / "claude-mem.db"
    shutil.copy(SEED, path)
    before = state(path)
    # sessions, summaries, observations, prompts, tool uses
    counts = numbers(take(home, path))
    assert counts == [(11, 0), (35, 0), (100, 0), (41, 0), (39, 0)]
    assert numbers(take(home, path)) == [(0, n) for n, _ in counts]
    assert state(path) == before
    assert home.verify().off == ()
    assert [p.name for p in (home.path.parent).glob(".import-*")] == []


def test_rows_are_what_they_were(home: Home) -> None:
    take(home, SEED)
    conn = apsw.Connection(f"file:{SEED}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    same = {
        "observations": """title, subtitle, narrative, type, prompt_number, created_at_epoch,
          discovery_tokens, generated_by_model, project""",
        "session_summaries": """request, investigated, learned, completed, next_steps, notes,
          prompt_number, created_at_epoch, discovery_tokens""",
        "user_prompts": "content_session_id, prompt_number, prompt_text, created_at_epoch",
        "tool_uses": """tool_use_id, content_session_id, memory_session_id, tool_name, cwd,
          prompt_number, content_hash, created_at_epoch""",
        "sdk_sessions": """content_session_id, memory_session_id, project, user_prompt,
          started_at_epoch""",
    }
    for table, columns in same.items():
        sql = f"SELECT {columns} FROM {table} ORDER BY id"
        theirs, ours = conn.execute(sql).fetchall(), home.rows(sql)
        assert ours == theirs
    conn.close()
    links = """SELECT count(*) FROM tool_uses t JOIN observations o ON o.id = t.observation_id
      WHERE o.session_db_id = t.session_db_id"""
    assert home.value(links) == 39
    assert home.rows("SELECT DISTINCT trust FROM observations") == [("foreign",)]
    assert home.rows("SELECT DISTINCT platform_source FROM sdk_sessions") == [("claude-code",)]
    assert home.rows("SELECT DISTINCT origin_device_id FROM observations") == [("claude-mem",)]


V5 = f"""
  CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, claude_session_id TEXT UNIQUE NOT NULL,
    sdk_session_id TEXT UNIQUE, project TEXT NOT NULL, user_prompt TEXT, started_at TEXT,
    started_at_epoch INTEGER, completed_at TEXT, completed_at_epoch INTEGER, status TEXT);
  CREATE TABLE observations (id INTEGER PRIMARY KEY, sdk_session_id TEXT, project TEXT,
    text TEXT, type TEXT, created_at TEXT, created_at_epoch INTEGER);
  CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, sdk_session_id TEXT, project TEXT,
    request TEXT, learned TEXT, files_edited TEXT, created_at TEXT, created_at_epoch INTEGER);
  CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, claude_session_id TEXT,
    prompt_number INTEGER, prompt_text TEXT, created_at TEXT, created_at_epoch INTEGER);
  CREATE TABLE observation_queue (id INTEGER PRIMARY KEY, tool_name TEXT);
  INSERT INTO sdk_sessions VALUES
    (3, 'claude-a', 'sdk-a', 'app', 'do it', '{WHEN}', {AT}, NULL, NULL, 'active');
  INSERT INTO observations VALUES
    (1, 'sdk-a', 'app', 'The login bug came from a stale cookie in the session store here', 'bugfix', '{WHEN}', {AT + 5}),
    (2, 'sdk-a', 'app', 'Second thing', 'feature', '{WHEN}', {AT + 5});
  INSERT INTO session_summaries VALUES
    (1, 'sdk-a', 'app', 'do it', 'cookies', '["web/login.py"]', '{WHEN}', {AT + 9});
  INSERT INTO user_prompts VALUES (1, 'claude-a', 1, 'do it', '{WHEN}', {AT});
  INSERT INTO observation_queue VALUES (1, 'Bash'), (2, 'Bash');
"""


def test_the_older_names_of_columns(home: Home, tmp_path: Path) -> None:
    path = made(tmp_path / "claude-mem.db", V5)
    counts = take(home, path)
    assert numbers(counts) == [(1, 0), (1, 0), (2, 0), (1, 0), (0, 0)]
    assert counts.left_out == {"observation_queue": 2}
    assert numbers(take(home, path))[:4] == [(0, 1), (0, 1), (0, 2), (0, 1)]
    found = home.store.read(lambda conn: memories.observation(conn, 1))
    assert found.title == "The login bug came from a stale cookie in the session store"
    assert found.narrative.startswith("The login bug")
    assert (found.type, found.created_ms, found.trust) == ("bugfix", AT + 5, Trust.FOREIGN)
    session = home.rows(
        "SELECT content_session_id, memory_session_id, status, prompt_counter FROM sdk_sessions"
    )
    assert session == [("claude-a", "sdk-a", "completed", 1)]
    assert home.value("SELECT path FROM memory_files WHERE kind = 'summary'") == "web/login.py"
    assert home.value("SELECT count(*) FROM pending_messages") == 0


DOCUMENTED = f"""
  CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, sdk_session_id TEXT, claude_session_id TEXT,
    project TEXT, prompt_counter INTEGER, status TEXT, created_at TEXT, created_at_epoch INTEGER);
  CREATE TABLE observations (id INTEGER PRIMARY KEY, session_id TEXT, sdk_session_id TEXT,
    claude_session_id TEXT, project TEXT, prompt_number INTEGER, tool_name TEXT, title TEXT,
    narrative TEXT, facts TEXT, type TEXT, created_at TEXT, created_at_epoch INTEGER);
  CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, sdk_session_id TEXT, claude_session_id TEXT,
    project TEXT, prompt_number INTEGER, prompt_text TEXT, created_at TEXT, created_at_epoch INTEGER);
  INSERT INTO sdk_sessions VALUES (1, 's', 'c', 'doc', 4, 'completed', '{WHEN}', {AT});
  INSERT INTO observations VALUES
    (1, 'x', 's', 'c', 'doc', 4, 'Edit', 'Titled', 'n', 'one plain fact', 'change', '{WHEN}', {AT});
  INSERT INTO user_prompts VALUES (1, 's', 'c', 'doc', 4, 'please', '{WHEN}', {AT});
"""


def test_the_layout_of_the_documentation(home: Home, tmp_path: Path) -> None:
    counts = take(home, made(tmp_path / "d.db", DOCUMENTED))
    assert numbers(counts) == [(1, 0), (0, 0), (1, 0), (1, 0), (0, 0)]
    found = home.store.read(lambda conn: memories.observation(conn, 1))
    assert (found.title, found.facts, found.prompt_number) == ("Titled", ("one plain fact",), 4)
    home.session = "c"
    home.now = AT + 100_000
    assert home.prompt("on").prompt_number == 5


V3 = f"""
  CREATE TABLE sessions (id INTEGER PRIMARY KEY, session_id TEXT UNIQUE, project TEXT,
    created_at TEXT, created_at_epoch INTEGER, source TEXT, metadata_json TEXT);
  CREATE TABLE memories (id INTEGER PRIMARY KEY, session_id TEXT, text TEXT, document_id TEXT,
    keywords TEXT, created_at TEXT, created_at_epoch INTEGER, project TEXT, origin TEXT,
    title TEXT, subtitle TEXT, facts TEXT, concepts TEXT, files_touched TEXT);
  CREATE TABLE overviews (id INTEGER PRIMARY KEY, session_id TEXT, content TEXT,
    created_at TEXT, created_at_epoch INTEGER, project TEXT, origin TEXT);
  CREATE TABLE diagnostics (id INTEGER PRIMARY KEY, message TEXT);
  CREATE TABLE transcript_events (id INTEGER PRIMARY KEY, session_id TEXT, raw_json TEXT);
  INSERT INTO sessions VALUES (1, 'old-1', 'legacy', '{WHEN}', {AT}, 'compress', NULL);
  INSERT INTO memories VALUES
    (1, 'old-1', 'Chroma holds the vectors', 'doc-1', 'chroma,vectors', '{WHEN}', {AT}, 'legacy',
     'transcript', NULL, NULL, NULL, NULL, NULL),
    (2, 'old-1', 'Text two', 'doc-2', NULL, '{WHEN}', {AT}, 'legacy', 'transcript', 'Titled',
     'sub', '["f"]', '["c"]', '["a/b.py"]');
  INSERT INTO overviews VALUES (1, 'old-1', 'All about vectors', '{WHEN}', {AT}, 'legacy', 'claude');
  INSERT INTO diagnostics VALUES (1, 'x');
  INSERT INTO transcript_events VALUES (1, 'old-1', '{{}}'), (2, 'old-1', '{{}}');
"""


def test_the_tables_of_version_3(home: Home, tmp_path: Path) -> None:
    path = made(tmp_path / "v3.db", V3)
    counts = take(home, path)
    assert numbers(counts) == [(1, 0), (1, 0), (2, 0), (0, 0), (0, 0)]
    assert counts.left_out == {"transcript_events": 2, "diagnostics": 1}
    first, second = home.store.read(lambda conn: memories.observations(conn, [1, 2]))
    assert (first.title, first.concepts) == ("Chroma holds the vectors", ("chroma,vectors",))
    assert (second.subtitle, second.facts, second.files_modified) == ("sub", ("f",), ("a/b.py",))
    assert home.value("SELECT completed FROM session_summaries") == "All about vectors"
    assert home.value("SELECT content_session_id FROM sdk_sessions") == "old-1"
    assert take(home, path).imported == 0


def test_a_database_that_was_upgraded_from_version_3(home: Home, tmp_path: Path) -> None:
    counts = take(home, made(tmp_path / "both.db", V3, V5))
    assert numbers(counts) == [(2, 0), (2, 0), (4, 0), (1, 0), (0, 0)]


def test_same_ids_on_two_hosts_stay_apart(home: Home, tmp_path: Path) -> None:
    path = made(tmp_path / "two.db", f"""
      CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, content_session_id TEXT,
        memory_session_id TEXT, project TEXT, platform_source TEXT, started_at_epoch INTEGER);
      CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, session_db_id INTEGER,
        content_session_id TEXT, prompt_number INTEGER, prompt_text TEXT, created_at_epoch INTEGER);
      INSERT INTO sdk_sessions VALUES (1, 'same', 'm1', 'p', 'claude', {AT}),
        (2, 'same', 'm2', 'p', 'codex', {AT});
      INSERT INTO user_prompts VALUES (1, 1, 'same', 1, 'to claude', {AT}),
        (2, 2, 'same', 1, 'to codex', {AT});
    """)  # fmt: skip
    take(home, path)
    assert home.rows("SELECT platform_source, prompt_text FROM user_prompts ORDER BY id") == [
        ("claude-code", "to claude"), ("codex", "to codex"),
    ]  # fmt: skip


def test_merged_rows_subagents_and_pulled_rows_keep_their_columns(home: Home, tmp_path: Path) -> None:
    path = tmp_path / "claude-mem.db"
    shutil.copy(SEED, path)
    made(path, """
      UPDATE observations SET merged_into_project = 'kept', agent_id = 'a1', agent_type = 'Explore',
        metadata = '{"x": 1}', origin_device_id = 'laptop', origin_local_id = '77',
        relevance_count = 4 WHERE id = 5;
    """)  # fmt: skip
    take(home, path)
    row = home.rows(
        "SELECT merged_into_project, agent_id, agent_type, metadata, origin_device_id,"
        " origin_local_id, relevance_count FROM observations WHERE origin_device_id = 'laptop'"
    )
    assert row == [("kept", "a1", "Explore", '{"x":1}', "laptop", "77", 4)]


def test_a_log_that_was_not_merged_is_read_and_left(home: Home, tmp_path: Path) -> None:
    live = tmp_path / "live" / "claude-mem.db"
    live.parent.mkdir()
    shutil.copy(SEED, live)
    writer = apsw.Connection(str(live))
    writer.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
    writer.execute("UPDATE observations SET title = 'only in the log' WHERE id = 1")
    before = state(live)
    assert "claude-mem.db-wal" in before
    take(home, live)
    assert home.value("SELECT count(*) FROM observations WHERE title = 'only in the log'") == 1
    assert state(live) == before
    writer.close(True)


def test_text_in_utf_16_and_bytes_that_are_no_text(home: Home, tmp_path: Path) -> None:
    wide = made(tmp_path / "wide.db", "PRAGMA encoding = 'UTF-16le'", V5)
    take(home, wide)
    assert home.value("SELECT title FROM observations WHERE id = 2") == "Second thing"
    odd = made(tmp_path / "odd.db", V5, f"""
      INSERT INTO observations VALUES
        (9, 'sdk-a', 'app', CAST(x'7ffe41c3' AS TEXT), x'00ff', 17, 'soon'),
        (10, 'sdk-a', 'app', 4.5, NULL, NULL, NULL),
        ('11', 'none', NULL, 'orphan', 'bugfix', '', '{AT}');
    """)  # fmt: skip
    counts = take(home, odd)
    assert counts.of(Kind.OBSERVATION).imported == 3
    assert home.verify().off == ()


# Hostile files ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "complaint"),
    [
        ("CREATE VIEW observations AS SELECT 1 AS id", "none of the tables"),
        ("CREATE TABLE notes (x)", "none of the tables"),
        ("CREATE VIRTUAL TABLE observations USING fts5(title, project)", "none of the tables"),
        ("CREATE TABLE observations (id TEXT PRIMARY KEY, title TEXT) WITHOUT ROWID", "no such column"),
    ],
)  # fmt: skip
def test_what_is_no_table_is_not_read(
    home: Home, tmp_path: Path, schema: str, complaint: str
) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        take(home, made(tmp_path / "evil.db", schema))


def test_generated_columns_are_not_computed(home: Home, tmp_path: Path) -> None:
    path = made(tmp_path / "evil.db", """
      CREATE TABLE observations (id INTEGER PRIMARY KEY, project TEXT, title TEXT,
        narrative TEXT GENERATED ALWAYS AS (hex(zeroblob(5000000))));
      INSERT INTO observations (id, project, title) VALUES (1, 'p', 't');
    """)  # fmt: skip
    assert take(home, path).of(Kind.OBSERVATION).imported == 1
    assert home.value("SELECT narrative FROM observations") is None


def test_triggers_do_not_run_and_rows_that_are_too_large_are_left_out(
    home: Home, tmp_path: Path
) -> None:
    path = made(tmp_path / "evil.db", """
      CREATE TABLE observations (id INTEGER PRIMARY KEY, project TEXT, title TEXT);
      INSERT INTO observations VALUES (1, 'p', 'small'), (2, 'p', hex(zeroblob(6000000)));
      CREATE TRIGGER t AFTER INSERT ON observations BEGIN DELETE FROM observations; END;
    """)  # fmt: skip
    counts = take(home, path)
    assert counts.of(Kind.OBSERVATION).imported == 1
    assert counts.left_out == {"rows over 10 MB": 1}


def test_a_tree_without_an_end_is_refused_in_time(home: Home, tmp_path: Path) -> None:
    path = tmp_path / "loop.db"
    rows = ", ".join(f"({n}, 'p', '{'x' * 900}')" for n in range(1, 400))
    made(path, "CREATE TABLE observations (id INTEGER PRIMARY KEY, project TEXT, title TEXT)",
         f"INSERT INTO observations VALUES {rows}")  # fmt: skip
    conn = apsw.Connection(str(path))
    root = next(conn.execute("SELECT rootpage FROM sqlite_schema"))[0]
    conn.close()
    with open(path, "r+b") as file:  # the root's last child is the root
        file.seek((root - 1) * 4096 + 8)
        file.write(root.to_bytes(4))
    started = time.monotonic()
    with pytest.raises(InvalidInput, match="damaged"):
        take(home, path)
    assert time.monotonic() - started < 20
    assert home.value("SELECT count(*) FROM observations") == 0


@pytest.mark.parametrize("kind", ["text", "empty", "half", "fifo", "folder", "missing", "ours", "hot"])
def test_what_can_not_be_read_is_refused(home: Home, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.db"
    shutil.copy(SEED, path)
    if kind == "text":
        path.write_text("this is not a database\n" * 50)
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind == "half":
        os.truncate(path, path.stat().st_size // 2 // 4096 * 4096 + 777)
    elif kind in {"fifo", "folder", "missing"}:
        path.unlink()
        if kind != "missing":
            (os.mkfifo if kind == "fifo" else os.mkdir)(path)
    elif kind == "ours":
        with opened(tmp_path / "other.db"):
            path = tmp_path / "other.db"
    elif kind == "hot":
        path.with_name("x.db-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + b"\0" * 600)
    with pytest.raises(InvalidInput, match="x.db|other.db"):
        take(home, path)
    assert not list(home.path.parent.glob(".import-*"))


def test_a_journal_that_names_another_file_is_never_given_to_sqlite(home: Home, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("stay")
    path = tmp_path / "x.db"
    shutil.copy(SEED, path)
    name = str(victim).encode()
    tail = name + len(name).to_bytes(4) + sum(name).to_bytes(4) + b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
    path.with_name("x.db-journal").write_bytes(b"\0" * 512 + tail)
    with pytest.raises(InvalidInput, match="middle of a write"):
        take(home, path)
    assert victim.read_text() == "stay"


def test_limits_hold_on_the_copy(tmp_path: Path) -> None:
    path = made(tmp_path / "x.db", V5)
    with source.opened(path, tmp_path) as found:
        conn: Any = found._conn
        with pytest.raises(apsw.Error):
            conn.execute("UPDATE observations SET title = 'x'")
        with pytest.raises(apsw.Error):
            conn.execute("ATTACH ':memory:' AS other")
        with pytest.raises(apsw.Error):
            conn.execute("SELECT load_extension('x')")
        with pytest.raises(apsw.TooBigError):
            next(conn.execute("SELECT zeroblob(20000000)"))


def test_a_statement_without_an_end_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "PATIENCE_S", 0.2)
    path = made(tmp_path / "x.db", V5)
    def run() -> None:
        with source.opened(path, tmp_path) as found:
            conn: Any = found._conn
            conn.execute(loop).fetchall()

    loop = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT sum(n) FROM r"
    with pytest.raises(InvalidInput, match="can't be read"):
        run()


# Where the memories belong ------------------------------------------------------------------


def test_a_directory_that_is_there_tells_the_place(home: Home, tmp_path: Path) -> None:
    there = tmp_path / "shop"
    there.mkdir()
    path = made(tmp_path / "x.db", f"""
      CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, content_session_id TEXT,
        memory_session_id TEXT, project TEXT, started_at_epoch INTEGER);
      CREATE TABLE tool_uses (id INTEGER PRIMARY KEY, tool_use_id TEXT, content_session_id TEXT,
        project TEXT, tool_name TEXT, cwd TEXT, created_at_epoch INTEGER);
      INSERT INTO sdk_sessions VALUES (1, 'c', 'm', 'shop', {AT});
      INSERT INTO tool_uses VALUES
        (1, 't1', 'c', 'shop', 'Bash', '{there}', {AT}), (2, 't2', 'c', 'gone', 'Bash', '/gone', {AT}),
        (3, 't3', 'c', 'other', 'Bash', '{there}', {AT});
    """)  # fmt: skip
    staged = imports.read_claude_mem(path, home.path.parent, builtin_cleaner())
    places = known_places(staged, {})
    staged.close()
    assert list(places) == ["shop"]
    assert (places["shop"].kind, places["shop"].root) == ("folder", str(there))


# The command --------------------------------------------------------------------------------


def test_the_command_takes_the_one_in_the_data_directory(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    assert mem(data, "import", "claude-mem").code == 2
    shutil.copy(SEED, data / "claude-mem.db")
    before = state(data / "claude-mem.db")
    done = mem(data, "import", "claude-mem")
    assert (done.code, "Observations: 100 imported, 0 skipped" in done.out) == (0, True)
    assert "Observations: 0 imported, 100 skipped" in mem(data, "import", "claude-mem").out
    assert state(data / "claude-mem.db") == before
    assert mem(data, "db", "check").code == 0
    assert mem(data, "verify").code == 0


def test_the_command_names_what_is_wrong(tmp_path: Path) -> None:
    missing = mem(tmp_path / "data", "import", "claude-mem", str(tmp_path / "no.db"))
    assert (missing.code, "Database not found at" in missing.err) == (2, True)
    assert mem(tmp_path / "data", "import", "a.json", "b.json").code == 2


@pytest.mark.slow
def test_a_database_that_lies_there_is_offered_once() -> None:
    with worker_home.home() as made:
        made.install()
        shutil.copy(SEED, made.paths.data / "claude-mem.db")
        made.mem("start")
        said = [start_of_session(made, number) for number in range(4)]
        assert sum("mem import claude-mem" in text for text in said) == 1


@pytest.mark.slow
def test_who_has_imported_it_is_not_asked() -> None:
    with worker_home.home() as made:
        made.install()
        shutil.copy(SEED, made.paths.data / "claude-mem.db")
        assert made.mem("import", "claude-mem").returncode == 0
        made.mem("start")
        said = [start_of_session(made, number) for number in range(3)]
        assert not any("mem import claude-mem" in text for text in said)


def start_of_session(made: worker_home.Home, number: int) -> str:
    payload = {"session_id": f"s-{number}", "cwd": "/srv/p", "source": "startup",
               "hook_event_name": "SessionStart", "transcript_path": ""}  # fmt: skip
    return made.hook("SessionStart", payload).stdout.decode()
