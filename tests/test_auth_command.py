"""`mem auth` and `mem usage`: keys go to their place and are seen nowhere else."""

from __future__ import annotations

import argparse
import io
import json
from pathlib import Path
from typing import Any

import keyring  # noqa: TID253 - a person's keyring
import pytest

from claude_mem_core import secrets
from claude_mem_core.cli.commands import auth, usage
from claude_mem_core.cli.keyring import Desk, forget_all
from claude_mem_core.errors import UnknownName, UsageError
from claude_mem_core.extensions import declared
from claude_mem_core.providing.candidates import Candidates
from claude_mem_core.providing.choice import CHOICE, chosen
from claude_mem_core.settings import SettingsSource
from claude_mem_core.testing.fake_site import FakeSite
from tests.providing_kit import Scene
from tests.test_secrets import Ring

KEY = "sk-planted-0123456789abcdef0123456789abcdef"


@pytest.fixture
def ring(monkeypatch: pytest.MonkeyPatch) -> Ring:
    made = Ring()
    monkeypatch.setattr(keyring, "get_keyring", lambda: made)
    return made


@pytest.fixture
def desk(install_fake_plugin: FakeSite, tmp_path: Path) -> Desk:
    scene = Scene.make(install_fake_plugin, tmp_path)
    scene.offer("free", keys=(), more='login="free login"')
    scene.offer("one", more="pool=False")
    registry = install_fake_plugin.registry()
    registry.load("provider")
    settings = SettingsSource(scene.paths, declared(registry), environ={})
    return Desk(scene.paths, registry, settings, Candidates(scene.paths, settings, registry))


def run(
    desk: Desk,
    monkeypatch: pytest.MonkeyPatch,
    *words: str,
    stdin: str = "",
    terminal: bool = False,
) -> int:
    parser = argparse.ArgumentParser()
    auth.arguments(parser)
    typed = io.StringIO(stdin)
    typed.isatty = lambda: terminal  # type: ignore[method-assign]
    monkeypatch.setattr("sys.stdin", typed)
    monkeypatch.setattr(Desk, "open", lambda _: desk)
    return auth.run(parser.parse_args(words))


def test_a_key_goes_into_the_keyring(
    desk: Desk, ring: Ring, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(desk, monkeypatch, "set", "alpha", stdin=f"{KEY}\n") == 0
    assert list(ring.kept.values()) == [KEY]
    assert not (desk.paths.data / ".env").exists()
    said = capsys.readouterr()
    assert KEY not in said.out + said.err
    assert "mem config set provider alpha" in said.out


def test_without_a_keyring_the_file_is_the_users_choice(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="mem auth set alpha --store file"):
        run(desk, monkeypatch, "set", "alpha", stdin=KEY)
    assert not (desk.paths.data / ".env").exists()
    assert run(desk, monkeypatch, "set", "alpha", "--store", "file", stdin=KEY) == 0
    file = desk.paths.data / ".env"
    assert KEY in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("answer", ["y", "yes", "n", ""])
def test_at_a_terminal_it_asks(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    monkeypatch.setattr("builtins.input", lambda _: answer)
    monkeypatch.setattr("getpass.getpass", lambda _: KEY)
    if answer.startswith("y"):
        assert run(desk, monkeypatch, "set", "alpha", terminal=True) == 0
        assert secrets.read(desk.paths, "CLAUDE_MEM_ALPHA_API_KEY") == KEY
    else:
        with pytest.raises(UsageError):
            run(desk, monkeypatch, "set", "alpha", terminal=True)
        assert not (desk.paths.data / ".env").exists()


def test_a_pool_is_kept_beside_the_key(
    desk: Desk, ring: Ring, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(
        desk,
        monkeypatch,
        "set",
        "alpha",
        "--pool",
        stdin="k1-0123456789\nk2-0123456789, k3-01234\n",
    )
    found = desk.candidates.find("alpha").credentials
    assert [each.key[:2] for each in found] == ["k1", "k2", "k3"]
    with pytest.raises(UsageError, match="one key only"):
        run(desk, monkeypatch, "set", "one", "--pool", stdin=KEY)


@pytest.mark.parametrize(
    ("words", "stdin", "text"),
    [
        (("set", "alpha"), "", "no key was given"),
        (("set", "alpha"), "two words", "--pool"),
        (("set", "free"), KEY, "free login"),
        (("set", "alpha", "--name", "OTHER"), KEY, "no key named OTHER"),
        (("set", "alpha"), "cm_pro_abcdef", "cmem.ai only"),
    ],
)
def test_what_is_no_key_is_not_kept(
    desk: Desk, ring: Ring, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...],
    stdin: str, text: str,
) -> None:  # fmt: skip
    with pytest.raises(UsageError, match=text):
        run(desk, monkeypatch, *words, stdin=stdin)
    assert ring.kept == {}


def test_an_unknown_provider_names_its_package(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UnknownName, match="pip install claude-mem-provider-gamma"):
        run(desk, monkeypatch, "set", "gamma", stdin=KEY)


def test_a_key_confirms_what_the_file_names(
    desk: Desk, ring: Ring, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.paths.settings.write_text(json.dumps({CHOICE: "alpha"}))
    assert chosen(desk.settings.current(), CHOICE) == "builtin"
    run(desk, monkeypatch, "set", "alpha", stdin=KEY)
    assert chosen(desk.settings.current(), CHOICE) == "alpha"


def test_the_list_shows_places_and_no_keys(
    desk: Desk, ring: Ring, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(desk, monkeypatch, "set", "alpha", stdin=KEY)
    for words in (("list",), ("list", "--json")):
        run(desk, monkeypatch, *words)
    said = capsys.readouterr().out
    assert KEY not in said
    assert KEY[-4:] not in said
    assert "key in keyring; ready" in said
    assert "mem auth set beta" in said


def test_removed_is_gone_from_everywhere(
    desk: Desk, ring: Ring, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(desk, monkeypatch, "set", "alpha", stdin=KEY)
    for name in ("ALPHA_API_KEY", "CLAUDE_MEM_ALPHA_API_KEYS", "KEPT"):
        secrets.write(desk.paths, name, KEY, "file")
    assert run(desk, monkeypatch, "remove", "alpha") == 0
    assert ring.kept == {}
    assert secrets.from_file(desk.paths) == {"KEPT": KEY}
    assert run(desk, monkeypatch, "remove", "alpha") == 1
    desk.settings.set("CLAUDE_MEM_ALPHA_API_KEY", KEY)
    run(desk, monkeypatch, "remove", "alpha")
    assert str(desk.paths.settings) in capsys.readouterr().out


def test_all_keys_leave_the_keyring_with_the_product(
    desk: Desk, ring: Ring, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(desk, monkeypatch, "set", "alpha", stdin=KEY)
    run(desk, monkeypatch, "set", "beta", stdin=KEY)
    ring.set_password("another-program", "x", "stays")
    assert forget_all(desk.paths) == ["CLAUDE_MEM_ALPHA_API_KEY", "CLAUDE_MEM_BETA_API_KEY"]
    assert list(ring.kept.values()) == ["stays"]


def test_usage_in_words() -> None:
    item: dict[str, Any] = {
        "name": "2026-09-21", "calls": 3, "failed": 1, "input_tokens": 12_345,
        "output_tokens": 67, "cached_tokens": 0, "cost_usd": 0.0123,
    }  # fmt: skip
    budget = [{"setting": "CLAUDE_MEM_BUDGET_DAILY_TOKENS", "limit": 1_000_000, "used": 12_412}]
    found = {
        "since": "2026-09-01", "by": "day", "items": [item], "budget": budget, "memories": 4,
    }  # fmt: skip
    text = "\n".join(usage.lines(found))
    assert "12,345" in text
    assert "0.0123" in text
    assert "4 memories made by models, about 3,103 tokens each" in text
    assert "today: 12,412 of 1,000,000 tokens (1 %), budget-daily-tokens" in text
    assert list(usage.lines({**found, "items": [], "budget": []})) == [
        "no model was asked since 2026-09-01"
    ]
