"""Case O02: unpaired surrogates and control characters, the hook's part of it.

Steps 1 and 3 need the worker and are tested with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.hook_home import CASES, HookHome, case, hook_home, stand_in

FOLDER = "O02-lone-surrogates"
NAMES = sorted(path.name for path in (CASES / FOLDER).glob("[0-9]*.json"))


@pytest.fixture
def home() -> Iterator[HookHome]:
    with hook_home() as made:
        yield made


def test_there_are_five() -> None:
    assert len(NAMES) == 5


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_lost_on_either_way(home: HookHome, name: str) -> None:
    payload = case(FOLDER, name)
    with stand_in(home) as worker:
        assert home.run("PostToolUse", payload).code == 0
    assert worker.requests[0].body == payload
    down = home.run("PostToolUse", payload)
    assert (down.code, down.err) == (0, b"")
    body = home.record()[1]
    body.decode("utf-8")  # strictly
    assert json.loads(body) == json.loads(payload)
