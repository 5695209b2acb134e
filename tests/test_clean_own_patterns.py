"""A user's own patterns can't hold up the worker (RE-1)."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from claude_mem_core.clean.own_patterns import FIELD_S, OwnPattern, OwnPatterns, declared
from claude_mem_core.clean.vendor import marker
from tests.hook_home import CASES

HARD: list[dict[str, Any]] = json.loads(
    (CASES / "security" / "open" / "redos_patterns.json").read_text()
)
EVIL = OwnPattern("evil", "(a+)+$")
EVIL_TEXT = "a" * 40 + "!"


@contextmanager
def running(*patterns: OwnPattern, field_s: float = 5) -> Iterator[OwnPatterns]:
    """Patient by default: the machine that runs the tests may be busy."""
    runner = OwnPatterns(patterns, field_s)
    try:
        yield runner
    finally:
        runner.close()


@pytest.mark.parametrize("line", HARD, ids=[line["id"] for line in HARD])
def test_every_hard_pattern_is_done_or_stopped_in_time(line: dict[str, Any]) -> None:
    with running(OwnPattern("hard", line["pattern"]), field_s=FIELD_S) as runner:
        start = time.monotonic()
        made = runner.redact(line["text"])
        assert time.monotonic() - start < 6
    stopped = made == marker("hard")
    assert stopped or made.replace(marker("hard"), "") in line["text"] or runner.faults


def test_patterns_put_their_marks() -> None:
    with running(OwnPattern("tck", "TCK-[0-9]+"), OwnPattern("red", "redacted|x+")) as runner:
        assert (
            runner.redact("a TCK-1 xx TCK-22")
            == f"a {marker('tck')} {marker('red')} {marker('tck')}"
        )


def test_a_field_that_takes_too_long_is_dropped() -> None:
    with running(EVIL, OwnPattern("tck", "TCK"), field_s=FIELD_S) as runner:
        assert runner.redact(EVIL_TEXT) == marker("evil")


def test_after_three_times_the_pattern_is_not_tried_again() -> None:
    with running(EVIL, field_s=FIELD_S) as runner:
        for _ in range(3):
            assert runner.redact(EVIL_TEXT) == marker("evil")
        assert "evil" in runner.faults["evil"]
        assert runner.redact(EVIL_TEXT) == EVIL_TEXT


def test_the_others_go_on() -> None:
    with running(EVIL, OwnPattern("tck", "TCK"), field_s=1) as runner:
        for _ in range(3):
            runner.redact(EVIL_TEXT)
        assert runner.redact(f"TCK {EVIL_TEXT}") == f"{marker('tck')} {EVIL_TEXT}"


def test_a_pattern_that_is_none_is_named() -> None:
    with running(OwnPattern("bad", "("), OwnPattern("tck", "TCK")) as runner:
        assert runner.redact("( TCK") == f"( {marker('tck')}"
        assert "no valid pattern" in runner.faults["bad"]


def test_empty_matches_change_nothing() -> None:
    with running(OwnPattern("empty", "x*")) as runner:
        assert runner.redact("abc") == "abc"


def test_text_of_any_kind_is_taken() -> None:
    text = "\ud800 \x00 \n\r\u2028 \U0001f600"
    with running(OwnPattern("tck", "TCK")) as runner:
        assert runner.redact(text) == text


def test_a_closed_runner_begins_anew() -> None:
    with running(OwnPattern("tck", "TCK")) as runner:
        assert runner.redact("TCK") == marker("tck")
        runner.close()
        assert runner.redact("TCK") == marker("tck")


@pytest.mark.parametrize("value", [None, 5, "x", {"name": "a", "regex": "b"}])
def test_a_setting_that_is_no_list(value: Any) -> None:
    good, faults = declared(value)
    assert good == []
    assert len(faults) == 1


def test_entries_are_checked_one_by_one() -> None:
    value = [
        {"name": "a", "regex": "b"},
        {"name": "<x>", "regex": "b"},
        {"name": "c", "regex": "d" * 3_000},
    ]
    good, faults = declared(value)
    assert good == [OwnPattern("a", "b")]
    assert [fault.split()[2] for fault in faults] == ["2", "3"]
