"""The hook without a worker: what it leaves on disk, and when it starts one."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.edge import EdgeRedactor, confirm_start, lost, take_lost
from tests.hook_home import HookHome, alive, answer, hook_home, stand_in

PROMPT = {
    "session_id": "s1",
    "hook_event_name": "UserPromptSubmit",
    "cwd": "/home/u/place",
    "prompt": "keep this <private>wolf-key-1</private> and AKIAQ7ZFAKEKEY4TEST1 here",
}
# Counts its starts in a file, then waits; what a worker does before it is up.
COUNTING = "import os, sys, time; open(sys.argv[1], 'a').write('x'); time.sleep(30)"


@pytest.fixture
def home() -> Iterator[HookHome]:
    with hook_home() as made:
        yield made


def starts(home: HookHome) -> int:
    marks = home.paths.data / "starts"
    return len(marks.read_text()) if marks.exists() else 0


def counting_worker(home: HookHome) -> None:
    python = os.path.realpath(sys.executable)
    home.worker_is([python, "-I", "-S", "-c", COUNTING, str(home.paths.data / "starts")])


@pytest.fixture
def counted(home: HookHome) -> Iterator[HookHome]:
    counting_worker(home)
    yield home
    for pid in alive(str(home.paths.data / "starts")):
        os.kill(pid, 9)


def test_the_record_is_clean_and_says_where_it_comes_from(home: HookHome) -> None:
    ran = home.run("PostToolUse", PROMPT, env={"CLAUDE_PROJECT_DIR": "/home/u/place"})
    assert (ran.code, ran.out, ran.err) == (0, b"", b"")
    head, body = home.record()
    assert (head["v"], head["host"], head["event"]) == (1, "claude-code", "PostToolUse")
    assert head["dropped"] is None
    assert head["env"] == {"CLAUDE_PROJECT_DIR": "/home/u/place"}
    assert head["size"] == len(body)
    assert abs(time.time() * 1000 - head["at_ms"]) < 60_000
    kept = json.loads(body)["prompt"]
    assert kept == "keep this  and <redacted type='aws_access_key'/> here"
    assert not list(home.paths.spool.glob("*.tmp"))


def test_nothing_is_open_to_others_whatever_the_umask(home: HookHome) -> None:
    old = os.umask(0)
    try:
        home.run("PostToolUse", PROMPT)
    finally:
        os.umask(old)
    for path in home.paths.data.rglob("*"):
        assert path.lstat().st_mode & 0o077 == 0, path


def test_names_in_the_record_are_clean_too(home: HookHome) -> None:
    key = "sk-proj-" + "a" * 40
    body = {"session_id": "s1", "tool_name": key, "tool_input": {key: 1}}
    home.run("Broken" + key, body)
    assert key.encode() not in home.everything()


@pytest.mark.parametrize(
    "stdin",
    [b"", b" \n", b"<private>wolf</private> no json", b'{"prompt": "wolf', b"\xff\xfe{}"],
)
def test_what_is_no_document_is_not_kept(home: HookHome, stdin: bytes) -> None:
    home.run("PostToolUse", stdin)
    head, body = home.record()
    assert body == b""
    assert head["dropped"] in {"empty", "not_json"}
    assert b"wolf" not in home.everything()


def test_a_document_nested_too_deeply_is_not_kept(home: HookHome) -> None:
    ran = home.run("PostToolUse", b"[" * 100_000 + b"]" * 100_000)
    assert (ran.code, ran.err) == (0, b"")
    assert home.record()[0]["dropped"] == "not_json"


# Policy ------------------------------------------------------------------------------


def dropped(home: HookHome, event: Any = PROMPT, **more: Any) -> str | None:
    home.run("PostToolUse", event, **more)
    head, body = home.record()
    if head["dropped"] is not None:
        assert b"keep this" not in body
        ids = {"session_id", "hook_event_name"}
        assert json.loads(body) == {n: v if n in ids else "" for n, v in event.items()}
    reason: str | None = head["dropped"]
    return reason


def test_without_rules_and_database_the_content_is_kept(home: HookHome) -> None:
    assert not home.paths.edge.exists()
    assert dropped(home) is None


def test_without_rules_but_with_a_database_it_is_not(home: HookHome) -> None:
    home.paths.database.touch()
    assert dropped(home) == "edge_policy_unreadable"


@pytest.mark.parametrize("rules", [b"", b"{", b"[]", b'{"v": 2}', b"\xff", b"null"])
def test_damaged_rules_drop_the_content(home: HookHome, rules: bytes) -> None:
    home.paths.edge.write_bytes(rules)
    assert dropped(home) == "edge_policy_unreadable"


def test_rules_that_are_a_link_are_damaged(home: HookHome) -> None:
    home.rules()
    home.paths.edge.rename(home.paths.data / "elsewhere.json")
    home.paths.edge.symlink_to(home.paths.data / "elsewhere.json")
    assert dropped(home) == "edge_policy_unreadable"


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        ({}, None),
        ({"redactors": (EdgeRedactor("secrets", True),)}, None),
        ({"redactors": (EdgeRedactor("acme", False),)}, "redactor_needs_the_worker"),
        ({"redactors": (EdgeRedactor("acme", True),)}, "redactor_needs_the_worker"),
        ({"patterns": True}, "own_patterns_need_the_worker"),
        ({"judges": ("policy.acme",)}, "policy_needs_the_worker"),
        ({"recording": False}, "recording_stopped"),
        ({"paused": True}, "paused"),
        ({"incognito": (PROMPT["session_id"],)}, "incognito"),
        ({"incognito": ("another",)}, None),
        ({"excluded": ("/home/u/place",)}, "project_excluded"),
        ({"excluded": ("/home/u/**",)}, "project_excluded"),
        ({"excluded": ("/home/*/place",)}, "project_excluded"),
        ({"excluded": ("place",)}, "project_excluded"),
        ({"excluded": ("/home/u/placebo",)}, None),
        ({"excluded": ("plac",)}, None),
    ],
)
def test_what_the_rules_say(home: HookHome, rules: dict[str, Any], reason: str | None) -> None:
    home.rules(**rules)
    assert dropped(home) == reason


def test_a_folder_below_an_excluded_one_is_excluded(home: HookHome) -> None:
    home.rules(excluded=("/home/u/place",))
    assert dropped(home, {**PROMPT, "cwd": "/home/u/place/deep/er"}) == "project_excluded"


def test_an_event_without_cwd_is_judged_by_where_the_hook_runs(home: HookHome) -> None:
    inside = home.paths.data / "secret-work"
    inside.mkdir()
    home.rules(excluded=("secret-work",))
    event = {name: PROMPT[name] for name in ("session_id", "prompt")}
    assert dropped(home, event, cwd=inside) == "project_excluded"


def test_a_link_into_an_excluded_folder_is_excluded(home: HookHome) -> None:
    (home.paths.data / "real").mkdir()
    (home.paths.data / "link").symlink_to(home.paths.data / "real")
    home.rules(excluded=(str(home.paths.data / "real"),))
    event = {**PROMPT, "cwd": str(home.paths.data / "link")}
    assert dropped(home, event) == "project_excluded"


def test_a_repository_may_ask_to_be_left_alone(home: HookHome) -> None:
    place = home.paths.data / "repo"
    (place / "src").mkdir(parents=True)
    (place / ".claude-mem.json").write_text('{"enabled": false}')
    assert dropped(home, {**PROMPT, "cwd": str(place / "src")}) == "project_excluded"


def test_a_skipped_tool_is_not_kept(home: HookHome) -> None:
    home.rules(skip_tools=("TodoWrite",))
    event = {**PROMPT, "tool_name": "TodoWrite", "tool_use_id": "toolu_1"}
    home.run("PostToolUse", event)
    head, body = home.record()
    assert head["dropped"] == "tool_skipped"
    kept = json.loads(body)
    assert (kept["tool_use_id"], kept["tool_name"]) == ("toolu_1", "TodoWrite")


def test_what_is_kept_of_a_dropped_event_is_clean(home: HookHome) -> None:
    home.rules(paused=True)
    key = "sk-proj-" + "a" * 40
    event = {
        "session_id": key,
        "tool_name": key,
        "tool_use_id": "<private>wolf</private>",
        "id": 5,
    }
    home.run("PostToolUse", event)
    assert key.encode() not in home.everything()
    assert b"wolf" not in home.everything()


def test_redaction_follows_the_rules(home: HookHome) -> None:
    home.rules(disabled=("aws_access_key",))
    home.run("PostToolUse", PROMPT)
    assert home.body()["prompt"] == "keep this  and AKIAQ7ZFAKEKEY4TEST1 here"


@pytest.mark.parametrize(
    "prompt",
    ["<private>all of it</private>", [{"type": "text", "text": "<private>all</private> "}]],
)
def test_a_wholly_private_prompt_says_so(home: HookHome, prompt: object) -> None:
    """The worker has to know, since the rest of its turn is left out as well."""
    home.run("UserPromptSubmit", {"session_id": "s-1", "prompt": prompt})
    head, body = home.record()
    assert head["dropped"] == "private"
    assert b"all" not in body
    assert json.loads(body)["session_id"] == "s-1"


def test_an_empty_prompt_is_no_private_one(home: HookHome) -> None:
    home.run("UserPromptSubmit", {"session_id": "s-1", "prompt": " "})
    assert home.record()[0]["dropped"] is None


def test_private_regions_go_even_when_redaction_is_off(home: HookHome) -> None:
    home.rules(redact=False)
    home.run("PostToolUse", PROMPT)
    assert home.body()["prompt"] == "keep this  and AKIAQ7ZFAKEKEY4TEST1 here"


# Starting the worker -----------------------------------------------------------------


def test_any_number_of_hooks_start_one_worker(counted: HookHome) -> None:
    threads = [
        threading.Thread(target=counted.run, args=("PostToolUse", PROMPT)) for _ in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(counted.records()) == 12
    assert starts(counted) == 1


def test_a_worker_starts_alone_in_its_own_world(home: HookHome) -> None:
    report = home.paths.data / "report"
    code = (
        "import json, os, sys; r = {'env': dict(os.environ), 'cwd': os.getcwd(),"
        "'sid': os.getsid(0) == os.getpid(),"
        "'fds': [int(n) for n in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + n)]};"
        "open(sys.argv[1] + '.tmp', 'w').write(json.dumps(r)); os.rename(sys.argv[1] + '.tmp', sys.argv[1])"
    )
    home.worker_is([sys.executable, "-I", "-S", "-c", code, str(report)])
    hostile = {"PYTHONPATH": "/evil", "HTTPS_PROXY": "http://evil", "LD_PRELOAD": ""}
    home.run("PostToolUse", PROMPT, env=hostile)
    end = time.monotonic() + 10
    while not report.exists() and time.monotonic() < end:
        time.sleep(0.02)
    found = json.loads(report.read_text())
    assert set(found["env"]) <= {"PATH", "LANG", "LC_CTYPE"}
    assert found["cwd"] == str(home.paths.data)
    assert found["sid"] is True
    assert [number for number in found["fds"] if number > 2] in ([], [3])


def test_without_leave_no_worker_is_started(counted: HookHome) -> None:
    counted.rules(autostart=False)
    counted.run("SessionStart", PROMPT)
    assert starts(counted) == 0
    assert len(counted.records()) == 1


def test_after_a_failed_start_nobody_waits(home: HookHome) -> None:
    first = home.run("SessionStart", PROMPT)
    second = home.run("SessionStart", PROMPT)
    assert first.seconds < 2  # the child's end is seen, not waited out
    assert second.seconds < 1
    assert (home.paths.data / "starting").read_text().split()[2] == "failed"


def test_a_start_that_hangs_is_waited_for_three_seconds(counted: HookHome) -> None:
    ran = counted.run("SessionStart", PROMPT)
    assert (ran.code, ran.out, ran.err) == (0, b"", b"")
    assert 2.9 < ran.seconds < 6
    assert starts(counted) == 1


def test_a_tool_does_not_wait_for_a_start(counted: HookHome) -> None:
    assert counted.run("PreToolUse", PROMPT).seconds < 2


def test_who_waits_gets_the_answer_and_leaves_nothing(counted: HookHome) -> None:
    def later() -> None:
        while not starts(counted):
            time.sleep(0.02)
        with stand_in(counted, b'{"late": 1}') as worker:
            done.wait(20)
            requests.extend(worker.requests)

    requests: list[Any] = []
    done = threading.Event()
    thread = threading.Thread(target=later)
    thread.start()
    ran = counted.run("SessionStart", PROMPT)
    done.set()
    thread.join()
    assert ran.out == b'{"late": 1}'
    assert json.loads(requests[0].body) == PROMPT  # the whole of it: the worker cleans
    assert list(counted.paths.spool.iterdir()) == []


def test_a_starting_worker_is_asked_again(counted: HookHome) -> None:
    answers = [answer(status=b"503 starting"), answer(status=b"503 starting"), answer(b"{}")]
    home = counted
    home.run("PostToolUse", PROMPT)  # starts it
    with stand_in(home, lambda _: answers.pop(0)):
        ran = home.run("SessionStart", PROMPT)
    assert ran.out == b"{}"


def write_start(home: HookHome, age_s: float, state: str, pid: int = 0) -> None:
    (home.paths.data / "starting").write_text(f"{time.time() - age_s:.3f} {pid} {state}\n")


@pytest.mark.parametrize(
    ("age_s", "state", "again"),
    [
        (1, "started", False),
        (30, "started", False),
        (61, "started", True),
        (5, "ok", False),
        (11, "ok", True),
        (30, "failed", False),
        (61, "failed", True),
        (-3600, "failed", True),
    ],
)
def test_how_often_a_start_is_tried(
    counted: HookHome, age_s: float, state: str, again: bool
) -> None:
    write_start(counted, age_s, state)
    counted.run("PostToolUse", PROMPT)
    time.sleep(0.3)
    assert starts(counted) == int(again)


def test_a_worker_that_is_up_says_so(home: HookHome) -> None:
    write_start(home, 3, "started", os.getpid())
    (home.paths.data / "mute").touch()
    confirm_start(home.paths)
    words = (home.paths.data / "starting").read_text().split()
    assert words[1:] == [str(os.getpid()), "ok"]
    assert not (home.paths.data / "mute").exists()


def test_a_hung_worker_is_not_started_over(counted: HookHome) -> None:
    with stand_in(counted, lambda _: None):
        counted.run("PostToolUse", PROMPT)
    time.sleep(0.3)
    assert len(counted.records()) == 1
    assert starts(counted) == 0


def test_a_worker_that_has_not_moved_for_long_may_be_replaced(counted: HookHome) -> None:
    counted.paths.heartbeat.write_text("{}")
    with stand_in(counted, lambda _: None):
        counted.run("PostToolUse", PROMPT)
        time.sleep(0.3)
        assert starts(counted) == 0
        os.utime(counted.paths.heartbeat, (1, 1))
        counted.run("PostToolUse", PROMPT)
    deadline = time.monotonic() + 5
    while not starts(counted) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert starts(counted) == 1


@pytest.mark.parametrize("planted", ["link", "loose", "missing"])
def test_a_planted_command_line_is_not_run(counted: HookHome, planted: str) -> None:
    argv = counted.paths.worker_argv
    if planted == "link":
        argv.rename(counted.paths.data / "other")
        argv.symlink_to(counted.paths.data / "other")
    elif planted == "loose":
        argv.chmod(0o666)
    else:
        argv.unlink()
    ran = counted.run("PostToolUse", PROMPT)
    time.sleep(0.3)
    assert (ran.code, ran.err, starts(counted)) == (0, b"", 0)
    assert len(counted.records()) == 1


# When it can't be kept -----------------------------------------------------------------


def test_a_spool_that_is_a_link_is_not_used(home: HookHome, tmp_path: Path) -> None:
    home.paths.spool.symlink_to(tmp_path)
    ran = home.run("PostToolUse", PROMPT)
    assert ran.code == 0
    assert ran.err.startswith(b"claude-mem: ")
    assert ran.err.count(b"\n") == 1
    assert list(tmp_path.iterdir()) == []
    assert lost(home.paths) == 1


def test_what_is_lost_is_counted_and_told_once(home: HookHome) -> None:
    home.paths.spool.write_text("a file")
    for _ in range(3):
        home.run("PostToolUse", PROMPT)
    assert lost(home.paths) == 3
    assert take_lost(home.paths) == 3
    assert take_lost(home.paths) == 0
    assert (home.paths.data / "lost.count").stat().st_size == 20


def test_a_full_spool_takes_no_more(home: HookHome) -> None:
    home.paths.spool.mkdir(mode=0o700)
    for number in range(20_001):
        (home.paths.spool / f"{number:020d}-1.ev").touch()
    ran = home.run("PostToolUse", PROMPT)
    assert ran.code == 0
    assert b"spool is full" in ran.err
    assert lost(home.paths) == 1


def test_a_racing_linker_gets_nothing_written_through_its_links(home: HookHome) -> None:
    victim = home.paths.data / "victim"
    victim.write_text("keep")
    home.paths.spool.mkdir(mode=0o700)
    stop = threading.Event()

    def linker() -> None:
        while not stop.is_set():
            for name in os.listdir(home.paths.spool):
                if not name.endswith(".tmp"):
                    continue
                place = home.paths.spool / name
                try:
                    os.symlink(victim, f"{place}.l")
                    os.rename(f"{place}.l", place)
                except OSError:
                    continue

    racing = threading.Thread(target=linker)
    racing.start()
    codes = [home.run("PostToolUse", PROMPT).code for _ in range(15)]
    stop.set()
    racing.join()
    assert codes == [0] * 15
    assert victim.read_text() == "keep"
