"""The test event of `mem doctor`: through everything, seen by nobody, gone without trace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import apsw
import pytest

from claude_mem_core.cli.checks import rows
from claude_mem_core.cli.finding import FAIL, OK, WARN, Look, Row
from claude_mem_core.cli.hostcheck import one
from claude_mem_core.cli.install.hosts import registry_for
from claude_mem_core.cli.testevent import TOPIC, Call, call_for, send
from claude_mem_core.errors import UnknownName
from claude_mem_core.paths import Paths
from claude_mem_core.pipeline.services import open_services
from claude_mem_core.pipeline.testevent import KEPT, SECRET, is_test, new_session, word
from claude_mem_core.settings import writing
from claude_mem_core.testing.worker import LiveWorker, start
from claude_mem_core.types import Delivery, Host
from tests.worker_home import Home, home, until

CWD = "/srv/project"


@pytest.fixture(scope="module")
def made() -> Iterator[Home]:
    with home() as fresh:
        fresh.install()
        yield fresh


@pytest.fixture(scope="module")
def live(made: Home) -> Iterator[LiveWorker]:
    worker = start(made.paths)
    yield worker
    worker.stop()


@pytest.fixture(scope="module")
def hosts(made: Home) -> dict[str, Host]:
    found = registry_for(made.paths).records("mem_hosts", Host)
    return {host.name: host for host in found}


def call(hosts: dict[str, Host], name: str = "claude-code") -> Call:
    found = call_for(hosts[name], CWD)
    assert found is not None
    return found


def content(paths: Paths) -> dict[str, list[Any]]:
    """Every row of every table, but for the time of the last test."""
    conn = apsw.Connection(str(paths.database), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        names = [n for (n,) in conn.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        found = {n: list(conn.execute(f'SELECT * FROM "{n}"')) for n in names}
    finally:
        conn.close()
    found["meta"] = [row for row in found["meta"] if row[0] != KEPT]
    return found


def test_it_goes_through_and_leaves_nothing(
    made: Home, live: LiveWorker, hosts: dict[str, Host]
) -> None:
    live.ask("POST", "/api/memory/save", {"text": "The cart uses Decimal"})
    until(lambda: live.ask("GET", "/api/search?query=Decimal").json["observations"])
    sent = call(hosts)
    row = send(made.paths, sent)
    assert (row.state, row.cure) == (OK, "")
    for step in ("hook", "door", "cleaning", "journal", "memory", "search", "disk", "observing"):
        assert step in row.text

    def leaves_nothing() -> bool:
        """The memory above may still be on its way into an index: then once more."""
        before = content(made.paths)
        assert send(made.paths, call(hosts)).state == OK
        return content(made.paths) == before

    until(leaves_nothing)
    assert not list(made.paths.spool.glob("*.ev"))
    everything = b"".join(p.read_bytes() for p in made.paths.data.rglob("*.log"))
    assert SECRET.encode() not in everything
    assert word(sent.session).encode() not in everything


def test_every_host_has_one(hosts: dict[str, Host]) -> None:
    """An adapter that would read it as a real event gets none."""
    assert len(hosts) >= 9
    for name, host in hosts.items():
        found = call_for(host, CWD)
        if not host.hooks:
            assert found is None
            continue
        assert found is not None, f"{name}: `testevent._payload` lacks the words of this host"
        events = host.open().parse(Delivery(host=name, event=found.event, stdin=found.stdin))
        assert events, name
        assert all(is_test(event) for event in events)


def test_every_host_in_turn(made: Home, live: LiveWorker, hosts: dict[str, Host]) -> None:
    """Each report is of the event just sent, in that host's own words."""
    told = sorted(name for name, host in hosts.items() if host.hooks)
    for name in told:
        row = send(made.paths, call(hosts, name))
        assert row.state == OK, row
        assert row.text.startswith(name)
    assert live.ask("GET", "/api/admin/doctor").json["test_event"]["host"] == told[-1]


@pytest.mark.parametrize(
    ("key", "value", "said", "cure"),
    [
        ("CLAUDE_MEM_PAUSED_UNTIL", "-1", "door: an event would be left out: paused", "mem resume"),
        ("CLAUDE_MEM_EXCLUDED_PROJECTS", CWD, "project_excluded", "mem on"),
    ],
)
def test_a_door_that_is_shut_on_purpose_is_no_fault(
    made: Home, live: LiveWorker, hosts: dict[str, Host], key: str, value: str, said: str, cure: str
) -> None:
    writing.put(made.paths, {key: value})
    try:
        until(lambda: live.ask("GET", "/api/settings").json[key] == value)
        row = send(made.paths, call(hosts))
    finally:
        writing.put(made.paths, {key: "0" if value == "-1" else ""})
    assert (row.state, row.cure) == (WARN, cure)
    assert said in row.text


def test_an_index_that_is_gone_is_named(
    made: Home, live: LiveWorker, hosts: dict[str, Host]
) -> None:
    sql = "UPDATE memory_index_config SET v = 99 WHERE k = 'version'"
    back = "UPDATE memory_index_config SET v = 4 WHERE k = 'version'"
    _by_hand(made.paths, sql)
    try:
        row = send(made.paths, call(hosts))
    finally:
        _by_hand(made.paths, back)
    assert (row.state, row.cure) == (FAIL, "mem db rebuild-index")
    assert row.text.startswith(("index: ", "search: "))


def _by_hand(paths: Paths, sql: str) -> None:
    conn = apsw.Connection(str(paths.database))
    conn.set_busy_timeout(10_000)
    conn.execute(sql)
    conn.close()


def test_one_that_nobody_waits_for_is_dropped(tmp_path: Path, hosts: dict[str, Host]) -> None:
    """Such as one that the hook put on disk, taken in by a later worker."""
    sent = call(hosts)
    data = tmp_path / "data"
    data.mkdir(mode=0o700)

    async def main() -> tuple[int, object]:
        async with open_services(Paths(data)) as services:
            delivery = Delivery(
                host=sent.host, event=sent.event, stdin=sent.stdin, spooled=True,
                size=len(sent.stdin), key="00000000000000000001-1",
            )  # fmt: skip
            await services.deliverer.handle(delivery)
            sql = "SELECT count(*) FROM events"
            n = await services.store.aread(lambda conn: conn.execute(sql).fetchone()[0])
            return int(n), services.tests.last

    assert anyio.run(main) == (0, None)


def test_an_id_that_only_looks_like_one_is_recorded() -> None:
    from claude_mem_core.testing.samples import event
    from claude_mem_core.types import EventKind

    assert is_test(event(EventKind.PROMPT_SENT, session_id=new_session()))
    for odd in (new_session() + "0", new_session()[:-1], "x" + new_session(), "claude-mem-doctor-"):
        assert not is_test(event(EventKind.PROMPT_SENT, session_id=odd))


def test_the_doctor_shows_it_and_what_was_lost(made: Home, live: LiveWorker) -> None:
    (made.paths.data / "lost.count").write_text(f"{3:020d}")
    try:
        found = {row.topic: row for row in rows(Look(made.paths, CWD))}
    finally:
        (made.paths.data / "lost.count").write_text(f"{0:020d}")
    assert found[TOPIC].state == OK
    assert isinstance(found["lost"], Row)
    assert "3 of " in found["lost"].text
    assert found["lost"].state == WARN


def test_one_host_is_looked_at_alone(made: Home, live: LiveWorker) -> None:
    kimi = list(one(Look(made.paths, CWD), "kimi"))
    assert [row.topic for row in kimi] == ["Kimi Code", TOPIC]
    assert kimi[0].cure == "mem install --ide kimi"
    assert kimi[1].state == OK
    assert kimi[1].text.startswith("kimi: went through")
    desktop = list(one(Look(made.paths, CWD), "claude-desktop"))
    assert desktop[-1].text == "none: Claude Desktop has no hooks"
    with pytest.raises(UnknownName, match="no host named 'nowhere'"):
        list(one(Look(made.paths, CWD), "nowhere"))


def test_the_health_says_who_makes_the_memories(live: LiveWorker) -> None:
    found = live.ask("GET", "/api/health").json["provider"]
    assert found == {"name": "builtin", "serving": "builtin", "state": "builtin"}


def test_a_worker_that_is_down_gets_none(tmp_path: Path) -> None:
    found = {row.topic: row for row in rows(Look(Paths(tmp_path / "none"), CWD))}
    assert (found[TOPIC].state, found[TOPIC].cure) == (WARN, "mem start")


