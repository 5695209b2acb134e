"""What is stored, as the API gives it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import pytest

from claude_mem_core.testing.worker import LiveWorker, running

COUNT = 7


@pytest.fixture(scope="module")
def live() -> Iterator[LiveWorker]:
    with running() as worker:
        for number in range(COUNT):
            body = {
                "text": f"fact number {number}", "title": f"Title {number}",
                "project": "one" if number % 2 else "two", "metadata": {"n": number},
            }  # fmt: skip
            assert worker.ask("POST", "/api/memory/save", body).json["success"]
        prompt = {"contentSessionId": "s", "project": "one", "prompt": "do it"}
        worker.ask("POST", "/api/sessions/init", prompt)
        yield worker


def get(live: LiveWorker, path: str) -> Any:
    raw = live.ask("GET", path)
    assert raw.status == 200, raw.body
    return raw.json


def test_a_page_has_both_documented_forms(live: LiveWorker) -> None:
    found = get(live, "/api/observations?limit=3")
    assert found["items"] == found["observations"]
    assert [row["title"] for row in found["items"]] == ["Title 6", "Title 5", "Title 4"]
    assert found["total"] == COUNT
    assert found["hasMore"] is True
    assert (found["offset"], found["limit"]) == (0, 3)
    row = found["items"][0]
    assert json.loads(row["facts"]) == []
    assert row["narrative"] == "fact number 6"
    assert row["created_at_epoch"] > 1_700_000_000_000
    assert row["created_at"].endswith("Z")
    assert json.loads(row["metadata"]) == {"n": 6}


def test_pages_go_on_by_key_and_by_offset(live: LiveWorker) -> None:
    by_key: list[int] = []
    path = "/api/observations?limit=2"
    following: str | None = ""
    while following is not None:
        found = get(live, path + (f"&before={following}" if following else ""))
        by_key += [row["id"] for row in found["items"]]
        following = found["next"]
    by_offset = [
        row["id"]
        for start in range(0, COUNT, 2)
        for row in get(live, f"{path}&offset={start}")["items"]
    ]
    assert by_key == by_offset
    assert len(set(by_key)) == COUNT


def test_filters_by_project_and_host(live: LiveWorker) -> None:
    found = get(live, "/api/observations?project=one")
    assert {row["project"] for row in found["items"]} == {"one"}
    assert found["total"] == COUNT // 2
    number = found["items"][0]["project_id"]
    assert get(live, f"/api/observations?project={number}")["items"] == found["items"]
    assert get(live, "/api/observations?project=nobody")["items"] == []
    assert get(live, "/api/observations?platformSource=claude")["items"] == []
    assert get(live, "/api/prompts?platformSource=claude")["items"][0]["prompt"] == "do it"


def test_sql_in_a_filter_is_a_name_that_nothing_has(live: LiveWorker) -> None:
    assert get(live, "/api/observations?project=x%27%20OR%20%271%27%3D%271")["items"] == []


def test_an_absurd_limit_gives_a_hundred(live: LiveWorker) -> None:
    assert get(live, "/api/observations?limit=999999999")["limit"] == 100
    raw = live.ask("GET", "/api/observations?limit=5&offset=-5")
    assert raw.status == 400
    assert "offset" in raw.json["error"]
    assert live.ask("GET", "/api/observations?before=yesterday").status == 400


def test_single_records_and_missing_ones(live: LiveWorker) -> None:
    row = get(live, "/api/observations?limit=1")["items"][0]
    assert get(live, f"/api/observation/{row['id']}") == row
    prompt = get(live, "/api/prompts")["items"][0]
    assert get(live, f"/api/prompt/{prompt['id']}")["prompt_text"] == "do it"
    for name, words in [("observation", "Observation"), ("session", "Session"),
                        ("prompt", "Prompt")]:  # fmt: skip
        raw = live.ask("GET", f"/api/{name}/99999")
        assert (raw.status, raw.json) == (404, {"error": f"{words} #99999 not found"})
    for odd in ("0", "-1", "01", "1x", "1.0", "%2e%2e", "9" * 30):
        assert live.ask("GET", f"/api/observation/{odd}").status == 400


def test_a_batch_in_each_of_its_forms(live: LiveWorker) -> None:
    ids = [row["id"] for row in get(live, "/api/observations?limit=3")["items"]]
    for form in (ids, json.dumps(ids), ",".join(map(str, ids)), [*ids, 99_999]):
        found = live.ask("POST", "/api/observations/batch", {"ids": form}).json
        assert [row["id"] for row in found] == ids
    up = {"ids": ids, "orderBy": "date_asc", "limit": 2}
    found = live.ask("POST", "/api/observations/batch", up).json
    assert [row["id"] for row in found] == ids[::-1][:2]
    one = live.ask("POST", "/api/observations/batch", {"ids": ids, "project": "one"}).json
    assert {row["project"] for row in one} == {"one"}
    assert live.ask("POST", "/api/observations/batch", {"ids": []}).json == []


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        ("no", "ids must be an array of numbers"), ({}, "ids must be an array of numbers"),
        (5, "ids must be an array of numbers"), ("[1,", "ids must be an array of numbers"),
        ([1.5], "All ids must be integers"), (["x"], "All ids must be integers"),
        ([None], "All ids must be integers"), ([-1], "All ids must be integers"),
        ([10**30], "All ids must be integers"), ([True], "All ids must be integers"),
    ],
)  # fmt: skip
def test_bad_batches_get_the_documented_words(live: LiveWorker, ids: Any, words: str) -> None:
    raw = live.ask("POST", "/api/observations/batch", {"ids": ids})
    assert (raw.status, raw.json) == (400, {"error": words})


def test_sessions_by_their_memory_ids(live: LiveWorker) -> None:
    known = get(live, "/api/prompts")["items"][0]["memory_session_id"]
    body = {"memorySessionIds": [known, "nobody"]}
    found = live.ask("POST", "/api/sdk-sessions/batch", body).json
    assert [row["content_session_id"] for row in found] == ["s"]


def test_stats_have_both_documented_forms(live: LiveWorker) -> None:
    found = get(live, "/api/stats")
    assert found["worker"]["version"]
    assert found["database"]["observations"] == COUNT
    assert found["database"]["path"].endswith("memory.db")
    assert "byProject" in found
    assert "total" in found


def test_projects_by_host(live: LiveWorker) -> None:
    found = get(live, "/api/projects")
    assert {"one", "two"} <= set(found["projects"])
    assert "claude-code" in found["sources"]
    assert found["projectsBySource"]["claude-code"] == ["one"]
    assert get(live, "/api/projects?platformSource=claude")["projects"] == ["one"]


def test_a_deleted_record_is_gone(live: LiveWorker) -> None:
    made = live.ask("POST", "/api/memory/save", {"text": "for a moment"}).json["id"]
    raw = live.ask("DELETE", f"/api/observation/{made}")
    assert raw.json["success"]
    assert raw.json["id"] == made
    assert live.ask("GET", f"/api/observation/{made}").status == 404
    assert live.ask("DELETE", f"/api/observation/{made}").status == 404


def test_secrets_and_private_text_are_not_saved(live: LiveWorker) -> None:
    key = "sk-ant-" + "api03-" + "a" * 40
    text = f"use {key} <private>hush</private> here"
    made = live.ask("POST", "/api/memory/save", {"text": text, "title": text}).json
    row = json.dumps(get(live, f"/api/observation/{made['id']}"))
    assert key not in row
    assert "hush" not in row
    nothing = live.ask("POST", "/api/memory/save", {"text": "<private>all</private>"}).json
    assert nothing["success"] is False


@pytest.mark.parametrize(
    "body", [{}, {"text": ""}, {"text": 5}, {"text": "a", "more": 1}, {"text": "a" * 70_000}, []]
)
def test_bad_memories_are_refused(live: LiveWorker, body: Any) -> None:
    raw = live.ask("POST", "/api/memory/save", body)
    assert raw.status == 400
    assert raw.json["error"]


def test_what_the_installation_stands_on(live: LiveWorker) -> None:
    found = get(live, "/api/settings/dependency-health")
    rows = {(row["kind"], row["name"]): row for row in found["dependencies"]}
    assert found["status"] == "ok"
    assert rows["package", "apsw"]["version"] == version("apsw")
    assert rows["runtime", "sqlite-fts5"]["state"] == "ok"
    assert rows["search", "keyword"]["state"] == "ok"
    assert rows["plugin", "redactor.secrets"]["state"] == "ok"
    assert ("program", "git") in rows


def test_the_search_by_vectors_is_told_as_it_is(live: LiveWorker) -> None:
    found = get(live, "/api/chroma/status?deep=1")
    there = bool(found["backends"])
    assert found["enabled"] is there
    assert found["status"] == ("ok" if there else "not_configured")
    assert (found["note"] is None) is there


def test_small_answers(live: LiveWorker) -> None:
    assert get(live, "/api/readiness")["status"] == "ready"
    assert get(live, "/api/processing-status") == {
        "isProcessing": False, "queueDepth": 0, "parkedSessions": 0,
    }  # fmt: skip
    assert get(live, "/api/sync/status") == {"configured": False}
    assert get(live, "/api/advisor-calls")["advisorCalls"] == []
    text = get(live, "/api/instructions?topic=workflow")["content"][0]["text"]
    assert "batch" in text
    assert live.ask("GET", "/api/instructions?topic=../../etc/passwd").status == 400
    assert live.ask("GET", "/api/instructions?operation=nothing").status == 404
    assert get(live, "/api/instructions?operation=search")["content"]


def test_unknown_paths_and_methods(live: LiveWorker) -> None:
    raw = live.ask("GET", "/api/nope%3Cscript%3E")
    assert (raw.status, raw.json) == (404, {"error": "there is no such endpoint"})
    assert live.ask("POST", "/api/version", {}).status == 405
    assert live.ask("GET", "/../../../etc/passwd").status == 404
    assert live.ask("GET", "/assets/%2e%2e%2fsettings.json").status == 404


def test_the_queue_shows_what_waits(live: LiveWorker) -> None:
    use = {"contentSessionId": "q", "project": "one", "tool_name": "Bash", "tool_use_id": "q1"}
    live.ask("POST", "/api/sessions/observations", use)
    found = get(live, "/api/pending-queue")
    assert found["queue"]["totalPending"] == 1
    assert found["queue"]["messages"][0]["message_type"] == "observation"
    assert len(found["sessionsWithPendingWork"]) == 1
    started = live.ask("POST", "/api/pending-queue/process", {"sessionLimit": 5}).json
    assert started["totalPendingSessions"] == 1
    assert started["startedSessionIds"] == found["sessionsWithPendingWork"]
    assert live.ask("POST", "/api/processing", {"isProcessing": True}).json == {
        "status": "ok", "scheduledSessions": 0,
    }  # fmt: skip
    assert live.ask("POST", "/api/pending-queue/process", {"sessionLimit": 0}).status == 400
    assert live.ask("POST", "/api/pending-queue/retry", {}).json["success"]


def test_settings_are_checked_and_masked(live: LiveWorker) -> None:
    body = {"CLAUDE_MEM_CONTEXT_OBSERVATIONS": 31}
    assert live.ask("POST", "/api/settings", body).json == {"success": True}
    found = get(live, "/api/settings")
    assert found["CLAUDE_MEM_CONTEXT_OBSERVATIONS"] == "31"
    for bad in (
        {"CLAUDE_MEM_CONTEXT_OBSERVATIONS": 0}, {"CLAUDE_MEM_CONTEXT_OBSERVATIONS": "x"},
        {"CLAUDE_MEM_NOPE": "1"}, {"CLAUDE_MEM_TV_TOKEN": "x"}, [], "x",
    ):  # fmt: skip
        raw = live.ask("POST", "/api/settings", bad)
        assert raw.status == 400
        assert raw.json["error"]
    assert get(live, "/api/settings")["CLAUDE_MEM_CONTEXT_OBSERVATIONS"] == "31"


def test_a_broken_settings_file_is_never_overwritten(live: LiveWorker) -> None:
    good = live.paths.settings.read_bytes()
    live.paths.settings.write_bytes(b'{"half": ')
    raw = live.ask("POST", "/api/settings", {"CLAUDE_MEM_CONTEXT_OBSERVATIONS": 33})
    assert raw.status == 500
    assert "settings.json" in raw.json["error"]
    assert live.paths.settings.read_bytes() == b'{"half": '
    live.paths.settings.write_bytes(good)


def test_the_log_can_be_read_and_emptied(live: LiveWorker) -> None:
    found = get(live, "/api/logs?lines=2")
    assert found["exists"]
    assert found["returnedLines"] <= 2
    assert "started" in get(live, "/api/logs")["logs"]
    assert live.ask("POST", "/api/logs/clear", {}).json["success"]
    assert get(live, "/api/logs")["totalLines"] == 0


def test_broken_bodies_get_a_clear_answer(live: LiveWorker) -> None:
    from claude_mem_core.worker.ask import ask

    for body in (b"{nope", b"\xff\xfe", b"[" * 100_000, b'{"text": NaN}', b"", b"5",
                 b'{"a":' * 70 + b"1" + b"}" * 70, '{"text":1}'.encode("utf-16")):  # fmt: skip
        raw = ask(live.paths, "POST", "/api/memory/save", body)
        assert raw.status == 400, body[:20]
        assert raw.json["error"]
