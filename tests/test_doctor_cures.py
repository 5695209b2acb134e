"""Things are broken one at a time: each is named by `mem doctor`, and each cure works."""

from __future__ import annotations

import json
import os
import shlex
import signal
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from claude_mem_core.cli import launch
from claude_mem_core.cli.checks import cure_in, rows
from claude_mem_core.cli.finding import OK, Look, Row
from claude_mem_core.edge import install_hook
from claude_mem_core.files import secure_dir
from claude_mem_core.paths import Paths
from claude_mem_core.testing.worker import data_dir
from claude_mem_core.worker import process
from tests.cli_run import Ran, mem
from tests.worker_home import until, workers_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

CWD = "/srv/project"
DEAD = """
  INSERT INTO projects (key, label, created_at_epoch) VALUES ('/srv/p', 'p', 1);
  INSERT INTO sdk_sessions (content_session_id, memory_session_id, project, project_id,
    started_at, started_at_epoch, platform_source, prompt_counter)
    SELECT 's', 's', 'p', id, '', 1, 'claude-code', 1 FROM projects WHERE label = 'p';
  INSERT INTO events (key, host, kind, session, session_db_id, prompt_number, at_ms,
    received_ms, payload, state, reason)
    SELECT 'k', 'claude-code', 'turn_ended', 's', id, 1, 1, 1,
      '{"kind":"turn_ended","host":"claude-code","session_id":"s"}', 'dead', 'no reply'
      FROM sdk_sessions WHERE content_session_id = 's';
  INSERT INTO pending_messages (id, session_db_id, content_session_id, message_type,
    prompt_number, status, retry_count, error, created_at_epoch, failed_at_epoch)
    SELECT id, session_db_id, 's', 'summarize', 1, 'failed', 3, 'no reply', 1, 1
      FROM events WHERE key = 'k';
  INSERT INTO counters (day, name, n) VALUES ('2026-01-01', 'accepted', 1);
"""


@pytest.fixture(scope="module")
def paths() -> Iterator[Paths]:
    with data_dir() as made:
        secure_dir(made.data)
        install_hook(made)
        try:
            yield made
        finally:
            launch.stop(made)


@pytest.fixture(autouse=True)
def well(paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home without hosts, and a worker that answers."""
    monkeypatch.setenv("HOME", str(tmp_path))
    launch.start(paths)


def found(paths: Paths) -> dict[str, Row]:
    """What is not as it should be; of a topic the first row."""
    made: dict[str, Row] = {}
    for row in rows(Look(paths, CWD)):
        if row.state != OK and row.topic != "mem command":
            made.setdefault(row.topic, row)
    return made


def run(paths: Paths, command: str) -> Ran:
    words = shlex.split(command)
    assert words.pop(0) == "mem", command
    return mem(paths.data, *words, plugins=True)


def cured(paths: Paths, topic: str, command: str) -> None:
    """It is named with this cure; after the cure it is not named any more."""
    named = found(paths)
    assert topic in named
    assert named[topic].cure == command
    done = run(paths, command)
    assert done.code == 0, done.err
    until(lambda: topic not in found(paths), 60)


def by_hand(paths: Paths, sql: str) -> None:
    conn = apsw.Connection(str(paths.database))
    conn.set_busy_timeout(20_000)
    conn.execute(sql)
    conn.close()


def test_all_is_well_at_first(paths: Paths) -> None:
    assert found(paths) == {}


def test_a_file_of_the_hook_was_changed(paths: Paths) -> None:
    (paths.hook / "launch.py").write_text("swapped")
    assert found(paths)["test event"].cure == "mem repair"
    cured(paths, "hook", "mem repair")


def test_others_can_read_a_file(paths: Paths) -> None:
    paths.token.chmod(0o644)
    cured(paths, "modes", "mem repair")


def test_the_worker_was_killed(paths: Paths) -> None:
    _killed(paths, signal.SIGKILL)
    until(lambda: not process.is_held(paths))
    cured(paths, "worker", "mem start")


def test_the_worker_does_not_answer(paths: Paths) -> None:
    _killed(paths, signal.SIGSTOP)
    cured(paths, "worker", "mem restart")


def _killed(paths: Paths, number: signal.Signals) -> None:
    for pid in workers_of(paths):
        os.kill(pid, number)


def test_the_word_index_is_broken(paths: Paths) -> None:
    by_hand(paths, "UPDATE memory_index_config SET v = 99 WHERE k = 'version'")
    cured(paths, "test event", "mem db rebuild-index")


def test_work_failed_three_times(paths: Paths) -> None:
    by_hand(paths, DEAD)
    cured(paths, "queue", "mem queue retry")


def test_the_database_is_damaged(paths: Paths) -> None:
    launch.stop(paths)
    conn = apsw.Connection(str(paths.database))
    sql = "SELECT rootpage FROM sqlite_schema WHERE name IN ('events', 'idx_events_state')"
    roots = [root for (root,) in conn.execute(sql)]
    size = conn.pragma("page_size")
    conn.close()
    with paths.database.open("r+b") as file:
        for root in roots:
            file.seek((root - 1) * size)
            file.write(b"\x07" * size)
    cured(paths, "database", "mem db repair")


def test_the_settings_file_is_broken(paths: Paths) -> None:
    whole = '{"CLAUDE_MEM_LOG_LEVEL": "DEBUG",\n "CLAUDE_MEM_MODE": "co'
    paths.settings.write_text(whole)
    paths.settings.chmod(0o600)
    cured(paths, "settings", "mem config mend")
    assert json.loads(paths.settings.read_text()) == {"CLAUDE_MEM_LOG_LEVEL": "DEBUG"}
    (aside,) = paths.data.glob("settings.json.*.broken")
    assert aside.read_text() == whole
    aside.unlink()
    paths.settings.unlink()


def test_the_rules_for_hooks_are_gone(paths: Paths) -> None:
    launch.stop(paths)  # a worker that runs mends them by itself
    paths.edge.write_text("{")
    cured(paths, "rules", "mem repair")


def test_a_host_has_lost_our_hooks(paths: Paths, tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    install = "mem install --ide claude-code --no-mcp --no-skills"
    assert run(paths, install).code == 0
    assert "Claude Code" not in found(paths)
    (tmp_path / ".claude" / "settings.json").write_text("{}")
    cured(paths, "Claude Code", "mem install --ide claude-code")


def test_the_memory_is_paused(paths: Paths) -> None:
    run(paths, "mem pause")
    cured(paths, "test event", "mem resume")


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("damaged; stop it and run `mem db repair`, which saves", "mem db repair"),
        ("somebody else's", "mem logs"),
    ],
)
def test_a_text_names_its_cure(text: str, command: str) -> None:
    assert cure_in(text) == command


def test_repair_mends_several_things_at_once(paths: Paths) -> None:
    paths.token.chmod(0o644)
    (paths.hook / "launch.py").write_text("swapped")
    _killed(paths, signal.SIGKILL)
    until(lambda: not process.is_held(paths))
    done = run(paths, "mem repair")
    assert done.code == 0, done.err
    until(lambda: found(paths) == {}, 60)


def test_repair_makes_the_word_index_anew(paths: Paths) -> None:
    """Also where no worker may be started, which would do it by itself."""
    run(paths, "mem remember 'the cart rounds to cents' --project p")
    launch.stop(paths)
    paths.settings.write_text('{"CLAUDE_MEM_WORKER_AUTOSTART": "false"}')
    paths.settings.chmod(0o600)
    by_hand(paths, "DELETE FROM memory_index_data WHERE id > 10; DELETE FROM memory_index_docsize")
    try:
        done = run(paths, "mem repair")
    finally:
        paths.settings.unlink()
    assert done.code == 0, done.err
    assert "made the word index anew" in done.out
