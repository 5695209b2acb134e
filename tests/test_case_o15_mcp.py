"""Cases O01, O15 and O16 through the MCP search tool: the same rows as over HTTP."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from claude_mem_core.testing.worker import LiveWorker, running
from tests.hook_home import CASES, lines
from tests.test_case_o06_context import until_indexed
from tests.test_case_o15_end_to_end import FOLDERS, ODD, QUERIES, TITLES


@pytest.fixture(scope="module")
def live() -> Iterator[LiveWorker]:
    with running() as worker:
        for folder in FOLDERS:
            rows = [
                {k: v for k, v in row.items() if k != "id" and v is not None}
                for row in lines(folder, "corpus.jsonl")
            ]
            answer = worker.ask("POST", "/api/import", {"observations": rows}, timeout=60)
            assert answer.status == 200, answer.body
        until_indexed(worker)
        yield worker


def tool(live: LiveWorker, **arguments: Any) -> str:
    call = {"name": "search", "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    result = live.ask("POST", "/mcp", message).json["result"]
    assert not result.get("isError"), result
    return str(result["content"][0]["text"])


def keys(text: str) -> list[str]:
    return re.findall(r"^\| #(\d+) \|", text, re.MULTILINE)


@pytest.mark.parametrize(("folder", "query"), QUERIES, ids=lambda v: ascii(v)[:50])
def test_the_tool_finds_what_the_api_finds(
    live: LiveWorker, folder: str, query: dict[str, Any]
) -> None:
    project = lines(folder, "corpus.jsonl")[0]["project"]
    text = query["q"].replace("\0", "")
    said = tool(live, query=text, project=project)
    found = live.ask("GET", f"/api/search?query={quote(text)}&project={project}&limit=20").json
    rows = {str(row["id"]): TITLES[folder][row["title"]] for row in found["observations"]}
    assert set(keys(said)) == set(rows), "days group the rows, so the order may differ"
    assert "Searched by: keyword" in said
    shown = {rows[key] for key in keys(said)}
    assert set(query["hit"]) <= shown
    assert not set(query.get("miss", [])) & shown
    if "first" in query:
        assert rows[keys(said)[0]] == query["first"], "the best day comes first"


@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
def test_nothing_that_is_typed_is_an_error(live: LiveWorker, text: str) -> None:
    tool(live, query=text)


def test_o01_text_of_any_script_comes_back_as_it_was(live: LiveWorker) -> None:
    expected = json.loads(
        (CASES / "O01-hook-unicode-any-locale" / "expect.json").read_text("utf-8")
    )
    for number, name in enumerate(sorted(expected)):
        payload = json.loads((CASES / "O01-hook-unicode-any-locale" / name).read_text("utf-8"))
        text = payload.get("prompt")
        if not isinstance(text, str):
            continue
        body = {"contentSessionId": f"u{number}", "prompt": text, "cwd": "/srv/scripts"}
        assert live.ask("POST", "/api/sessions/init", body).status == 200
        until_indexed(live)
        word = expected[name]["search"]
        assert "#P" in tool(live, query=word, type="prompts"), name
