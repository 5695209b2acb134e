"""Search, timeline, context and their kin, as the worker answers them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from claude_mem_core.recall.timeline import anchor_of, as_text, timeline
from claude_mem_core.testing.worker import LiveWorker, data_dir, start
from claude_mem_core.types import Observation
from tests.cli_run import mem
from tests.recall_store import CASES, DAY_MS, NOW_MS, Filled, read_jsonl
from tests.test_search_cases import queries
from tests.worker_home import until

O15 = CASES / "O15-keyword-query-syntax"
MINUTE = 60_000


def at(minutes: int) -> int:
    return NOW_MS - DAY_MS + minutes * MINUTE


@pytest.fixture(scope="module")
def live() -> Iterator[LiveWorker]:
    with data_dir() as paths:
        paths.data.mkdir(mode=0o700)
        filled = Filled(paths.data)
        filled.observe(read_jsonl(O15 / "corpus.jsonl"))
        filled.observe(
            [
                {
                    "title": f"Step {n} of the dock",
                    "narrative": "long <b>story</b>",
                    "facts": ["fact a"],
                    "concepts": ["gotcha"],
                    "files_read": ["/p/src/a.py"],
                    "files_modified": [f"src/dock_{n % 2}.py"],
                    "created_ms": at(2 * n),
                    "project": "dock",
                    "type": ["bugfix", "feature"][n % 2],
                }
                for n in range(10)
            ]
        )
        filled.summarize(
            request="Build the dock", learned="wood floats", created_ms=at(9), project="dock"
        )
        filled.prompt("please build the dock", created_ms=at(0) - 1, project="dock")
        filled.close()
        worker = start(paths)
        try:
            until(lambda: get(worker, "/api/search", query="dock")["coverage"] == 1.0)
            yield worker
        finally:
            worker.stop()


def get(live: LiveWorker, url: str, status: int = 200, **params: Any) -> Any:
    answer = live.ask("GET", f"{url}?{urlencode(params)}")
    assert answer.status == status, answer.body
    return answer.json


def text(found: Any) -> str:
    return str(found["content"][0]["text"])


FIRST = 19  # id of the first dock row


def test_the_index_form(live: LiveWorker) -> None:
    params = {"query": "dock", "project": "dock", "type": "observations", "format": "index"}
    found = get(live, "/api/search", limit=3, **params)
    lines = text(found).splitlines()
    assert lines[0] == 'Found 3 result(s) matching "dock" (3 obs, 0 sessions, 0 prompts)'
    assert lines[2].startswith("### ")
    assert lines[4:6] == [
        "| ID | Time | T | Title | Read |",
        "|----|------|---|-------|------|",
    ]
    assert "of the dock | ~" in lines[6]
    assert found["methods"] == ["keyword"]
    assert found["coverage"] == 1.0
    assert found["hasMore"] is True
    found = get(live, "/api/search", query="zebrafish <x>", format="index")
    assert text(found) == 'No results found matching "zebrafish ‹x›"'


def test_the_json_form(live: LiveWorker) -> None:
    found = get(live, "/api/search", query="dock", project="dock", format="json", limit=100)
    assert len(found["observations"]) == 10
    assert [row["request"] for row in found["sessions"]] == ["Build the dock"]
    assert [row["prompt_text"] for row in found["prompts"]] == ["please build the dock"]
    assert json.loads(found["observations"][0]["facts"]) == ["fact a"]


def test_the_full_form(live: LiveWorker) -> None:
    found = get(live, "/api/search", query="dock", type="bugfix", format="full", limit=1)
    assert "| long ‹b›story‹/b›" in text(found)
    assert "Facts:\n- fact a" in text(found)
    assert "Files modified: src/dock_0.py" in text(found)


@pytest.mark.parametrize(
    ("params", "count"),
    [
        ({"type": "bugfix"}, 5),
        ({"type": "sessions"}, 1),
        ({"type": "prompts"}, 1),
        ({"obs_type": "bugfix,feature"}, 10),
        ({"concepts": "gotcha,pattern"}, 10),
        ({"files": "dock_1.py"}, 5),
        ({"dateStart": str(at(10)), "type": "observations"}, 5),
        ({"dateStart": "2026-06-30", "dateEnd": "2026-06-30", "type": "observations"}, 10),
        ({"dateEnd": "2026-06-01"}, 0),
        ({"platformSource": "kimi"}, 0),
        ({"platformSource": "claude", "type": "sessions"}, 1),
        ({"orderBy": "date_asc", "limit": 5}, 5),
        ({"offset": 10}, 2),
        ({"limit": 1000}, 12),
    ],
    ids=str,
)
def test_filters(live: LiveWorker, params: dict[str, Any], count: int) -> None:
    found = get(live, "/api/search", query="dock", project="dock", format="json", **params)
    assert sum(len(found[name]) for name in ("observations", "sessions", "prompts")) == count


def test_several_projects(live: LiveWorker) -> None:
    wished = {"query": "dock bindings", "format": "json", "limit": 100}
    one, two, every = (
        {(row["project"], row["id"]) for row in get(live, "/api/search", **wished, **more)["observations"]}
        for more in ({"projects": "dock"}, {"projects": "dock,syntax"}, {})
    )
    assert {project for project, _ in one} == {"dock"}
    assert {project for project, _ in two} == {"dock", "syntax"}
    assert two == every
    both = ("--project", "dock", "--project", "syntax")
    found = mem(live.paths.data, "search", "dock", "bindings", *both, "--limit", "100", "--json").json
    assert {(row["project"], row["id"]) for row in found["observations"]} == two
    assert mem(live.paths.data, "search", "dock", *both[:2], "--project", "dokc").code == 1


def test_order_by_date(live: LiveWorker) -> None:
    found = get(
        live,
        "/api/search",
        query="dock",
        format="json",
        orderBy="date_asc",
        type="observations",
        project="dock",
    )
    times = [row["created_at_epoch"] for row in found["observations"]]
    assert times == sorted(times)


def test_partial_matches_are_marked(live: LiveWorker) -> None:
    found = get(live, "/api/search", query="dock wood nowhere", project="dock", format="index")
    assert "(partial match)" in text(found)
    assert "S1" in found["partial"]
    found = get(live, "/api/search", query="dock nowhere", match="all", format="index")
    assert text(found).startswith("No results")


@pytest.mark.parametrize("case", queries(O15), ids=lambda case: ascii(case["q"])[:40])
def test_o15_over_http_and_on_the_command_line(live: LiveWorker, case: dict[str, Any]) -> None:
    over_http = get(live, "/api/search", query=case["q"], format="json")
    typed = case["q"].replace("\0", "")
    ran = mem(live.paths.data, "search", "--json", "--", typed)
    assert ran.code == 0, ran.err
    ids = [row["id"] for row in over_http["observations"]]
    if typed == case["q"]:
        assert [row["id"] for row in ran.json["observations"]] == ids
    assert over_http["methods"] in (["keyword"], ["keyword", "vector"])
    if typed == case["q"]:
        assert ran.json["methods"] == over_http["methods"]
    assert set(case["hit"]) <= set(ids[:5])
    assert not set(case.get("miss", [])) & set(ids)


def test_timeline(live: LiveWorker) -> None:
    found = get(live, "/api/timeline", anchor=FIRST + 5)
    assert [(row["type"], row["id"]) for row in found] == [
        ("observation", FIRST + 3),
        ("observation", FIRST + 4),
        ("session", 1),
        ("observation", FIRST + 5),
        ("observation", FIRST + 6),
        ("observation", FIRST + 7),
        ("observation", FIRST + 8),
    ]
    found = get(live, "/api/timeline", anchor="S1", depth_before=1, depth_after=0)
    assert [(row["type"], row["id"]) for row in found] == [
        ("observation", FIRST + 4),
        ("session", 1),
    ]
    found = get(live, "/api/timeline", anchor="P1", depth_after=1)
    assert [row["type"] for row in found] == ["prompt", "observation"]
    found = get(
        live, "/api/timeline", anchor=at(9), depth_before=1, depth_after=1, project="dock"
    )
    assert [row["id"] for row in found] == [FIRST + 4, 1]
    found = get(live, "/api/timeline", query="dock step 4", depth_before=1, depth_after=1)
    assert [row["id"] for row in found] == [FIRST + 3, FIRST + 4, 1]
    found = get(live, "/api/timeline", anchor=FIRST, depth_after=1000)
    assert len(found) == 12
    assert get(live, "/api/timeline/by-query", query="zebrafish") == []


def test_timeline_as_text(live: LiveWorker) -> None:
    shown = text(get(live, "/api/timeline", anchor=f"#{FIRST}", format="index"))
    assert shown.startswith(f"# Timeline around #{FIRST} (5 items)\n\n### Jun 30, 2026")
    assert f"| #{FIRST} |" in shown
    assert "(anchor)" in shown
    assert "not found" in text(get(live, "/api/timeline", anchor=9999, format="index"))
    get(live, "/api/timeline", 404, anchor=9999)
    get(live, "/api/timeline", 400, anchor="no such thing")
    get(live, "/api/timeline", 404)


def test_a_timeline_leaves_out_what_no_longer_holds(tmp_path: Path) -> None:
    filled = Filled(tmp_path)
    rows = filled.observe([{"title": f"row {n}", "created_ms": at(n)} for n in range(4)])
    filled.execute("UPDATE observations SET superseded_by = ? WHERE id = ?", rows[2], rows[1])
    shown = filled.store.read(lambda conn: timeline(conn, anchor_of(conn, str(rows[2]))))
    assert [record.id for record in shown.records] == [rows[0], rows[2], rows[3]]
    shown = filled.store.read(lambda conn: timeline(conn, anchor_of(conn, str(rows[1])), 1, 1))
    assert [record.id for record in shown.records] == rows[:3]
    filled.close()


def test_the_timeline_of_a_day_is_the_whole_day(tmp_path: Path) -> None:
    filled = Filled(tmp_path)
    day = int(datetime(2026, 6, 2).timestamp() * 1000)
    times = [day - 1, *(day + n * 3_600_000 for n in range(7)), day + DAY_MS - 1, day + DAY_MS]
    rows = filled.observe(
        [{"title": f"row {n}", "created_ms": at_ms} for n, at_ms in enumerate(times)]
    )
    filled.prompt("and a prompt", created_ms=day + 60_000)
    found = filled.store.read(lambda conn: timeline(conn, anchor_of(conn, "2026-06-02"), 1, 1))
    kept = [one.id for one in found.records if isinstance(one, Observation)]
    assert (kept, found.of_day) == (rows, 9)
    assert as_text(found).startswith("# Timeline of 2026-06-02 (9 items, 2 around it)")
    none = filled.store.read(lambda conn: timeline(conn, anchor_of(conn, "2026-06-20"), 0, 0))
    assert as_text(none).startswith("# Timeline of 2026-06-20 (0 items)")
    filled.close()


def test_the_timeline_of_a_long_day_says_that_there_is_more(tmp_path: Path) -> None:
    filled = Filled(tmp_path)
    day = int(datetime(2026, 6, 2).timestamp() * 1000)
    filled.observe([{"title": f"row {n}", "created_ms": day + n} for n in range(120)])
    found = filled.store.read(lambda conn: timeline(conn, anchor_of(conn, "2026-06-02"), 0, 0))
    assert (len(found.records), found.more) == (100, True)
    assert "--since DATE" in as_text(found)
    filled.close()


def test_memories_of_a_file(live: LiveWorker) -> None:
    found = get(live, "/api/observations/by-file", path="src/dock_1.py")
    assert found["count"] == 5
    assert [row["id"] for row in found["observations"]] == [FIRST + n for n in (9, 7, 5, 3, 1)]
    assert get(live, "/api/observations/by-file", path="other/dock_1.py")["count"] == 0
    assert get(live, "/api/observations/by-file", path="dock_1.py", limit=2)["count"] == 2
    found = get(live, "/api/observations/by-file", path="/p/src/a.py", projects="syntax")
    assert found["count"] == 0
    get(live, "/api/observations/by-file", 400)
    shown = text(get(live, "/api/search/by-file", filePath="src/dock_1.py", project="dock"))
    assert shown.startswith('Found 5 result(s) matching "src/dock_1.py" (5 obs')
    found = get(
        live,
        "/api/search/by-file",
        filePath="/dock/src/dock_1.py",
        project="dock",
        format="json",
    )
    assert len(found["observations"]) == 5
    assert text(get(live, "/api/search/by-file", filePath="x.rs")).startswith(
        "No results found"
    )


@pytest.mark.parametrize("ids", [[""], [" ", ","]])
def test_show_without_an_id(live: LiveWorker, ids: list[str]) -> None:
    done = mem(live.paths.data, "show", *ids)
    assert (done.code, done.out) == (2, "")
    assert done.err == "mem: give ids like 12, S3 or P4; `mem search WORDS` gives them\n"


def test_show_names_what_is_no_id_and_what_is_not_there(live: LiveWorker) -> None:
    done = mem(live.paths.data, "show", "dock")
    assert (done.code, done.err) == (
        2, "mem: 'dock' is no id; use 123, S4 (session) or P7 (prompt)\n",
    )  # fmt: skip
    done = mem(live.paths.data, "show", f"{FIRST},S99")
    assert done.code == 1
    assert f"#{FIRST}" in done.out
    assert "nothing has the id S99: mistyped, or deleted since." in done.err
    assert "`mem search WORDS`" in done.err


@pytest.mark.parametrize("command", [["search", "dock"], ["timeline", "1"], ["show", "1"], ["context"]])
def test_a_project_that_is_not_there_is_named(live: LiveWorker, command: list[str]) -> None:
    done = mem(live.paths.data, *command, "--project", "dokc")
    assert (done.code, done.out) == (1, "")
    assert done.err == "mem: there is no project 'dokc'; near it: dock\n"
    done = mem(live.paths.data, *command, "--project", "zzzzzz")
    assert re.fullmatch(r"mem: there is no project 'zzzzzz'; see `mem project list`\n", done.err)


def test_why_a_temp_folder_is_given_nothing(live: LiveWorker) -> None:
    done = mem(live.paths.data, "context", "--cwd", "/tmp")
    assert done.code == 0
    assert done.out.startswith("A session would be given nothing: home, root and temp")


def test_details(live: LiveWorker) -> None:
    found = get(live, "/api/details", ids=f"{FIRST},S1,#P1,999,S99")
    assert found["missing"] == ["999", "S99"]
    shown = text(found)
    assert f"## #{FIRST} " in shown
    assert "## #S1 " in shown
    assert "| please build the dock" in shown
    assert "Learned: wood floats" in shown
    found = get(live, "/api/details", ids=str(FIRST), project="syntax", format="json")
    assert (found["records"], found["missing"]) == ([], [str(FIRST)])
    get(live, "/api/details", 400, ids="x")


def test_recent_and_context(live: LiveWorker) -> None:
    found = get(live, "/api/context/recent", project="dock", limit=2)
    assert [row["id"] for row in found["observations"]] == [FIRST + 9, FIRST + 8]
    assert [row["id"] for row in found["summaries"]] == [1]
    plain = live.ask("GET", "/api/context/inject?project=dock").body.decode()
    assert "# [dock] recent context" in plain
    coloured = live.ask("GET", "/api/context/preview?project=dock").body.decode()
    assert "\x1b[" in coloured
    several = live.ask("GET", "/api/context/inject?projects=syntax,dock").body.decode()
    assert "# [dock] recent context" in several
    assert "toolchain" in several
    full = live.ask("GET", "/api/context/inject?project=dock&full=true").body.decode()
    assert full.count("| long") == 10
    get(live, "/api/context/inject", 400)
    get(live, "/api/context/preview", 400)
    unknown = live.ask("GET", "/api/context/inject?project=nowhere").body.decode()
    assert "Nothing is remembered of this project yet" in unknown


def test_fitting_memories(live: LiveWorker) -> None:
    asked = {"q": "how was step 4 of the dock done", "project": "dock", "limit": 2}
    found = live.ask("POST", "/api/context/semantic", asked).json
    assert found["count"] == 2
    assert "Step 4 of the dock" in found["context"]
    assert live.ask("POST", "/api/context/semantic", {"q": "short"}).json["count"] == 0


def test_commands(live: LiveWorker) -> None:
    data = live.paths.data
    ran = mem(data, "show", f"#{FIRST}", "S1", "P1")
    assert (ran.code, ran.err) == (0, "")
    assert "## #S1" in ran.out
    ran = mem(data, "show", "12345", str(FIRST))
    assert ran.code == 1
    assert "nothing has the id 12345" in ran.err
    assert mem(data, "show", "--json", "S1").json["records"][0]["request"] == "Build the dock"
    assert mem(data, "show", "what").code == 2
    ran = mem(data, "timeline", str(FIRST), "--after", "1")
    assert ran.out.startswith(f"# Timeline around #{FIRST} (3 items)")
    assert mem(data, "timeline", "999").code == 1
    assert mem(data, "timeline").code == 2
    assert mem(data, "timeline", "--json", "--query", "dock step 4").json
    ran = mem(data, "context", "--project", "dock", "--why")
    assert re.search(r"28 .*\n    why: number 1 of the newest in the project", ran.out)
    assert "bytes, about" in ran.out
    found = mem(data, "context", "--project", "dock", "--json").json
    assert found["ids"][0] == str(FIRST + 9)
    assert found["reasons"][0]["type"] == "feature"
    ran = mem(data, "context", "--cwd", "/")
    assert (ran.code, "nothing: home, root and temp" in ran.out) == (0, True)
    assert "dock" in mem(data, "projects").out
    assert "dock" in mem(data, "projects", "--json").json["projects"]
    assert "observations" in mem(data, "stats").out
    assert mem(data, "stats", "--json").json["database"]["observations"] == 28
    ran = mem(data, "search", "dock", "--type", "prompts")
    assert "please build the dock" in ran.out
    ran = mem(data, "search", "zebrafish")
    assert (ran.code, ran.out) == (0, 'No results found matching "zebrafish"\n')
    assert mem(data, "search", "dock", "--since", "never").code == 2


def test_why(live: LiveWorker) -> None:
    ran = mem(live.paths.data, "why", f"#{FIRST}")
    assert ran.out.startswith(f"#{FIRST}: trust work")
    assert "made from no event: kept by hand" in ran.out
    assert mem(live.paths.data, "why", "--json", "S1").json["key"] == "S1"
    assert mem(live.paths.data, "why", "999").code == 1
