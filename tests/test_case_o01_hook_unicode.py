"""Case O01: hook input under any locale, as far as the hook goes.

What reaches the worker and what lies in the spool is the text, code point for code point.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

import pytest

from tests.hook_home import CASES, HookHome, case, hook_home, stand_in

FOLDER = "O01-hook-unicode-any-locale"
EXPECT = json.loads((CASES / FOLDER / "expect.json").read_text("utf-8"))
LOCALES = [
    {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"PYTHONIOENCODING": "cp932"},
    {"PYTHONIOENCODING": "cp1252"},
    {"LC_ALL": "en_US.ISO-8859-1"},
]


@pytest.fixture
def home() -> Iterator[HookHome]:
    with hook_home() as made:
        yield made


def text_of(payload: bytes) -> str:
    value = json.loads(payload)
    return str(value.get("prompt") or value["tool_response"]["stdout"])


@pytest.mark.parametrize("env", LOCALES, ids=["C", "cp932", "cp1252", "latin-1"])
@pytest.mark.parametrize("name", EXPECT)
def test_the_text_arrives_as_it_was(home: HookHome, name: str, env: dict[str, str]) -> None:
    payload = case(FOLDER, name)
    event = json.loads(payload)["hook_event_name"]
    with stand_in(home, "ok é\n".encode()) as worker:
        ran = home.run(event, payload, env=env)
    down = home.run("PostToolUse", payload, env=env)
    for done in (ran, down):
        assert (done.code, done.err) == (0, b"")
        assert done.seconds < 5
    assert ran.out == "ok é\n".encode()
    for body in (worker.requests[0].body, home.record()[1]):
        text = text_of(body)
        assert hashlib.sha256(text.encode()).hexdigest() == EXPECT[name]["sha256_utf8"]
        assert "\ufffd" not in text
        assert EXPECT[name]["search"] in text
