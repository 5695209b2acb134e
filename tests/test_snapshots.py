"""Copies of the database: when one is made, how many stay, and that one can be put back."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.errors import StoreError
from claude_mem_core.paths import Paths
from claude_mem_core.settings import Settings, SettingsSource, writing
from claude_mem_core.store import Store, snapshot
from claude_mem_core.worker import chores
from tests.cli_run import mem
from tests.store_home import opened


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    made = Paths(tmp_path / "data")
    made.data.mkdir(mode=0o700)
    with opened(made.database) as home:
        home.prompt("said before the copy")
    return made


def settings(paths: Paths, **values: int) -> Settings:
    named = {f"CLAUDE_MEM_SNAPSHOT_{name}": str(value) for name, value in values.items()}
    writing.put(paths, named)
    return SettingsSource(paths).current()


def copies(paths: Paths) -> list[Path]:
    return snapshot.snapshots(paths.data / "snapshots")


def aged(path: Path, hours: float) -> None:
    at = path.stat().st_mtime - hours * 3600
    os.utime(path, (at, at))


def prompts(paths: Paths) -> list[Any]:
    store = Store.open(paths.database)
    try:
        return store.read(lambda conn: conn.execute("SELECT prompt_text FROM user_prompts").fetchall())
    finally:
        store.close()


def test_one_a_day_and_only_of_what_has_changed(paths: Paths) -> None:
    now = settings(paths, HOURS=24)
    assert chores.copied(paths.database, now)
    assert not chores.copied(paths.database, now)
    (first,) = copies(paths)
    aged(first, 23)
    paths.database.touch()
    assert not chores.copied(paths.database, now), "it is not a day old"
    aged(first, 2)
    assert chores.copied(paths.database, now)
    for one in copies(paths):
        aged(one, 48)
    aged(paths.database, 100)
    assert not chores.copied(paths.database, now), "nothing has changed"


def test_none_when_switched_off(paths: Paths) -> None:
    assert not chores.copied(paths.database, settings(paths, HOURS=0))
    assert copies(paths) == []


def test_the_limits_hold_for_those_before_a_migration_too(paths: Paths) -> None:
    made = [snapshot.snapshot(paths.database, keep=99) for _ in range(6)]
    chores.copied(paths.database, settings(paths, HOURS=0, KEEP=4))
    assert copies(paths) == made[-4:]
    big = made[-1].stat().st_size
    for one in made[-4:]:
        os.truncate(one, 600_000)
    chores.copied(paths.database, settings(paths, HOURS=0, KEEP=4, MAX_MB=2))
    assert copies(paths) == made[-3:]
    os.truncate(made[-1], max(big, 2_000_001))
    chores.copied(paths.database, settings(paths, HOURS=0, KEEP=4, MAX_MB=1))
    assert copies(paths) == made[-1:], "the newest one stays whatever its size"


def test_a_full_disk_keeps_its_last_room(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "has_room", lambda _: False)
    with pytest.raises(StoreError, match="no room"):
        chores.copied(paths.database, settings(paths, HOURS=24))
    assert copies(paths) == []


def test_a_copy_can_be_put_back(paths: Paths) -> None:
    chores.copied(paths.database, settings(paths, HOURS=24))
    with opened(paths.database) as home:
        home.now += 60_000
        home.prompt("said after it")
    assert len(prompts(paths)) == 2
    (copy,) = copies(paths)
    shown = mem(paths.data, "restore", str(copy), "--dry-run", "--json")
    assert shown.json["rows"]["user_prompts"] == 1
    done = mem(paths.data, "restore", str(copy), "--yes")
    assert done.code == 0, done.err
    assert prompts(paths) == [("said before the copy",)]
    assert list(paths.data.glob("memory.db.*.before-restore"))
    assert copy.exists()


def test_a_copy_of_something_else_is_refused(paths: Paths, tmp_path: Path) -> None:
    import sqlite3

    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as conn, conn:
        conn.execute("CREATE TABLE t (x)")
    done = mem(paths.data, "restore", str(other), "--yes")
    assert done.code != 0
    assert prompts(paths) == [("said before the copy",)]
