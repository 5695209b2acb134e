"""`mem install --provider`: who makes the memories is chosen with the hooks, or not at all."""

from __future__ import annotations

import io
import json
from argparse import ArgumentParser
from pathlib import Path

import pytest

from claude_mem_core.cli.commands import install
from claude_mem_core.cli.install import provider
from claude_mem_core.errors import UnknownName, UsageError
from claude_mem_core.paths import Paths
from claude_mem_core.providing.choice import CHOICE

MODEL = "CLAUDE_MEM_MODEL"


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """The data directory of a home that has Claude Code in it."""
    (tmp_path / ".claude").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_MEM_DATA_DIR", raising=False)
    monkeypatch.setattr("claude_mem_core.cli.keyring.secrets.from_keyring", lambda name: None)
    return Paths(tmp_path / ".claude-mem")


def run(*words: str) -> int:
    parser = ArgumentParser()
    install.arguments(parser)
    return install.run(parser.parse_args(["--ide", "claude-code", *words]))


def written(paths: Paths) -> dict[str, str]:
    found = json.loads(paths.settings.read_text()) if paths.settings.exists() else {}
    return {key: found[key] for key in (CHOICE, MODEL) if key in found}


def typing(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(provider, "terminal", lambda: True)
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


def test_provider_and_model_are_chosen_with_the_hooks(
    paths: Paths, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--yes", "--provider", "claude", "--model", "opus") == 0
    assert written(paths) == {CHOICE: "claude", MODEL: "opus"}
    assert "models: claude (opus) makes the memories" in capsys.readouterr().out
    assert run("--yes", "--provider", "builtin", "--json") == 0
    assert written(paths)[CHOICE] == "builtin"
    assert json.loads(capsys.readouterr().out)["provider"] == "rules make the memories"


@pytest.mark.parametrize(("typed", "model"), [("sonnet\n", "sonnet"), ("\n", None)])
def test_at_a_terminal_the_model_is_asked_for(
    paths: Paths, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    typed: str, model: str | None,
) -> None:  # fmt: skip
    typing(monkeypatch, typed)
    assert run("--provider", "claude") == 0
    assert "model of claude (haiku, sonnet, opus;" in capsys.readouterr().out
    assert written(paths).get(MODEL) == model
    assert written(paths)[CHOICE] == "claude"


def test_what_is_missing_is_said(paths: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--yes", "--provider", "gemini") == 0
    assert "still missing: it has no key: mem auth set gemini" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ("--provider", "nobody"),
        ("--model", "opus"),
        ("--provider", "builtin", "--model", "opus"),
        ("--provider", "claude"),
    ],
    ids=" ".join,
)
def test_what_can_not_be_chosen_changes_nothing(
    paths: Paths, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    typing(monkeypatch, "gpt\n")
    with pytest.raises((UsageError, UnknownName)):
        run(*words)
    assert written(paths) == {}
    assert list((paths.data.parent / ".claude").iterdir()) == [], "no hook was put in"


def test_a_dry_run_chooses_nothing(paths: Paths) -> None:
    assert run("--yes", "--dry-run", "--provider", "claude", "--model", "opus") == 0
    assert written(paths) == {}
