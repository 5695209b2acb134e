"""The cleaner: tags first, then every redactor; a fault keeps nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import pytest

from claude_mem_core.clean.cleaner import (
    Cleaner,
    CleaningFailed,
    Filter,
    builtin_cleaner,
    make_cleaner,
)
from claude_mem_core.clean.vendor import marker
from claude_mem_core.redactor.secrets import Secrets, close, faults, open_secrets
from claude_mem_core.settings import CORE
from claude_mem_core.types import Event, EventKind, Redactor, ToolUse

KEY = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
MARK = marker("github_pat")
SETTINGS: dict[str, Any] = {setting.key: setting.default for setting in CORE}


def settings(**given: Any) -> dict[str, Any]:
    return SETTINGS | {f"CLAUDE_MEM_REDACT_{name}": value for name, value in given.items()}


class Offering:
    """Stands for a registry that offers these redactors."""

    def __init__(self, *records: Redactor) -> None:
        self._records = records

    def records(self, hook: str, kind: type[Redactor]) -> tuple[Redactor, ...]:
        assert (hook, kind) == ("mem_redactors", Redactor)
        return self._records


def redactor(name: str, order: int, run: Callable[[str], Any], **more: Any) -> Redactor:
    def opened(_: Mapping[str, Any]) -> Callable[[str], str]:
        return run

    return Redactor(name=name, open=opened, order=order, **more)


def cleaner(*records: Redactor, own_id: str = "a1b2") -> Cleaner:
    return make_cleaner(Offering(*records), SETTINGS, own_id)  # type: ignore[arg-type]


def test_private_regions_go_before_redactors_see_the_text() -> None:
    seen: list[str] = []

    def spy(text: str) -> str:
        seen.append(text)
        return text

    cleaner(redactor("spy", 1, spy)).text("a <private>b</private> c")
    assert seen == ["a  c"]


def test_redactors_run_by_their_order() -> None:
    first = redactor("z", 1, lambda text: text + "1")
    second = redactor("a", 2, lambda text: text + "2")
    assert cleaner(second, first).text("x") == "x12"


def test_where_decides_about_system_blocks() -> None:
    made = builtin_cleaner("a1b2")
    text = "a <system-reminder>b</system-reminder>"
    assert made.text(text, "prompt") == "a "
    assert made.text(text, "answer") == "a "
    assert made.text(text, "tool") == text
    own = 'a <claude-mem-context id="a1b2">b</claude-mem-context>'
    assert made.text(own, "tool") == "a "


def broken(text: str) -> str:
    raise ValueError(text)


@pytest.mark.parametrize("run", [broken, lambda _: None, lambda _: b"bytes"])
def test_a_failing_redactor_keeps_nothing_and_says_nothing_of_the_text(run: Any) -> None:
    made = cleaner(redactor("acme", 1, run))
    with pytest.raises(CleaningFailed, match="mem plugins block acme") as caught:
        made.value({"a": "wolf-key"})
    assert "wolf-key" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_a_redactor_that_can_not_be_opened_keeps_nothing() -> None:
    def closed(_: Mapping[str, Any]) -> Callable[[str], str]:
        raise RuntimeError

    with pytest.raises(CleaningFailed, match="acme"):
        cleaner(Redactor(name="acme", open=closed))


def test_a_value_nested_too_deeply_keeps_nothing() -> None:
    value: Any = "x"
    for _ in range(5_000):
        value = [value]
    with pytest.raises(CleaningFailed, match="deeply"):
        builtin_cleaner().value(value)


def test_a_redactor_that_minds_the_beginning_of_text_sees_each_string() -> None:
    whole = cleaner(redactor("acme", 1, lambda t: "GONE" if t.startswith("secret") else t))
    assert whole.value({"a": "secret 1", "b": "no secret"}) == {"a": "GONE", "b": "no secret"}


def test_everything_an_event_says_is_cleaned() -> None:
    dirty = f"x {KEY} <private>wolf</private>"
    event = Event(
        kind=EventKind.TOOL_USED, host="h", session_id=dirty, cwd=dirty, prompt=dirty,
        prompt_id=dirty, answer=dirty, error=dirty, agent_id=dirty, agent_type=dirty,
        transcript=dirty, reason=dirty, host_event=dirty, extra={dirty: [dirty]},
        tool=ToolUse(name=dirty, id=dirty, input={dirty: dirty}, output=[dirty], error=dirty),
    )  # fmt: skip
    said = repr(builtin_cleaner().event(event))
    assert KEY not in said
    assert "wolf" not in said
    assert said.count(MARK) == said.count("x <")


def test_an_event_without_anything_to_clean_stays_equal() -> None:
    event = Event(
        kind=EventKind.TOOL_USED, host="h", session_id="s", cwd="/home/u", at_ms=5,
        tool=ToolUse(name="Bash", input={"command": "ls"}, output={"stdout": "a\nb"}),
    )  # fmt: skip
    assert builtin_cleaner().event(event) == event
    assert builtin_cleaner().event(attrs.evolve(event, tool=None)).tool is None


def test_more_than_a_hundred_tags_are_a_warning_and_go_all(
    caplog: pytest.LogCaptureFixture,
) -> None:
    text = "a" + "<private>wolf</private>" * 101 + "b"
    with caplog.at_level(logging.WARNING):
        assert builtin_cleaner().text(text) == "ab"
    assert "202 private tags" in caplog.text
    assert "wolf" not in caplog.text


# The redactor of credentials -----------------------------------------------------------


def test_redaction_is_on_by_default() -> None:
    assert open_secrets(settings())(KEY) == MARK


def test_redaction_can_be_switched_off_whole_or_by_name() -> None:
    assert open_secrets(settings(ENABLED=False))(KEY) == KEY
    assert open_secrets(settings(DISABLED_BUILTINS=("github_pat",)))(KEY) == KEY


def test_generic_patterns_need_their_setting() -> None:
    text = "api_token: abcdefgh12345678"
    assert open_secrets(settings())(text) == text
    assert "generic_token" in open_secrets(settings(GENERIC_ENABLED=True))(text)


def test_own_patterns_come_first() -> None:
    own = [
        {"name": "mine", "regex": "ghp_[A-Za-z0-9]+"},
        {"name": "tck", "regex": "TCK-[0-9]+"},
    ]
    run = open_secrets(settings(CUSTOM_PATTERNS=own))
    try:
        assert run(f"{KEY} TCK-123 x") == f"{marker('mine')} {marker('tck')} x"
        assert faults() == []
    finally:
        close()


def test_bad_entries_are_left_out_and_named() -> None:
    own = [
        {"regex": "a"},
        {"name": "x"},
        5,
        {"name": "bad", "regex": "("},
        {"name": "ok", "regex": "TCK"},
    ]
    run = open_secrets(settings(CUSTOM_PATTERNS=own))
    try:
        assert run("a TCK") == f"a {marker('ok')}"
        assert len(faults()) == 4
        assert any("own pattern bad is not used" in fault for fault in faults())
    finally:
        close()


def test_matches_are_logged_by_name_and_number_only(caplog: pytest.LogCaptureFixture) -> None:
    run = Secrets(settings(LOG_MATCHES=True))
    with caplog.at_level(logging.INFO):
        run(f"{KEY} {KEY} AKIAQ7ZFAKEKEY4TEST1")
    assert "aws_access_key,1, github_pat,2" in caplog.text
    assert KEY not in caplog.text


def test_a_field_cut_to_its_ends_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        Secrets(settings())("word " * 300_000)
    assert "1500000 characters" in caplog.text


def test_the_core_s_own_plugin_offers_it() -> None:
    from claude_mem_core import redactor as plugin

    (record,) = plugin.mem_redactors()
    assert (record.name, record.at_edge) == ("secrets", True)
    assert record.open(settings())(KEY) == MARK


def test_whole_says_whether_parts_may_be_judged_together() -> None:
    assert Filter("x", str).whole is False
    own = [{"name": "tck", "regex": "^TCK$"}]
    run = open_secrets(settings(CUSTOM_PATTERNS=own))
    try:
        made = Cleaner([Filter("secrets", run, run.whole)])  # type: ignore[attr-defined]
        assert made.value({"a": "TCK", "b": "x"}) == {"a": marker("tck"), "b": "x"}
    finally:
        close()
