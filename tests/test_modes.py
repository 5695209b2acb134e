"""Modes: the bundled ones, inheritance, the user's own, and the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.errors import NotFound, SettingsError
from claude_mem_core.modelled.instructions import system
from claude_mem_core.modes import Modes
from tests.cli_run import Ran
from tests.cli_run import mem as run_mem
from tests.terminal_kit import at_a_terminal

LANGUAGES = [
    "ar",
    "bn",
    "zh",
    "cs",
    "da",
    "nl",
    "fi",
    "fr",
    "de",
    "el",
    "he",
    "hi",
    "hu",
    "id",
    "ur",
    "it",
    "ja",
    "ko",
    "no",
    "pl",
    "pt-br",
    "ro",
    "ru",
    "es",
    "sv",
    "th",
    "tr",
    "uk",
    "vi",
]
MINE: dict[str, Any] = {
    "name": "Mine",
    "observation_types": [{"id": "bugfix", "description": "mended at last"}, {"id": "idea"}],
    "prompts": {"skip": "everything dull"},
}


@pytest.fixture
def modes(tmp_path: Path) -> Modes:
    return Modes(tmp_path)


def write(folder: Path, mode_id: str, value: Any) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{mode_id}.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    return path


def test_all_bundled_modes_are_right(modes: Modes) -> None:
    ids = modes.ids()
    assert {"code", "code--chill", "email-investigation"} <= set(ids)
    assert {f"code--{language}" for language in LANGUAGES} <= set(ids)
    assert len(LANGUAGES) == 29
    for mode_id in ids:
        mode = modes.mode(mode_id)
        assert mode.neutral in mode.type_ids
        assert system(mode)


def test_a_language_changes_nothing_but_the_language(modes: Modes) -> None:
    plain, german = modes.mode("code"), modes.mode("code--de")
    assert german.types == plain.types
    assert "Write everything in German (Deutsch)." in system(german)
    assert "German" not in system(plain)


def test_chill_asks_for_less(modes: Modes) -> None:
    assert "painful to find out again" in system(modes.mode("code--chill"))
    assert modes.mode("code--chill").concepts == modes.mode("code").concepts


def test_the_email_mode_has_its_own_types(modes: Modes) -> None:
    mode = modes.mode("email-investigation")
    assert mode.type_ids == (
        "entity", "relationship", "timeline-event", "evidence", "anomaly", "conclusion",
    )  # fmt: skip


def test_an_own_mode_inherits_item_by_item(tmp_path: Path, modes: Modes) -> None:
    write(tmp_path, "code--mine", MINE)
    mode = modes.mode("code--mine")
    base = modes.mode("code")
    assert mode.type_ids == (*base.type_ids, "idea")
    assert mode.types[0].help == "mended at last"
    assert mode.types[0].emoji == base.types[0].emoji
    assert (mode.skip, mode.record) == ("everything dull", base.record)


def test_a_bundled_id_is_not_shadowed_but_by_the_override(tmp_path: Path) -> None:
    write(tmp_path / "own", "code", {**MINE, "name": "Not ours"})
    modes = Modes(tmp_path / "own")
    assert modes.mode("code").name == "Code development"
    assert modes.shadowed() == ["code"]
    raw = {"name": "For tests", "observation_types": [{"id": "x"}],
           "observation_concepts": [{"id": "y"}]}  # fmt: skip
    write(tmp_path / "over", "code", raw)
    assert Modes(tmp_path / "own", tmp_path / "over").mode("code").name == "For tests"


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ("{", "this is no JSON"),
        ("[]", "one JSON object"),
        ({"name": "x", "colour": "red"}, "colour: unknown key"),
        ({"name": "x", "observation_types": [{"id": "A B"}]}, "observation_types"),
        ({"name": 3}, "name: must be a text"),
        ({"name": "x", "prompts": {"shout": "x"}}, "prompts shout: unknown key"),
        ({"name": "x", "neutral": "nothing"}, "neutral: 'nothing'"),
    ],
)
def test_what_is_wrong_is_named_with_its_file(
    tmp_path: Path, modes: Modes, raw: Any, said: str
) -> None:
    path = write(tmp_path, "code--bad", raw)
    with pytest.raises(SettingsError) as caught:
        modes.mode("code--bad")
    assert str(path) in str(caught.value)
    assert said in str(caught.value)
    assert modes.in_force("code--bad").id == "code", "work goes on"


def test_an_unknown_mode(modes: Modes) -> None:
    for mode_id in ("nothing", "../code", "code--", "Code", "nothing--de"):
        with pytest.raises(NotFound):
            modes.mode(mode_id)
    assert modes.in_force("nothing").id == "code"


# The command ------------------------------------------------------------------------


@pytest.fixture
def mem(tmp_path: Path) -> Any:
    data = tmp_path / "d"
    data.mkdir(mode=0o700)

    def run(*args: str) -> Ran:
        return run_mem(data, *args)

    return run


def test_list_use_create_check(mem: Any, tmp_path: Path) -> None:
    assert "* code " in mem("mode").out
    file = write(tmp_path, "any", MINE)
    assert mem("mode", "create", "code--mine", "--file", str(file)).code == 0
    assert mem("mode", "create", "code--mine", "--file", str(file)).code == 2, "there already"
    assert mem("mode", "use", "code--mine").code == 0
    found = json.loads(mem("mode", "list", "--json").out)
    assert found["chosen"] == "code--mine"
    assert [row["id"] for row in found["modes"] if row["in_force"]] == ["code--mine"]
    assert mem("mode", "check").code == 0
    assert mem("mode", "check", "code--mine").code == 0


ANSWERS = [
    "Of the kitchen", "what we cook", "German", "recipe: when a dish is done",
    "idea: when one is had", "", "taste: how it was", "", "You watch a cook.", "dishes", "",
]  # fmt: skip


def test_a_person_is_asked_for_the_parts(mem: Any, tmp_path: Path) -> None:
    said = at_a_terminal(tmp_path / "d", "mode", "create", "code--cook", answer="\n".join(ANSWERS))
    assert said.code == 0, said.out
    assert "What is worth a memory?" in said.out
    assert "mem mode use code--cook" in said.out
    made = Modes(tmp_path / "d" / "modes").mode("code--cook")
    assert (made.name, made.description, made.language) == (ANSWERS[0], ANSWERS[1], "German")
    told = system(made)
    assert "recipe|idea" in told
    assert "recipe: when a dish is done" in told
    assert "taste: how it was" in told
    assert "You watch a cook." in told
    assert "RECORD. dishes" in told
    assert f"SKIP. {Modes(tmp_path).mode('code').skip}" in told, "left to its parent"


def test_the_command_refuses_what_is_wrong(mem: Any, tmp_path: Path) -> None:
    bad = write(tmp_path, "code--bad", {"name": "x", "colour": "red"})
    ran = mem("mode", "check", str(bad))
    assert (ran.code, "colour: unknown key" in ran.out) == (1, True)
    assert mem("mode", "create", "code--bad", "--file", str(bad)).code != 0
    assert mem("mode", "create", "code", "--file", str(bad)).code == 2
    assert mem("mode", "create", "Not An Id", "--file", str(bad)).code == 2
    assert mem("mode", "create", "code--x").code == 2, "questions need a terminal"
    assert mem("mode", "use", "nothing").code != 0
    assert json.loads(mem("mode", "list", "--json").out)["chosen"] == "code"
