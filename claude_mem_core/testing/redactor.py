"""The contract of redactors: text in, text out, in linear time.

class TestMine(RedactorContract):
    plugin = "redactor.mine"
    secrets = {"token = abc-123456": "abc-123456"}
    harmless = ["a sentence about a token"]
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import pytest

from claude_mem_core.testing.offer import RecordContract
from claude_mem_core.types import Redactor

Filter = Callable[[str], str]

# One megabyte of each; a filter that goes back and forth takes minutes for some.
BOMBS = {
    "one letter": "a" * 1_000_000,
    "spaces": " " * 1_000_000,
    "lines": "\n" * 1_000_000,
    "assignments": "key=" * 250_000,
    "quotes": "'\"" * 500_000,
    "dashes": "-----BEGIN " * 90_000,
    "words": "secret token password " * 45_000,
    "addresses": "a@" * 500_000,
    "url": "http://" + "a:" * 500_000,
}
SECONDS = 5.0


class RedactorContract(RecordContract[Redactor]):
    """Inherit and give texts.

    Attributes:
        secrets: texts with the part of each that must be gone.
        harmless: texts that must come back as they were.
    """

    hook: ClassVar[str] = "mem_redactors"
    kind: ClassVar[type[Any]] = Redactor
    secrets: ClassVar[Mapping[str, str]] = {}
    harmless: ClassVar[Sequence[str]] = ()

    @pytest.fixture
    def redact(self, record: Redactor, values: Mapping[str, Any]) -> Filter:
        """The filter, opened."""
        return record.open(values)

    def test_secrets_are_gone_wherever_they_stand(self, redact: Filter) -> None:
        assert self.secrets, "give at least one text with a secret"
        for text, secret in self.secrets.items():
            for placed in (text, f"before\n{text}\nafter", f"{text}\r\n" * 3):
                assert secret not in redact(placed), text

    def test_the_text_around_stays(self, redact: Filter) -> None:
        for text in self.secrets:
            cleaned = redact(f"a line before\n{text}\na line after")
            assert cleaned.startswith("a line before\n")
            assert cleaned.endswith("\na line after")

    def test_harmless_text_comes_back_as_it_was(self, redact: Filter) -> None:
        for text in ("", "\n", "ümlaut 漢字 \U0001f600", *self.harmless):
            assert redact(text) == text

    def test_redacting_twice_changes_nothing_more(self, redact: Filter) -> None:
        for text in self.secrets:
            once = redact(text)
            assert redact(once) == once

    def test_odd_text_is_no_error(self, redact: Filter) -> None:
        for text in ("\0", "\ud800", "\x1b[31m", "\u202e", "<<<>>>", "a" * 70_000):
            assert isinstance(redact(text), str)

    @pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS.keys())
    def test_a_megabyte_takes_linear_time(self, redact: Filter, text: str) -> None:
        start = time.process_time()
        redact(text)
        assert time.process_time() - start < SECONDS
