"""The core's own plugins pass the suites that every plugin author inherits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from claude_mem_core.testing import (
    ObserverContract,
    RedactorContract,
    SearchBackendContract,
)


class TestObserver(ObserverContract):
    plugin = "observer.builtin"


class TestSearch(SearchBackendContract):
    plugin = "search.keyword"


class TestRedactor(RedactorContract):
    plugin = "redactor.secrets"
    secrets: ClassVar[Mapping[str, str]] = {
        "AWS_ACCESS_KEY_ID=" + "AKIA" + "Q3EGRIN5CWXYZABC": "AKIA" + "Q3EGRIN5CWXYZABC",
        "token: ghp_" + "A1b2C3d4" * 4 + "E5f6": "ghp_" + "A1b2C3d4" * 4 + "E5f6",
    }
    harmless: ClassVar[Sequence[str]] = [
        "the token budget is 2,000",
        "def password_field(): ...",
        "a" * 40,
    ]
