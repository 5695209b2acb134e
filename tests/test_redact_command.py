"""`mem redact`."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from claude_mem_core.clean.vendor import VENDOR, marker
from claude_mem_core.cli.main import main

KEY = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
Mem = Callable[..., int]


@pytest.fixture
def mem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mem:
    monkeypatch.setenv("CLAUDE_MEM_DATA_DIR", str(tmp_path / "d"))

    def run(*words: str, stdin: str = "") -> int:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(stdin.encode())))
        return main(["redact", *words])

    return run


def test_test_prints_the_cleaned_text(mem: Mem, capsys: pytest.CaptureFixture[str]) -> None:
    assert mem("test", stdin=f"a {KEY} <private>x</private>b\n") == 0
    assert capsys.readouterr().out == f"a {marker('github_pat')} b\n"


def test_test_takes_an_own_pattern(mem: Mem, capsys: pytest.CaptureFixture[str]) -> None:
    assert mem("test", "TCK-[0-9]+", "--json", stdin="see TCK-12") == 0
    said = json.loads(capsys.readouterr().out)
    assert said == {"text": f"see {marker('pattern')}", "matches": ["pattern,1"], "faults": []}


def test_a_pattern_that_is_none_is_an_error(
    mem: Mem, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mem("test", "(", stdin="text") == 1
    said = capsys.readouterr()
    assert said.out == "text\n"
    assert "no valid pattern" in said.err


def test_control_characters_do_not_reach_the_terminal(
    mem: Mem, capsys: pytest.CaptureFixture[str]
) -> None:
    mem("test", stdin="a\x1b[2Jb")
    assert "\x1b" not in capsys.readouterr().out


def test_list_names_every_pattern(mem: Mem, capsys: pytest.CaptureFixture[str]) -> None:
    assert mem("list") == 0
    lines = capsys.readouterr().out.splitlines()
    assert {line.split()[0] for line in lines} >= {name for name, _, _ in VENDOR}
    assert [line.split()[2] for line in lines if "generic " in line] == ["off"] * 3


def test_list_says_what_the_settings_say(
    mem: Mem, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "d").mkdir(mode=0o700)
    (tmp_path / "d" / "settings.json").write_text(
        json.dumps(
            {
                "CLAUDE_MEM_REDACT_DISABLED_BUILTINS": "jwt",
                "CLAUDE_MEM_REDACT_CUSTOM_PATTERNS": '[{"name": "tck", "regex": "TCK"}]',
            }
        )
    )
    assert mem("list", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    on = {row["name"]: row["on"] for row in said["patterns"]}
    assert (on["jwt"], on["tck"], on["github_pat"]) == (False, True, True)
    assert said["enabled"] is True
