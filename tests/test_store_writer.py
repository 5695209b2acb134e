"""The writer: one commit for many, each with its own fate; a full disk is no end (O22)."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

from claude_mem_core.errors import MemError, NotFound, StoreDamaged, StoreError
from claude_mem_core.store import Store, fetch
from claude_mem_core.store import writer as writer_module
from claude_mem_core.store.faults import fault
from tests.store_home import Home, opened

INSERT = "INSERT INTO meta VALUES (?, ?)"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with opened(tmp_path / "memory.db") as home:
        yield home


def put(key: str, value: str = "v") -> Any:
    return lambda conn: conn.execute(INSERT, (key, value))


def keys(home: Home) -> set[str]:
    return {k for (k,) in home.rows("SELECT k FROM meta WHERE k NOT IN ('fence_id', 'shape')")}


class Gate:
    """Holds the writer in a first function, so that what follows shares one commit."""

    def __init__(self, store: Store) -> None:
        self._entered, self._open = threading.Event(), threading.Event()
        self._held = store.write(lambda conn: self._wait())
        assert self._entered.wait(10)

    def _wait(self) -> None:
        self._entered.set()
        assert self._open.wait(10)

    def open(self) -> None:
        self._open.set()
        self._held.result(timeout=10)


def test_the_value_comes_back(home: Home) -> None:
    assert home.store.write(lambda conn: 7).result(timeout=10) == 7


def test_one_that_fails_takes_nothing_with_it(home: Home) -> None:
    gate = Gate(home.store)

    def fails(conn: apsw.Connection) -> None:
        conn.execute(INSERT, ("half", "done"))
        raise NotFound("nothing there")

    futures = [home.store.write(fn) for fn in (put("a"), fails, put("b"), put("a"), put("c"))]
    gate.open()
    errors = [future.exception(timeout=10) for future in futures]
    assert [type(e) for e in errors] == [type(None), NotFound, type(None), StoreError, type(None)]
    assert keys(home) == {"a", "b", "c"}


def test_many_share_one_commit(home: Home) -> None:
    before = home.value("PRAGMA data_version")
    commits = []
    home.write(lambda conn: conn.set_wal_hook(lambda *_: commits.append(1) or 0))
    gate = Gate(home.store)
    futures = [home.store.write(put(f"k{n}")) for n in range(200)]
    gate.open()
    for future in futures:
        future.result(timeout=10)
    home.write(lambda conn: conn.wal_autocheckpoint(1000))
    assert len(commits) <= 4
    assert len(keys(home)) == 200
    assert before is not None


def test_a_function_that_ends_the_transaction_harms_nobody(home: Home) -> None:
    gate = Gate(home.store)
    rolls_back = home.store.write(lambda conn: conn.execute("ROLLBACK; SELECT nonsense"))
    good = [home.store.write(put(f"k{n}")) for n in range(3)]
    gate.open()
    assert isinstance(rolls_back.exception(timeout=10), MemError)
    for future in good:
        future.result(timeout=10)
    assert keys(home) == {"k0", "k1", "k2"}


def test_the_writer_lives_through_system_exit(home: Home) -> None:
    def leaves(conn: apsw.Connection) -> None:
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        home.store.write(leaves).result(timeout=10)
    home.write(put("after"))
    assert keys(home) == {"after"}


def test_no_room_fails_what_has_no_room_and_nothing_else(home: Home) -> None:
    home.write(lambda conn: conn.execute("PRAGMA max_page_count = 1").fetchall())
    gate = Gate(home.store)
    small = [home.store.write(put(f"small{n}")) for n in range(5)]
    large = home.store.write(put("large", "x" * 1_000_000))
    gate.open()
    error = large.exception(timeout=10)
    assert isinstance(error, StoreError)
    assert "no space left" in str(error)
    for future in small:
        future.result(timeout=10)
    home.write(lambda conn: conn.execute("PRAGMA max_page_count = 1000000").fetchall())
    home.write(put("large", "x" * 1_000_000))
    assert len(keys(home)) == 6
    assert home.rows("PRAGMA integrity_check") == [("ok",)]


FULL_DISK = """
    import resource, sys
    from pathlib import Path
    from claude_mem_core.errors import StoreError
    from tests.store_home import opened

    with opened(Path(sys.argv[1])) as home:
        home.tool("before", 0)
        size = Path(f"{sys.argv[1]}-wal").stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 40_000, resource.RLIM_INFINITY))
        stored, failed = ["before"], []
        for n in range(30):
            try:
                home.tool(f"t{n}", n, output="x" * 20_000)
                stored.append(f"t{n}")
            except StoreError as error:
                assert "memory.db" in str(error), error
                failed.append(f"t{n}")
        assert failed, "the limit was never met"
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        for name in failed:
            home.tool(name, 100, output="x" * 20_000)
        found = {name for (name,) in home.rows("SELECT tool_use_id FROM tool_uses")}
        assert found == {*stored, *failed}, found
        assert home.verify().off == ()
        assert home.rows("PRAGMA integrity_check") == [("ok",)]
    print(len(stored), len(failed))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_a_disk_that_takes_no_more_and_then_does(tmp_path: Path) -> None:
    """O22 set-up 3: the file size limit stands for a full disk."""
    script = textwrap.dedent(FULL_DISK)
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "memory.db")],
        cwd=Path(__file__).parent.parent, capture_output=True, text=True, timeout=100,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[1]) > 0


@contextmanager
def nobody_special() -> Iterator[None]:
    """Root may write anywhere, so it becomes somebody else for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def read_only() -> Iterator[Path]:
    """A folder that can be looked into and no more, with a database in it."""
    folder = Path(tempfile.mkdtemp(prefix="store-"))
    Store.open(folder / "memory.db").close()
    (folder / "memory.db").chmod(0o444)
    folder.chmod(0o555)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.mark.skipif(sys.platform == "win32", reason="rights of POSIX")
@pytest.mark.parametrize("name", ["memory.db", "new.db"])
def test_a_read_only_folder_says_so(read_only: Path, name: str) -> None:
    before = sorted(read_only.iterdir())
    with nobody_special(), pytest.raises(StoreError, match=name):
        Store.open(read_only / name)
    assert sorted(read_only.iterdir()) == before


# Waiting ------------------------------------------------------------------------------------


def test_coroutines_wait_for_the_disk(home: Home) -> None:
    async def many() -> list[int]:
        return await asyncio.gather(
            *(home.store.awrite(lambda conn, n=n: (put(f"k{n}")(conn), n)[1]) for n in range(50))
        )

    assert asyncio.run(many()) == list(range(50))
    assert len(keys(home)) == 50


def test_errors_reach_coroutines(home: Home) -> None:
    async def fails() -> None:
        await home.store.awrite(put("a"))
        await home.store.awrite(put("a"))

    with pytest.raises(StoreError):
        asyncio.run(fails())


def test_a_cancelled_write_may_happen_but_harms_nobody(home: Home) -> None:
    async def cancelled() -> None:
        task = asyncio.ensure_future(home.store.awrite(put("a")))
        await asyncio.sleep(0)
        task.cancel()
        await home.store.awrite(put("b"))

    asyncio.run(cancelled())
    assert "b" in keys(home)


def test_a_loop_that_is_gone_harms_nobody(home: Home) -> None:
    gate = Gate(home.store)
    tasks: list[asyncio.Future[Any]] = []

    async def leave() -> None:
        tasks.append(asyncio.ensure_future(home.store.awrite(put("a"))))
        await asyncio.sleep(0)

    loop = asyncio.new_event_loop()
    loop.run_until_complete(leave())
    for task in asyncio.all_tasks(loop):
        task.cancel()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    gate.open()
    home.write(put("b"))
    assert keys(home) == {"a", "b"}


def test_reading_off_the_loop(home: Home) -> None:
    home.write(put("a"))

    async def read() -> set[str]:
        return await home.store.aread(lambda conn: keys(home))

    assert asyncio.run(read()) == {"a"}


def test_a_read_sees_one_state(home: Home) -> None:
    home.write(put("a"))

    def twice(conn: apsw.Connection) -> tuple[int, int]:
        first = fetch.value(conn, "SELECT count(*) FROM meta")
        home.write(put("b"))
        return first, fetch.value(conn, "SELECT count(*) FROM meta")

    one, two = home.store.read(twice)
    assert one == two


def test_more_readers_than_connections(home: Home) -> None:
    async def read() -> list[int]:
        sql = "SELECT count(*) FROM meta"
        return await asyncio.gather(
            *(home.store.aread(lambda conn: fetch.value(conn, sql)) for _ in range(40))
        )

    assert len(set(asyncio.run(read()))) == 1


def test_too_many_waiting_are_refused(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, "WAITING", 10)
    gate = Gate(home.store)
    futures = [home.store.write(put(f"k{n}")) for n in range(10)]
    with pytest.raises(StoreError, match="too slow"):
        home.store.write(put("one too many"))
    gate.open()
    for future in futures:
        future.result(timeout=10)
    home.write(put("room again"))


# The end -------------------------------------------------------------------------------------


def test_closing_writes_what_is_queued(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "memory.db")
    futures = [store.write(put(f"k{n}")) for n in range(300)]
    store.close()
    for future in futures:
        future.result(timeout=0)
    with opened(tmp_path / "memory.db") as home:
        assert len(keys(home)) == 300


def test_a_closed_store_refuses(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "memory.db")
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.write(put("a"))
    with pytest.raises(StoreError, match="closed"):
        store.read(lambda conn: 1)


def test_closing_leaves_no_log_behind(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as home:
        home.write(put("a"))
        home.rows("SELECT 1")
    assert [file.name for file in tmp_path.iterdir()] == ["memory.db"]


def test_a_file_that_was_replaced_is_opened_anew(tmp_path: Path) -> None:
    """As `mem db repair` or a user with a copy does it, the worker running."""
    with opened(tmp_path / "other.db") as other:
        other.write(put("other"))
    with opened(tmp_path / "memory.db") as home:
        home.write(put("first"))
        assert keys(home) == {"first"}
        os.link(home.path, tmp_path / "backup.db")
        os.replace(tmp_path / "other.db", home.path)
        home.write(put("second"))
        assert keys(home) == {"other", "second"}
        assert list(tmp_path.glob("*.left")) == []
    with opened(tmp_path / "backup.db") as backup:
        assert keys(backup) == {"first"}
    with opened(tmp_path / "memory.db") as home:
        assert keys(home) == {"other", "second"}
        assert home.rows("PRAGMA integrity_check") == [("ok",)]


def test_a_file_that_was_replaced_while_it_is_read(tmp_path: Path) -> None:
    with opened(tmp_path / "other.db") as other:
        other.write(put("other"))
    with opened(tmp_path / "memory.db") as home:
        home.write(put("first"))

        def replace(conn: apsw.Connection) -> int:
            os.replace(tmp_path / "other.db", home.path)
            home.write(put("second"))
            return int(fetch.value(conn, "SELECT count(*) FROM meta WHERE k = 'first'"))

        assert home.store.read(replace) == 1
        assert keys(home) == {"other", "second"}
        assert home.rows("PRAGMA integrity_check") == [("ok",)]


def test_a_file_that_was_deleted_is_made_anew(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as home:
        home.prompt("first")
        for file in tmp_path.iterdir():
            file.unlink()
        home.prompt("second")
        assert home.rows("SELECT prompt_text FROM user_prompts") == [("second",)]
    with opened(tmp_path / "memory.db") as home:
        assert home.rows("SELECT prompt_text FROM user_prompts") == [("second",)]
        assert home.rows("PRAGMA integrity_check") == [("ok",)]


def test_a_file_that_became_foreign_is_not_written(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as home:
        home.prompt("first")
        for file in tmp_path.iterdir():
            file.unlink()
        foreign = apsw.Connection(str(home.path))
        foreign.execute("CREATE TABLE theirs (a)")
        foreign.close()
        before = home.path.read_bytes()
        with pytest.raises(StoreError, match="another program"):
            home.prompt("second")
        assert home.path.read_bytes() == before
        home.path.unlink()
        home.prompt("third")


# Words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (apsw.FullError("x"), StoreError, "make room"),
        (apsw.CorruptError("x"), StoreDamaged, "mem db repair"),
        (apsw.NotADBError("x"), StoreDamaged, "mem db repair"),
        (apsw.BusyError("x"), StoreError, "another program"),
        (apsw.ReadOnlyError("x"), StoreError, "rights"),
        (apsw.IOError("x"), StoreError, "check the disk"),
        (apsw.SQLError("x"), StoreError, "report"),
        (OSError(28, "No space left on device"), StoreError, "No space left"),
    ],
)
def test_every_error_says_what_to_do(error: Any, kind: type[StoreError], words: str) -> None:
    found = fault(error, Path("/data/memory.db"))
    assert type(found) is kind
    assert words in str(found)
    assert "/data/memory.db" in str(found)


def test_damage_of_the_index_alone_names_the_index() -> None:
    error = apsw.CorruptError("fts5: corruption")
    error.extendedresult = 267
    assert "mem db rebuild-index" in str(fault(error, Path("memory.db")))


def here(conn: apsw.Connection) -> int:
    conn.execute(INSERT, (f"t{threading.get_ident()}", "v"))
    return threading.get_ident()


def test_a_lone_write_is_done_on_the_thread_of_its_caller(home: Home) -> None:
    assert asyncio.run(home.store.awrite(here, alone=True)) == threading.get_ident()
    assert keys(home) == {f"t{threading.get_ident()}"}


def test_a_lone_write_does_not_overtake_what_the_writer_does(home: Home) -> None:
    gate = Gate(home.store)

    async def both() -> int:
        lone = asyncio.ensure_future(home.store.awrite(here, alone=True))
        await asyncio.sleep(0)
        gate.open()
        return await lone

    assert asyncio.run(both()) != threading.get_ident()


def test_a_lone_write_that_fails_leaves_nothing_and_harms_nobody(home: Home) -> None:
    def half(conn: apsw.Connection) -> None:
        conn.execute(INSERT, ("half", "v"))
        raise NotFound("gone")

    with pytest.raises(NotFound, match="gone"):
        asyncio.run(home.store.awrite(half, alone=True))
    asyncio.run(home.store.awrite(put("after"), alone=True))
    assert keys(home) == {"after"}


def test_no_lone_write_after_a_slow_one(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, "SLOW_S", 0.0)
    assert asyncio.run(home.store.awrite(here, alone=True)) == threading.get_ident()
    assert asyncio.run(home.store.awrite(lambda c: threading.get_ident(), alone=True)) != (
        threading.get_ident()
    )


def test_a_closed_store_takes_no_lone_write(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as home:
        store = home.store
    with pytest.raises(StoreError, match="closed"):
        asyncio.run(store.awrite(put("late"), alone=True))


@pytest.mark.parametrize("alone", [True, False])
def test_the_log_is_merged_again_and_again(home: Home, alone: bool) -> None:
    """Ten times what it may hold is written; it stays within twice of that."""
    most = writer_module.MERGE_PAGES
    big = "x" * 4096 * 50

    async def much() -> None:
        for number in range(most // 5):
            await home.store.awrite(put(f"k{number}", big), alone=alone)

    asyncio.run(much())
    log = writer_module.log_of(home.store.path)
    assert log.stat().st_size < 2 * most * 4120
    assert len(keys(home)) == most // 5
