"""Importing the documented export, and plain rows: the keys, the order, the counts (EX-01..07)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.clean.cleaner import builtin_cleaner
from claude_mem_core.errors import InvalidInput
from claude_mem_core.projects import Place
from claude_mem_core.store import imports, memories
from claude_mem_core.store.imports import Counts
from claude_mem_core.store.imports.records import Kind
from claude_mem_core.testing import worker
from claude_mem_core.types import Trust
from tests.cli_run import mem
from tests.store_home import NOW, Home, opened

CASES = Path(__file__).parent / "cases"
AT = 1_780_000_000_000


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with opened(tmp_path / "memory.db") as found:
        yield found


def take(home: Home, value: Any, **more: Any) -> Counts:
    staged = imports.read_json(value, builtin_cleaner())
    try:
        return home.write(lambda conn: imports.keep(conn, staged, home.now, **more))
    finally:
        staged.close()


def export() -> dict[str, Any]:
    """The form of the documentation, two sessions, several summaries in one."""
    session = {"platform_source": "claude", "project": "shop", "status": "completed"}
    return {
        "exportedAt": "2026-05-01T00:00:00.000Z", "exportedAtEpoch": AT, "query": "",
        "totalObservations": 3, "totalSessions": 2, "totalSummaries": 3, "totalPrompts": 3,
        "sessions": [
            {**session, "id": 7, "content_session_id": "c1", "memory_session_id": "m1",
             "user_prompt": "first prompt", "custom_title": "Shop", "started_at_epoch": AT,
             "started_at": "x", "completed_at_epoch": AT + 50, "prompt_counter": 2},
            {**session, "id": 8, "content_session_id": "c2", "memory_session_id": "m2",
             "started_at_epoch": AT + 100},
        ],
        "summaries": [
            {"memory_session_id": "m1", "project": "shop", "request": f"request {n}",
             "learned": "l", "prompt_number": n, "created_at_epoch": AT + n}
            for n in (1, 2)
        ] + [{"memory_session_id": "m2", "project": "shop", "request": "other",
              "prompt_number": 1, "created_at_epoch": AT + 100}],
        "observations": [
            {"id": 31, "memory_session_id": "m1", "project": "shop", "type": "bugfix",
             "title": "Fixed cart", "subtitle": "s", "narrative": "n", "facts": '["f1", "f2"]',
             "concepts": ["gotcha"], "files_read": ["a.py"], "files_modified": '["src/b.py"]',
             "prompt_number": 1, "discovery_tokens": 90, "agent_id": "ag", "agent_type": "Explore",
             "created_at_epoch": AT + 1, "metadata": {"k": [1]}},
            {"id": 32, "memory_session_id": "m1", "project": "shop", "type": "feature",
             "title": "Fixed cart", "created_at_epoch": AT + 2},
            {"id": 33, "memory_session_id": "m2", "project": "shop", "type": "discovery",
             "title": "Fixed cart", "created_at_epoch": AT + 100},
        ],
        "prompts": [
            {"content_session_id": "c1", "prompt_number": n, "prompt_text": f"p{n}",
             "created_at_epoch": AT + n, "project": "shop"}
            for n in (1, 2)
        ] + [{"content_session_id": "c2", "prompt_number": 1, "prompt_text": "p1",
              "created_at_epoch": AT + 100}],
    }  # fmt: skip


def numbers(counts: Counts) -> dict[str, tuple[int, int]]:
    return {k: (counts.of(k).imported, counts.of(k).skipped) for k in list(Kind)[:4]}


def test_all_of_an_export_comes_in_and_a_second_time_nothing(home: Home) -> None:
    first = numbers(take(home, export()))
    assert first == {"sessions": (2, 0), "summaries": (3, 0), "observations": (3, 0), "prompts": (3, 0)}
    second = numbers(take(home, export()))
    assert second == {"sessions": (0, 2), "summaries": (0, 3), "observations": (0, 3), "prompts": (0, 3)}
    assert home.verify().off == ()


def test_every_field_is_kept(home: Home) -> None:
    take(home, export())
    found = home.store.read(lambda conn: memories.observation(conn, 1))
    assert (found.title, found.subtitle, found.narrative, found.type) == ("Fixed cart", "s", "n", "bugfix")
    assert (found.facts, found.concepts) == (("f1", "f2"), ("gotcha",))
    assert (found.files_read, found.files_modified) == (("a.py",), ("src/b.py",))
    assert (found.agent_id, found.agent_type, found.tokens) == ("ag", "Explore", 90)
    assert (found.prompt_number, found.created_ms, found.metadata) == (1, AT + 1, {"k": [1]})
    assert (found.project, found.host, found.trust) == ("shop", "claude-code", Trust.FOREIGN)
    row = home.rows("SELECT origin_device_id, origin_local_id FROM observations WHERE id = 1")
    assert row == [("import", "31")]
    assert home.rows("SELECT path, modified FROM memory_files WHERE memory_id = 1 ORDER BY 1") == [
        ("a.py", 0), ("src/b.py", 1),
    ]  # fmt: skip
    session = home.rows(
        "SELECT content_session_id, memory_session_id, platform_source, user_prompt, custom_title,"
        " started_at_epoch, completed_at_epoch, status, prompt_counter FROM sdk_sessions LIMIT 1"
    )
    assert session == [
        ("c1", "m1", "claude-code", "first prompt", "Shop", AT, AT + 50, "completed", 2)
    ]


def test_a_session_that_is_here_keeps_what_it_has(home: Home) -> None:
    home.session = "c1"
    home.prompt("our own words")
    before = home.rows("SELECT memory_session_id, user_prompt, custom_title, project FROM sdk_sessions")
    counts = take(home, export())
    assert numbers(counts)["sessions"] == (1, 1)
    now = "SELECT memory_session_id, user_prompt, custom_title, project FROM sdk_sessions WHERE id = 1"
    assert home.rows(now) == before
    # What belongs to it hangs on it, under its own names.
    assert home.value("SELECT count(*) FROM observations WHERE session_db_id = 1") == 2
    assert home.value("SELECT DISTINCT memory_session_id FROM observations WHERE session_db_id = 1") == (
        "claude-code:c1"
    )
    # The prompt with the same number is here: ours stays.
    assert home.rows("SELECT prompt_number, prompt_text FROM user_prompts WHERE session_db_id = 1") == [
        (1, "our own words"), (2, "p2"),
    ]  # fmt: skip
    assert numbers(take(home, export()))["observations"] == (0, 3)


def test_a_session_without_a_memory_id_gets_the_exported_one(home: Home) -> None:
    home.session = "c1"
    home.prompt("x")
    home.write(lambda conn: conn.execute("UPDATE sdk_sessions SET memory_session_id = NULL"))
    take(home, export())
    assert home.value("SELECT memory_session_id FROM sdk_sessions WHERE id = 1") == "m1"


def test_a_session_goes_on_counting_after_the_import(home: Home) -> None:
    take(home, export())
    home.session, home.now = "c1", AT + 1000
    assert home.prompt("going on").prompt_number == 3
    assert home.tool("t1", at=1).prompt_number == 3


def test_rows_that_agree_in_the_documented_key_only(home: Home) -> None:
    """Within one file two of the same time and title are two; in the next they are known."""
    rows = [{"title": "t", "narrative": n, "created_at_epoch": AT, "project": "p"} for n in "abb"]
    assert numbers(take(home, {"observations": rows}))["observations"] == (2, 1)
    assert numbers(take(home, {"observations": rows}))["observations"] == (0, 3)
    changed = [{**rows[0], "narrative": "edited since"}]
    assert numbers(take(home, {"observations": changed}))["observations"] == (0, 1)


def test_the_same_words_at_another_time_are_another_observation(home: Home) -> None:
    rows = [{"title": "t", "narrative": "n", "created_at_epoch": AT + n, "project": "p"} for n in range(3)]
    assert take(home, {"observations": rows}).imported == 3


def test_rows_without_a_time_are_known_by_their_words(home: Home) -> None:
    rows = [{"title": f"t{n}", "narrative": "n", "project": "p"} for n in range(3)]
    assert take(home, {"observations": rows}).imported == 3
    home.now += 60_000
    assert take(home, {"observations": rows}).imported == 0


def test_memories_may_come_before_their_session(home: Home) -> None:
    whole = export()
    take(home, {"observations": whole["observations"]})
    assert home.rows("SELECT DISTINCT platform_source FROM sdk_sessions") == [("import",)]
    counts = take(home, whole)
    assert numbers(counts)["observations"] == (0, 3)
    assert sorted(home.rows("SELECT content_session_id, platform_source FROM sdk_sessions")) == [
        ("c1", "claude-code"), ("c2", "claude-code"),
    ]  # fmt: skip


@pytest.mark.parametrize("case", ["O15-keyword-query-syntax", "O16-search-cjk-thai"])
def test_the_rows_of_the_cases(home: Home, case: str) -> None:
    lines = (CASES / case / "corpus.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert take(home, rows).imported == len(rows)
    assert home.value("SELECT count(*) FROM sdk_sessions") == len({row["project"] for row in rows})
    first = home.rows("SELECT origin_local_id, created_at FROM observations ORDER BY id LIMIT 1")
    assert first == [(str(rows[0]["id"]), rows[0]["created_at"].replace("Z", ".000Z"))]
    assert take(home, rows).imported == 0


def test_projects_are_names_until_somebody_links_them(home: Home) -> None:
    take(home, [{"title": "t", "project": "shop"}])
    assert home.rows("SELECT key, label, kind FROM projects") == [("name:shop", "shop", "named")]
    place = Place(key="git-1", label="shop", kind="git", root="/srv/shop")
    home.place, home.session = place, "live"
    home.prompt("hello")
    assert home.rows("SELECT label, kind FROM projects ORDER BY id")[-1] == ("shop~2", "git")


def test_a_project_that_is_here_takes_rows_of_its_label(home: Home) -> None:
    home.prompt("hello")
    take(home, [{"title": "t", "project": "here"}])
    assert home.value("SELECT count(*) FROM projects") == 1
    assert home.value("SELECT project_id FROM observations") == 1


def test_a_place_that_is_known_takes_them_too(home: Home) -> None:
    place = Place(key="git-1", label="shop", kind="git", root="/srv/shop")
    take(home, [{"title": "t", "project": "shop"}], places={"shop": place})
    home.place = place
    home.prompt("hello")
    assert home.rows("SELECT key, label FROM projects") == [("git-1", "shop")]


def test_a_row_may_not_name_the_general_bucket(home: Home) -> None:
    take(home, [{"title": "t", "project": "general"}])
    assert home.rows("SELECT key, label, kind FROM projects") == [
        ("name:general", "general~2", "named")
    ]


def test_a_merged_project_stays_merged(home: Home) -> None:
    rows = [
        {"title": "a", "project": "old", "merged_into_project": "new", "created_at_epoch": AT},
        {"title": "b", "project": "new", "created_at_epoch": AT},
    ]
    take(home, rows)
    old, new = (home.value("SELECT id FROM projects WHERE label = ?", n) for n in ("old", "new"))
    assert home.value("SELECT merged_into FROM projects WHERE id = ?", old) == new
    assert home.rows("SELECT project, merged_into_project FROM observations ORDER BY title") == [
        ("old", "new"), ("new", None),
    ]  # fmt: skip
    turned = [{"title": "c", "project": "new", "merged_into_project": "old"}]
    take(home, turned)
    assert home.value("SELECT merged_into FROM projects WHERE id = ?", new) is None


def test_private_text_and_keys_never_come_in(home: Home) -> None:
    token = "gh" + "p_" + "0123456789abcdefghijABCDEFGHIJ012345"
    take(home, {
        "observations": [{"title": f"key {token}", "narrative": "x <private>hush</private> y",
                          "facts": ["<private>hush</private>", token], "project": "p"}],
        "prompts": [{"content_session_id": "c", "prompt_text": "<private>hush</private>"},
                    {"content_session_id": "c", "prompt_text": "open <private>hush"}],
    })  # fmt: skip
    everything = b"".join(p.read_bytes() for p in home.path.parent.iterdir())
    assert b"hush" not in everything
    assert token.encode() not in everything
    assert home.rows("SELECT prompt_text FROM user_prompts") == [("open ",)]


def test_sessions_of_several_hosts_under_one_name(home: Home) -> None:
    """Both ids alike, only the host differs: each needs a memory id of its own."""
    rows = [
        {"content_session_id": "c", "memory_session_id": "m", "platform_source": host}
        for host in ("one", "two", "three", "four")
    ]
    assert numbers(take(home, {"sessions": rows}))["sessions"] == (4, 0)


def test_a_failure_rolls_everything_back(home: Home) -> None:
    staged = imports.read_json(export(), builtin_cleaner())

    def fail(conn: Any) -> None:
        imports.keep(conn, staged, NOW)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        home.write(fail)
    staged.close()
    for table in ("sdk_sessions", "observations", "projects", "memory_files"):
        assert home.value(f"SELECT count(*) FROM {table}") == 0


def test_long_fields_are_cut_and_say_so(home: Home) -> None:
    take(home, [{"title": "t", "narrative": "x" * 200_000, "project": "p"}])
    kept = home.value("SELECT narrative FROM observations")
    assert len(kept) <= 65_536
    assert "[truncated: " in kept


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ({}, "nothing to import"),
        ([], "nothing to import|^$"),
        (7, "an object with observations"),
        ({"observations": "x"}, "observations must be a list"),
        ({"observations": [{"title": "t", "created_at_epoch": "soon"}]}, r"\[0\].created_at_epoch"),
        ({"observations": [{"title": "t"}, {"title": ["x"]}]}, r"observations\[1\].title"),
        ({"prompts": [{"content_session_id": "c"}]}, r"prompts\[0\] says nothing"),
        ({"sessions": [{"project": "p"}]}, r"sessions\[0\] has no id"),
    ],
)
def test_what_is_wrong_is_named(value: Any, complaint: str) -> None:
    if value == []:
        imports.read_json(value, builtin_cleaner()).close()
        return
    with pytest.raises(InvalidInput, match=complaint):
        imports.read_json(value, builtin_cleaner())


@pytest.mark.parametrize(
    ("given", "ms"),
    [
        ("2026-05-01T09:00:00Z", 1_777_626_000_000),
        ("2026-05-01T11:00:00+02:00", 1_777_626_000_000),
        ("2026-05-01 09:00", 1_777_626_000_000),
        (1_777_626_000, 1_777_626_000_000),
        (1_777_626_000_000, 1_777_626_000_000),
        ("1777626000000", 1_777_626_000_000),
    ],
)
def test_times_in_every_form(home: Home, given: Any, ms: int) -> None:
    take(home, [{"title": "t", "created_at": given, "project": "p"}])
    assert home.value("SELECT created_at_epoch FROM observations") == ms


# The command and the endpoint ---------------------------------------------------------------


def test_the_command_prints_counts_and_what_it_imports_is_found(tmp_path: Path) -> None:
    file = tmp_path / "export.json"
    file.write_text(json.dumps(export()), "utf-8")
    data = tmp_path / "data"
    done = mem(data, "import", str(file))
    assert done.code == 0
    assert "Exported: 2026-05-01" in done.out
    assert "Observations: 3 imported, 0 skipped" in done.out
    assert "Prompts:      0 imported, 3 skipped" in mem(data, "import", str(file)).out
    assert mem(data, "db", "check").code == 0
    assert mem(data, "import", str(file), "--json").json["stats"]["observationsSkipped"] == 3


def test_lines_of_json_come_in_too(tmp_path: Path) -> None:
    corpus = CASES / "O15-keyword-query-syntax" / "corpus.jsonl"
    done = mem(tmp_path / "data", "import", str(corpus), "--json").json
    assert done["observations"]["imported"] == len(corpus.read_text("utf-8").splitlines())


@pytest.mark.slow
def test_the_endpoint_imports_and_search_finds_it() -> None:
    with worker.running() as live:
        answer = live.ask("POST", "/api/import", export()).json
        assert answer["success"]
        assert answer["stats"]["observationsImported"] == 3
        assert answer["sessions"] == {"imported": 2, "skipped": 0}
        assert live.ask("POST", "/api/import", export()).json["stats"]["sessionsSkipped"] == 2
        found = live.ask("GET", "/api/observations?limit=10").json
        assert len(found["items"]) == 3


def test_the_command_works_beside_a_running_worker() -> None:
    with worker.running() as live:
        file = live.paths.data / "rows.json"
        file.write_text(json.dumps([{"title": "walrus tusk", "project": "zoo"}]), "utf-8")
        assert mem(live.paths.data, "import", str(file)).code == 0
        assert "walrus tusk" in live.ask("GET", "/api/search?query=walrus").body.decode()


def test_nothing_comes_in_while_recording_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from claude_mem_core.plugins.registry import Registry

    monkeypatch.setattr(Registry, "recording_fault", lambda _: "redactor x is broken")
    file = tmp_path / "rows.json"
    file.write_text('[{"title": "t", "project": "p"}]', "utf-8")
    done = mem(tmp_path / "data", "import", str(file))
    assert (done.code, "redactor x is broken" in done.err) == (1, True)
    assert not (tmp_path / "data" / "memory.db").exists()
