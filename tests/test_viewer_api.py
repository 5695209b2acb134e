"""What the page asks the worker: the list, days, one memory, sessions, work, the queue, settings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.store import browse, work
from claude_mem_core.store.browse import Key, Shown
from claude_mem_core.testing.worker import LiveWorker, running
from claude_mem_core.types import DocKind, Draft, Observed, SummaryDraft
from tests.store_home import Home, opened

TYPES = ("bugfix", "decision", "change")
COUNT = 24


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """Two projects and hosts, observations and summaries that share their times."""
    from claude_mem_core.projects import Place

    with opened(tmp_path_factory.mktemp("browse") / "memory.db") as made:
        for number in range(COUNT):
            name = "ab"[number % 2]
            made.place = Place(key=f"/{name}", label=name, kind="folder", root=f"/{name}")
            made.host = ("claude-code", "kimi")[number % 3 == 0]
            made.session = f"s{number}"
            made.prompt("do", number * 1000)
            made.tool(f"t{number}", number * 1000 + 10)
            made.stop("Shall I go on?" if number == COUNT - 1 else "Done.", number * 1000 + 20)
            (item,) = made.claim(number * 1000 + 30, force=True)
            draft = Draft(type=TYPES[number % 3], title=f"Memory {number}", events=item.event_ids)
            summary = SummaryDraft(request="do", completed=f"Summary {number}", events=item.event_ids)
            made.keep(item, Observed(observations=(draft,), summary=summary))
        # Some of one time, so that the order rests on kind and id.
        for table in ("observations", "session_summaries"):
            made.write(lambda conn, t=table: conn.execute(
                f"UPDATE {t} SET created_at_epoch = ? WHERE id IN (4, 5, 6)", (made.now + 4000,)
            ).fetchall())  # type: ignore[misc]
        yield made


def whole(home: Home, shown: Shown) -> list[Key]:
    """The list by definition: every row, filtered and sorted by hand."""
    found = []
    for kind, number in ((DocKind.OBSERVATION, 0), (DocKind.SUMMARY, 1)):
        kind_type = "type" if number == 0 else "'summary'"
        sql = f"SELECT created_at_epoch, id, project_id, platform_source, {kind_type} FROM {browse.TABLES[kind]}"
        for at, row_id, project, host, type_ in home.rows(sql):
            fits = (
                (shown.project_ids is None or project in shown.project_ids)
                and (not shown.types or type_ in shown.types)
                and (shown.host is None or host == shown.host)
                and (shown.since_ms is None or at >= shown.since_ms)
                and (shown.until_ms is None or at < shown.until_ms)
            )
            if fits:
                found.append(Key(at, number, row_id))
    return sorted(found, key=lambda key: (-key.created_ms, key.kind, -key.id))


@pytest.mark.parametrize(
    "filters",
    [
        {}, {"types": ("decision",)}, {"types": ("summary",)}, {"types": ("bugfix", "summary")},
        {"host": "kimi"}, {"host": "kimi", "types": ("change", "decision")},
        {"project_ids": (1,)}, {"project_ids": (1, 2), "types": ("bugfix",)}, {"project_ids": ()},
        {"since_ms": 1_790_000_005_000, "until_ms": 1_790_000_015_000},
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("size", [1, 7, 100])
def test_pages_by_key_and_by_offset_are_the_list(home: Home, filters: dict[str, Any], size: int) -> None:
    shown = Shown(**filters)
    expected = whole(home, shown)
    by_key: list[Key] = []
    more = True
    while more:
        last = by_key[-1] if by_key else None
        page, more = home.store.read(lambda conn, last=last: browse.page(conn, shown, size, last))  # type: ignore[misc]
        by_key += page
    assert by_key == expected
    middle = len(expected) // 2
    page, _ = home.store.read(lambda conn: browse.page(conn, shown, size, None, middle))
    assert page == expected[middle : middle + size]
    days = home.store.read(lambda conn: browse.by_day(conn, shown))
    assert sum(count for *_, count in days) == len(expected)
    for start, end, count in days:
        assert sum(start <= key.created_ms < end for key in expected) == count


def test_a_page_reads_an_index_not_the_table(home: Home) -> None:
    shown = Shown(types=("decision",), project_ids=(1,))

    def plan(conn: Any) -> list[str]:
        sql, values = browse._part(shown, DocKind.OBSERVATION, Key(1, 0, 1))
        return [row[3] for row in conn.execute(f"EXPLAIN QUERY PLAN {sql} LIMIT 10", values)]

    steps = home.store.read(plan)
    assert any("USING" in step and "INDEX" in step and "SEARCH" in step for step in steps), steps


def test_counts_by_value_leave_out_their_own_filter(home: Home) -> None:
    found = home.store.read(lambda conn: browse.values_of(conn, Shown(types=("decision",), host="kimi")))
    assert found["types"]["summary"] == COUNT // 3
    assert found["hosts"]["claude-code"] == 8


def test_work_is_what_the_records_say(home: Home) -> None:
    def records(conn: Any) -> list[dict[str, Any]]:
        return work.page(conn, None, 0, 100, home.now + COUNT * 1000)

    found = home.store.read(records)
    assert [one["state"] for one in found] == ["needs"] + ["ready"] * (COUNT - 1)
    assert found[0]["ask"] == "Shall I go on?"
    first = found[0]
    home.write(lambda conn: work.check(conn, first["id"], first["version"], home.now + COUNT * 1000))
    assert home.store.read(records)[0]["state"] == "checked"
    home.session, home.now = f"s{COUNT - 1}", home.now + COUNT * 1000
    home.prompt("again", 500)
    assert home.store.read(records)[0]["state"] == "doing"
    late = home.store.read(lambda conn: work.page(conn, None, 0, 100, home.now + 7 * 3_600_000))
    assert late[0]["state"] == "quiet"


@pytest.mark.parametrize(
    ("answer", "asked"),
    [("Done.", ""), ("Shall I?", "Shall I?"), ("It works.\n\n**Which one?**\n", "**Which one?**"),
     ("Is it? No.\nDone\nreally\nfinished.", ""), ("\u7d9a\u3051\u307e\u3059\u304b\uff1f", "\u7d9a\u3051\u307e\u3059\u304b\uff1f"), ("", "")],
)  # fmt: skip
def test_a_question_is_one_at_the_end(answer: str, asked: str) -> None:
    assert work.question(answer) == asked


# Over HTTP ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def live() -> Iterator[LiveWorker]:
    with running(tcp=True) as made:
        for number in range(3):
            body = {"text": f"words {number}", "title": f"Title {number}", "project": "http"}
            made.ask("POST", "/api/memory/save", body)
        yield made


def http(live: LiveWorker, method: str, path: str, headers: dict[str, str] | None = None, body: bytes | None = None) -> tuple[int, dict[str, str], bytes]:
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", live.port, timeout=20)
    try:
        connection.request(method, path, body=body, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
    finally:
        connection.close()


def session(live: LiveWorker) -> dict[str, str]:
    import json

    code = live.ask("POST", "/api/admin/open", {}).json["code"]
    body = json.dumps({"code": code}).encode()
    _, _, found = http(live, "POST", "/api/session", {"content-type": "application/json"}, body)
    return {"authorization": f"Bearer {json.loads(found)['token']}", "content-type": "application/json"}


@pytest.mark.parametrize("path", ["/", "/viewer", "/tv", "/tv.html", "/memories", "/memories/12", "/memories/S3", "/sessions", "/session/4", "/work/4", "/queue", "/usage", "/status", "/settings"])
def test_each_address_gives_the_same_empty_page(live: LiveWorker, path: str) -> None:
    status, headers, body = http(live, "GET", path)
    assert status == 200
    assert headers["content-type"].startswith("text/html")
    assert "set-cookie" not in headers
    assert headers["cache-control"] == "no-store"
    policy = headers["content-security-policy"]
    for part in ("default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'"):
        assert part in policy
    assert b"Title 0" not in body
    assert body == http(live, "GET", "/")[2]


@pytest.mark.parametrize("path", ["/memories/1;x", "/memories/1/2", "/memories/x", "/sessions/1/status", "/sessions/1", "/settings/", "/TV", "/tv/"])
def test_other_addresses_need_a_proof(live: LiveWorker, path: str) -> None:
    assert http(live, "GET", path)[0] == 401


def test_an_address_of_the_page_takes_no_other_method(live: LiveWorker) -> None:
    assert http(live, "POST", "/memories")[0] == 401
    assert http(live, "DELETE", "/sessions/1")[0] == 401


def test_files_are_those_of_the_page_and_no_others(live: LiveWorker) -> None:
    import re

    page = http(live, "GET", "/")[2].decode()
    names = re.findall(r'(?:src|href)="(/[^"]+)"', page)
    assert len(names) > 25
    for name in names:
        status, headers, body = http(live, "GET", name)
        assert (status, headers["cache-control"]) == (200, "no-cache"), name
        assert body
        again = http(live, "GET", name, {"if-none-match": headers["etag"]})
        assert (again[0], again[2]) == (304, b"")
    for name in ("../pages.py", "..%2fpages.py", "js/../../pages.py", "index.html", "js", "", "js/nothing.js"):
        assert http(live, "GET", f"/assets/viewer/{name}")[0] == 404, name


def test_the_page_loads_every_module_it_has(live: LiveWorker) -> None:
    folder = Path(__file__).parent.parent / "plugins/viewer/src/claude_mem_viewer/assets"
    page = http(live, "GET", "/")[2].decode()
    for file in (*folder.rglob("*.js"), *folder.rglob("*.css")):
        assert f"/assets/viewer/{file.relative_to(folder).as_posix()}" in page


def test_a_session_may_read_and_correct_but_not_rule(live: LiveWorker) -> None:
    import json

    head = session(live)
    assert http(live, "GET", "/api/memories", head)[0] == 200
    edited = http(live, "PATCH", "/api/memories/1", head, json.dumps({"title": "By a page"}).encode())
    assert edited[0] == 200
    for method, path in (("POST", "/api/admin/open"), ("POST", "/api/admin/shutdown"), ("GET", "/api/admin/doctor"), ("POST", "/api/import"), ("POST", "/api/memory/save"), ("POST", "/api/logs/clear")):
        assert http(live, method, path, head, b"{}" if method == "POST" else None)[0] == 403, path
    port = http(live, "POST", "/api/settings", head, json.dumps({"CLAUDE_MEM_DATA_DIR": "/"}).encode())
    assert port[0] in {400, 403}
    draft = {"project": "http", "draft": {"CLAUDE_MEM_PROVIDER": "gemini"}}
    assert http(live, "POST", "/api/context/preview", head, json.dumps(draft).encode())[0] == 400


def test_a_change_by_filter_is_for_what_was_seen(live: LiveWorker) -> None:
    for number in range(3):
        body = {"text": f"words {number}", "title": f"By filter {number}", "project": "by-filter"}
        live.ask("POST", "/api/memory/save", body)
    found = live.ask("GET", "/api/memories?project=by-filter&project=no-such").json["items"]
    kinds = sorted({card["type"] for card in found})
    wanted = {"filter": {"project": ["by-filter", "no-such"], "type": kinds}}
    off = live.ask("POST", "/api/memories/bulk", {**wanted, "count": 2, "action": "wrong"})
    assert (off.status, "3 fit by now" in off.json["error"]) == (409, True)
    done = live.ask("POST", "/api/memories/bulk", {**wanted, "count": 3, "action": "wrong"}).json
    assert len(done["changed"]) == 3
    numbers = [one["undo"] for one in done["changed"]]
    assert live.ask("POST", "/api/undo", {"undo": numbers}).status == 200
    for odd in ({"action": "wrong"}, {**wanted, "keys": ["1"], "action": "wrong"},
                {"filter": {"state": "deleted"}, "count": 0, "action": "pin"}):  # fmt: skip
        assert live.ask("POST", "/api/memories/bulk", odd).status == 400


def test_a_page_pins_nothing_that_came_from_outside(live: LiveWorker) -> None:
    import json

    head = {"authorization": f"Bearer {live.token}", "content-type": "application/json"}
    body = json.dumps({"text": "from a program", "project": "http"}).encode()
    number = json.loads(http(live, "POST", "/api/memory/save", head, body)[2])["id"]
    status, _, told = http(live, "POST", f"/api/memories/{number}/pin", session(live), b"{}")
    assert status == 403
    assert f"mem pin {number}" in told.decode()
    assert live.ask("POST", f"/api/memories/{number}/pin", {}).status == 200


def test_settings_are_listed_with_their_records(live: LiveWorker) -> None:
    import json

    found = json.loads(http(live, "GET", "/api/settings/declared", session(live))[2])["settings"]
    by_key = {one["key"]: one for one in found}
    assert by_key.keys() == set(live.ask("GET", "/api/settings").json)
    rows = by_key["CLAUDE_MEM_CONTEXT_OBSERVATIONS"]
    assert (rows["value"], rows["low"], rows["high"], rows["locked"]) == ("50", 1, 200, "")
    assert "mem config set" in by_key["CLAUDE_MEM_WORKER_PORT"]["locked"]
    assert all(one["value"] in {"", "set"} for one in found if one["type"] == "secret")


def test_the_stream_tells_what_was_changed(live: LiveWorker) -> None:
    import http.client
    import json

    connection = http.client.HTTPConnection("127.0.0.1", live.port, timeout=20)
    try:
        connection.request("GET", "/stream", headers=session(live))
        answer = connection.getresponse()
        lines = iter(lambda: answer.fp.readline().decode(), "")
        next(line for line in lines if line.startswith("event: processing_status"))
        live.ask("POST", "/api/memories/2/wrong", {})
        told = next(line for line in lines if '"memory_changed"' in line and line.startswith("data: "))
        changed = json.loads(told.removeprefix("data: "))["changed"]
        assert [(one["key"], one["action"]) for one in changed] == [("2", "wrong")]
    finally:
        connection.close()


def test_a_memory_says_where_it_was_given(live: LiveWorker) -> None:
    """In the context of a session's start; 1 is not 11."""
    start = {"contentSessionId": "given", "project": "http", "prompt": "go on"}
    live.ask("POST", "/api/sessions/init", start)
    from claude_mem_core.store import Store

    store = Store.open(live.paths.database)
    try:
        sql = "INSERT OR REPLACE INTO context_given (session_db_id, what, at_ms, ids) VALUES (1, 'session', 5, ?)"
        store.write(lambda conn: conn.execute(sql, ('["11","S1","3"]',)).fetchall()).result()
    finally:
        store.close()
    uses = {key: live.ask("GET", f"/api/memories/{key}").json["uses"] for key in ("1", "3")}
    assert uses["1"] == []
    assert [(use["what"], use["session"], use["t"]) for use in uses["3"]] == [("session", 1, 5)]
