"""Sessions that other programs report over the API, in the documented words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from claude_mem_core.testing.worker import LiveWorker, running

SETTINGS = json.dumps({"CLAUDE_MEM_EXCLUDED_PROJECTS": "/srv/secret/**"})


@pytest.fixture(scope="module")
def live() -> Iterator[LiveWorker]:
    with running(settings=SETTINGS) as worker:
        yield worker


def post(live: LiveWorker, path: str, **body: Any) -> dict[str, Any]:
    raw = live.ask("POST", path, body)
    assert raw.status == 200, raw.body
    return dict(raw.json)


@pytest.fixture
def session() -> str:
    return f"s-{uuid4().hex}"


def test_a_prompt_begins_a_session(live: LiveWorker, session: str) -> None:
    found = post(
        live, "/api/sessions/init", contentSessionId=session, project="shop",
        prompt="add a cart",
    )  # fmt: skip
    assert found["status"] == "initialized"
    assert found["promptNumber"] == 1
    assert found["skipped"] is False
    assert found["contextInjected"] is False
    again = post(live, "/api/sessions/init", claudeSessionId=session, prompt="now checkout")
    assert again["sessionDbId"] == found["sessionDbId"]
    assert again["promptNumber"] == 2


def test_the_same_prompt_at_once_is_a_duplicate(live: LiveWorker, session: str) -> None:
    body = {"contentSessionId": session, "project": "shop", "prompt": "twice"}
    first = post(live, "/api/sessions/init", **body)
    second = post(live, "/api/sessions/init", **body)
    assert not first["skipped"]
    assert second["skipped"]
    assert second["reason"] == "duplicate"
    assert second["promptNumber"] == first["promptNumber"]


def test_a_private_prompt_is_skipped(live: LiveWorker, session: str) -> None:
    secret = "<private>the pin is 7781</private>"
    found = post(live, "/api/sessions/init", contentSessionId=session, prompt=secret)
    assert found["skipped"]
    assert found["reason"] == "private"
    tool = post(
        live, "/api/sessions/observations", contentSessionId=session, tool_name="Read",
        tool_input={"file_path": "/x"}, tool_response="y",
    )  # fmt: skip
    assert tool == {"status": "skipped", "reason": "private"}


def test_a_tool_use_makes_its_session(live: LiveWorker, session: str) -> None:
    found = post(
        live, "/api/sessions/observations", claudeSessionId=session, tool_name="Bash",
        tool_input={"command": "ls"}, tool_response={"stdout": "a"}, cwd="/srv/shop",
        tool_use_id="t-1" + session, platformSource="openclaw",
    )  # fmt: skip
    assert found == {"status": "queued"}
    uses = live.ask("GET", f"/api/tool-uses?ids=t-1{session}").json
    assert uses["count"] == 1
    assert uses["toolUses"][0]["platform_source"] == "openclaw"
    assert uses["toolUses"][0]["tool_name"] == "Bash"


def test_claude_is_claude_code(live: LiveWorker, session: str) -> None:
    post(
        live, "/api/sessions/observations", claudeSessionId=session, tool_name="Bash",
        tool_use_id="t-2" + session, platformSource="claude",
    )  # fmt: skip
    uses = live.ask("GET", f"/api/tool-uses?ids=t-2{session}").json
    assert uses["toolUses"][0]["platform_source"] == "claude-code"


def test_excluded_places_are_skipped(live: LiveWorker, session: str) -> None:
    found = post(
        live, "/api/sessions/observations", claudeSessionId=session, tool_name="Bash",
        cwd="/srv/secret/part",
    )  # fmt: skip
    assert found == {"status": "skipped", "reason": "project_excluded"}


def test_summarize_answers_for_unknown_sessions_and_subagents(
    live: LiveWorker, session: str
) -> None:
    unknown = post(live, "/api/sessions/summarize", claudeSessionId=session)
    assert unknown == {"status": "skipped", "reason": "unknown_session"}
    inside = post(live, "/api/sessions/summarize", claudeSessionId=session, agentId="a1")
    assert inside == {"status": "skipped", "reason": "subagent_context"}


def test_a_turn_ends_and_a_session_too(live: LiveWorker, session: str) -> None:
    post(live, "/api/sessions/init", contentSessionId=session, project="shop", prompt="go")
    ended = post(
        live, "/api/sessions/summarize", contentSessionId=session,
        last_assistant_message="went",
    )  # fmt: skip
    assert ended == {"status": "queued"}
    done = post(live, "/api/sessions/complete", claudeSessionId=session, reason="exit")
    assert done == {"success": True}
    nobody = post(live, "/api/sessions/complete", claudeSessionId="never-" + session)
    assert nobody == {"success": True, "message": "No active session found"}


def test_a_project_by_name_is_one_project(live: LiveWorker, session: str) -> None:
    name = f"named-{session[:8]}"
    for number in range(2):
        post(
            live, "/api/sessions/init", contentSessionId=f"{session}{number}", project=name,
            prompt=f"prompt {number}",
        )  # fmt: skip
    found = live.ask("GET", f"/api/prompts?project={name}").json
    assert {row["project"] for row in found["items"]} == {name}
    assert len({row["project_id"] for row in found["items"]}) == 1
    assert name in live.ask("GET", "/api/projects").json["projects"]


@pytest.mark.parametrize(
    ("path", "body", "names"),
    [
        ("init", {}, "contentSessionId"), ("init", {"contentSessionId": ""}, "contentSessionId"),
        ("init", {"contentSessionId": 5}, "contentSessionId"),
        ("init", {"contentSessionId": "x", "prompt": 5}, "prompt"),
        ("observations", {"contentSessionId": "x"}, "tool_name"),
        ("observations", {"contentSessionId": "x", "tool_name": []}, "tool_name"),
        ("summarize", [], "object"), ("complete", {"claudeSessionId": None}, "SessionId"),
    ],
)  # fmt: skip
def test_bad_reports_are_named(live: LiveWorker, path: str, body: Any, names: str) -> None:
    raw = live.ask("POST", f"/api/sessions/{path}", body)
    assert raw.status == 400
    assert names in raw.json["error"]


def test_the_older_endpoints_know_rows(live: LiveWorker, session: str) -> None:
    row = post(live, "/api/sessions/init", contentSessionId=session, project="old")["sessionDbId"]
    base = f"/sessions/{row}"
    began = post(live, f"{base}/init", userPrompt="hello", promptNumber=1)
    assert began == {"success": True, "session_id": session}
    used = post(
        live, f"{base}/observations", tool_name="Read", tool_input={"file_path": "/a"},
        tool_result="text", correlation_id="c-1" + session,
    )  # fmt: skip
    assert used["success"]
    assert live.ask("GET", f"/api/tool-uses?ids=c-1{session}").json["count"] == 1
    assert post(live, f"{base}/summarize", trigger="stop")["success"]
    state = live.ask("GET", f"{base}/status").json
    assert state["session_id"] == session
    assert post(live, f"{base}/complete") == {"success": True}
    gone = live.ask("DELETE", base)
    assert gone.json["success"]
    assert live.ask("GET", f"{base}/status").json["status"] == "completed"


def test_older_endpoints_name_a_missing_row(live: LiveWorker) -> None:
    raw = live.ask("GET", "/sessions/999999/status")
    assert (raw.status, raw.json) == (404, {"error": "Session #999999 not found"})


def test_odd_text_is_kept_as_far_as_it_can_be(live: LiveWorker, session: str) -> None:
    odd = "a\x00b \ud800 \u200b ok \U0001f600"
    post(
        live, "/api/sessions/observations", contentSessionId=session, tool_name=odd,
        tool_input={odd: odd}, tool_response=[odd], tool_use_id=odd + session,
    )  # fmt: skip
    rows = live.ask("GET", "/api/tool-uses?limit=100").json["toolUses"]
    (row,) = [row for row in rows if row["content_session_id"] == session]
    for field in ("tool_name", "tool_input", "tool_response", "tool_use_id"):
        kept = json.dumps(row[field])
        assert " ok " in kept
        assert "\U0001f600" in json.loads(kept)
        assert "\\u0000" not in kept
        assert "\\ud800" not in kept
