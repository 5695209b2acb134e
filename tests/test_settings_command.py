"""`mem config`: list, get, set, explain, path."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import attrs
import pytest

from tests.quick_mem import run_mem


@attrs.frozen
class Ran:
    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def mem(data: Path):
    def run(*args: str, stdin: str = "", **environ: str) -> Ran:
        env = {key: value for key, value in os.environ.items() if "CLAUDE_MEM" not in key}
        env |= {"CLAUDE_MEM_DATA_DIR": str(data), **environ}
        done = run_mem("--no-plugins", "config", *args, env=env, cwd=".", stdin=stdin)
        assert "Traceback" not in done.stderr
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


def test_the_list_names_the_origin_of_every_value(mem, data: Path) -> None:
    mem("set", "context-observations", "20")
    lines = [line for line in mem("list").out.splitlines() if line.startswith("CLAUDE_MEM_")]
    assert "CLAUDE_MEM_CONTEXT_OBSERVATIONS = 20   (file)" in lines
    origins = ("   (default)", "   (file)", "   (environment)")
    assert all(line.endswith(origins) for line in lines), lines


def test_set_get_and_explain_tell_the_same_value_and_its_origin(mem, data: Path) -> None:
    done = mem("set", "context-observations", "20")
    assert (done.code, done.out) == (0, "CLAUDE_MEM_CONTEXT_OBSERVATIONS = 20\n")
    assert mem("get", "CLAUDE_MEM_CONTEXT_OBSERVATIONS").out == "20\n"
    told = mem("explain", "context_observations", "--json").json()
    assert (told["value"], told["origin"], told["default"]) == (20, "file", "50")
    assert told["candidates"] == [
        {"where": f"in {data / 'settings.json'}", "value": "20"},
        {"where": "by default", "value": "50"},
    ]
    by_environment = mem(
        "explain", "context_observations", CLAUDE_MEM_CONTEXT_OBSERVATIONS="30"
    )
    assert "CLAUDE_MEM_CONTEXT_OBSERVATIONS = 30   (environment)" in by_environment.out
    assert "> in the environment: 30" in by_environment.out


def test_list_shows_everything_with_origin_as_text_and_json(mem) -> None:
    mem("set", "mode", "chess")
    listed = mem("list")
    assert listed.code == 0
    assert "CLAUDE_MEM_MODE = chess   (file)\n" in listed.out
    assert "CLAUDE_MEM_PROVIDER = builtin   (default)\n" in listed.out
    rows = mem("--json", "list").json()["settings"]
    assert len(rows) > 70
    assert {"key", "value", "origin", "default", "scope", "help"} <= set(rows[0])
    changed = mem("list", "--changed", "--json").json()["settings"]
    assert {"CLAUDE_MEM_MODE"} <= {row["key"] for row in changed}
    assert len(changed) < 5


def test_list_shows_each_area_once(mem) -> None:
    areas = [line for line in mem("list").out.splitlines() if line.startswith("[")]
    assert len(areas) == len(set(areas)) > 10


@pytest.mark.parametrize(
    ("rules", "fault"),
    [
        ('[{"kind": "prompts"}]', "rule 1: it needs days or count"),
        ('[{"kind": "events", "days": 9}, {"kind": "x"}]', "rule 2: its kind must be all"),
        ('{"kind": "events", "days": 9}', "allowed: a JSON list"),
    ],
)
def test_a_rule_of_retention_that_is_none_is_refused(mem, rules: str, fault: str) -> None:
    done = mem("set", "retention-rules", rules)
    assert (done.code, fault in done.err) == (2, True), done.err
    assert mem("get", "retention-rules").out == "[]\n"


def test_path_says_where_even_when_nothing_is_there(mem, data: Path) -> None:
    assert mem("path").out == f"{data / 'settings.json'}\n"
    assert mem("path", "--json").json()["exists"] is False
    assert not data.exists()


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("get", "log-levl"), "did you mean CLAUDE_MEM_LOG_LEVEL"),
        (("set", "never-heard-of-it", "1"), "see: mem config list"),
        (("explain", "zzz"), "no setting named"),
        (
            ("set", "worker-port", "70000"),
            "CLAUDE_MEM_WORKER_PORT is 70000; allowed: a whole number",
        ),
        (("set", "disable-summary", "1"), "environment"),
        (("set", "mode"), "usage"),
        (("sing",), "usage"),
    ],
)
def test_a_wrong_command_line_names_the_remedy_with_exit_2(mem, data: Path, args, told) -> None:
    done = mem(*args)
    assert done.code == 2
    assert told in done.err
    assert not (data / "settings.json").exists()


def test_secrets_come_by_standard_input_and_are_never_shown(mem, data: Path) -> None:
    secret = "tv-secret-0123456789"
    refused = mem("set", "tv-token", secret)
    assert refused.code == 2
    assert "mem config set CLAUDE_MEM_TV_TOKEN - <" in refused.err
    given = mem("set", "tv-token", "-", stdin=secret + "\n")
    shown = [
        given,
        mem("list"),
        mem("list", "--json"),
        mem("get", "tv-token"),
        mem("explain", "tv-token"),
    ]
    assert json.loads((data / "settings.json").read_text()) == {"CLAUDE_MEM_TV_TOKEN": secret}
    for ran in shown:
        assert ran.code == 0
        assert "****6789" in ran.out
        assert secret not in ran.out + ran.err


def test_a_broken_file_is_told_with_exit_1_and_left(mem, data: Path) -> None:
    data.mkdir(0o700)
    (data / "settings.json").write_text('{"CLAUDE_MEM_MODE": "chess",,}')
    listed = mem("list")
    assert listed.code == 1
    assert listed.err.count("settings.json:1:") == 1
    assert "CLAUDE_MEM_MODE = chess" in listed.out
    refused = mem("set", "mode", "email")
    assert refused.code == 1
    assert "settings.json:1:" in refused.err
    assert (data / "settings.json").read_text() == '{"CLAUDE_MEM_MODE": "chess",,}'
    assert mem("list", "--json").json()["broken"]


def test_keys_that_nobody_knows_are_kept_and_shown_without_their_value(mem, data: Path) -> None:
    data.mkdir(0o700)
    (data / "settings.json").write_text('{"CLAUDE_MEM_LOG_LEVL": "sk-hidden", "MINE": 1}')
    done = mem("list")
    assert done.code == 0
    assert (
        "CLAUDE_MEM_LOG_LEVL is in the file, is not known here, and is kept; did you mean"
        in done.out
    )
    assert "sk-hidden" not in done.out + done.err
    mem("set", "mode", "chess")
    assert json.loads((data / "settings.json").read_text())["MINE"] == 1


def test_what_a_repository_could_set_is_told_to_have_no_effect(mem) -> None:
    done = mem("list", CLAUDE_MEM_REDACT_ENABLED="false")
    assert "CLAUDE_MEM_REDACT_ENABLED = true   (default)\n" in done.out
    assert "run: mem config set CLAUDE_MEM_REDACT_ENABLED VALUE" in done.err


def test_a_setting_of_the_worker_names_the_restart(mem) -> None:
    assert "mem restart" in mem("set", "worker-port", "39000").out
