"""The small parts of recall: dates, keys, words, text from outside that gives orders."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from claude_mem_core.errors import InvalidInput
from claude_mem_core.recall import dates, words
from claude_mem_core.recall.filters import covering
from claude_mem_core.recall.lengths import varints
from claude_mem_core.recall.paint import painted
from claude_mem_core.recall.records import parse_key
from claude_mem_core.recall.suspicion import instruction_like
from claude_mem_core.recall.units import units
from claude_mem_core.types import DocKind

INJECTIONS = (
    Path(__file__).parent / "cases" / "security" / "open" / "prompt_injection_corpus.json"
)
# Advice, reports, and what the fence alone makes harmless.
QUIET = {"p19", "p28", "p29", "p31", "p38"}


@pytest.fixture(autouse=True)
def new_york(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_times_as_they_are_shown() -> None:
    noon = dates.parse("2026-10-05T12:05:00-04:00")
    assert dates.heading(noon) == "Oct 5, 2026"
    assert (dates.clock(noon), dates.clock_long(noon)) == ("12:05p", "12:05 PM")
    assert dates.clock(dates.parse("2026-10-05T00:30")) == "12:30a"
    assert (dates.day(noon), dates.minute(noon)) == ("2026-10-05", "2026-10-05 12:05")
    assert dates.heading(-5) == "Dec 31, 1969"
    assert dates.heading(1 << 62).endswith("9999")


def test_times_as_they_are_typed() -> None:
    day = 86_400_000
    begin, end = dates.parse("2026-03-08"), dates.parse("2026-03-08", end=True)
    assert end - begin == day - 3_600_000 - 1  # the clocks go forward on that day
    assert dates.parse("2026-01-01T00:00:00Z") == 1_767_225_600_000
    assert dates.parse(" 1767225600000 ") == 1_767_225_600_000


@pytest.mark.parametrize(
    "text", ["", "soon", "2026-13-01", "12", "2026-02-30T25:00", "0000-00-00"]
)
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(InvalidInput, match="is no date"):
        dates.parse(text)


def test_keys() -> None:
    assert parse_key("12") == parse_key(" #12 ") == (DocKind.OBSERVATION, 12)
    assert parse_key("s4") == parse_key("#S4") == (DocKind.SUMMARY, 4)
    assert parse_key("P7") == (DocKind.PROMPT, 7)
    for text in ("", "x", "S", "-1", "1.5", "9" * 40, "12 13"):
        with pytest.raises(InvalidInput):
            parse_key(text)


def test_days_are_covered_by_the_fewest_tokens() -> None:
    found = list(covering(date(2024, 11, 29), date(2026, 2, 2)))
    letters = [token[1] for token in found]
    assert letters == ["d", "d", "m", "y", "m", "d", "d"]
    assert list(covering(date(2026, 1, 2), date(2026, 1, 1))) == []


def test_words_of_a_query() -> None:
    found = units("The foo-bar  foo-bar C++ 缓存键 键x *")
    assert [unit.text for unit in found] == ["The", "foo-bar", "C++", "缓存 存键", "键", "x"]
    assert [unit.parts for unit in found[:2]] == [("The",), ("foo", "bar")]
    assert [unit.common for unit in found[:2]] == [True, False]
    assert [bool(unit.ident) for unit in found[:3]] == [False, False, True]


def test_no_text_can_forge_a_token() -> None:
    assert words.normal("\ue000p1 \U000f0000x") == "p1 x"
    assert words.scope("t", "security_alert") != words.scope("t", "securityalert")
    assert words.scope("c", "How-It") == words.scope("c", "how-it")


@pytest.mark.parametrize(
    "text",
    ["a" * 100_000, "aB" * 50_000, "+a" * 50_000, "=" * 100_000, "键" * 50_000, "-a " * 40_000],
)
def test_words_take_linear_time(text: str) -> None:
    began = time.process_time()
    words.idents(words.normal(text))
    words.long_words(words.spaced(text))
    units(text)
    assert time.process_time() - began < 2


def test_numbers_of_an_index_record() -> None:
    assert varints(b"") == []
    assert varints(bytes([5, 0x81, 0x00, 0x7F])) == [5, 128, 127]


def test_orders_from_outside_are_known() -> None:
    cases = json.loads(INJECTIONS.read_text("utf-8"))
    missed = {case["id"] for case in cases if not instruction_like(case["text"])}
    assert missed <= QUIET


@pytest.mark.parametrize(
    "text",
    [
        "The page explains how HTTP caching works with ETag and max-age",
        "httpx follows redirects only when follow_redirects is set",
        "Release notes of pluggy 1.7: wrapper hooks replace hookwrapper",
        "Django's system check framework reports errors at start",
        "Stack Overflow: the user agent header is missing",
        "README says: tests run with `make test`",
    ],
)
def test_reports_from_outside_are_no_orders(text: str) -> None:
    assert not instruction_like(text)


def test_colours_change_nothing_but_colours() -> None:
    text = '<claude-mem-context id="x">\n# [a] b\n**1 2p x**\n| y\nS1 2p z\nplain\n</claude-mem-context>'
    import re

    assert re.sub("\x1b\\[[0-9;]*m", "", painted(text)) == text.replace("**", "")
