"""Events to JSON and back, and JSON from outside within bounds."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_mem_core.convert import (
    dumps,
    event_from_json,
    event_to_json,
    json_loads_bounded,
    safe_text,
)
from claude_mem_core.errors import InvalidInput
from claude_mem_core.types import Event, EventKind, StartSource, ToolUse

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def event(**fields: Any) -> Event:
    return Event(kind=EventKind.TOOL_USED, host="claude-code", session_id="s1", **fields)


def test_an_event_comes_back_as_it_was() -> None:
    tool = ToolUse(name="Bash", input={"command": "ls"}, output=["ü", 1, None, 2.5], error="")
    whole = event(tool=tool, source=StartSource.FORK, extra={"a": {"b": [True]}}, at_ms=7)
    assert event_from_json(event_to_json(whole)) == whole


def test_empties_are_left_out() -> None:
    assert json.loads(event_to_json(event(tool=ToolUse(name="Read")))) == {
        "kind": "tool_used",
        "host": "claude-code",
        "session_id": "s1",
        "tool": {"name": "Read"},
    }


def test_a_field_of_a_newer_version_is_passed_over() -> None:
    text = '{"kind":"notice","host":"h","session_id":"s","mood":"good"}'
    assert event_from_json(text).kind is EventKind.NOTICE


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]", "kind"),
        ("{}", "required field missing @ \\$.kind"),
        ('{"kind":"x","host":"h","session_id":"s"}', "expected EventKind @ \\$.kind"),
        ("{", "not JSON"),
    ],
)
def test_what_is_no_event_says_why(text: str, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        event_from_json(text)


@given(JSON)
def test_any_value_leaves_as_valid_utf8_without_nul(value: Any) -> None:
    text = event_to_json(event(tool=ToolUse(name="T", input=value)))
    assert "\\u0000" not in json.dumps(json.loads(text.encode("utf-8")))
    assert event_from_json(text).kind is EventKind.TOOL_USED


@pytest.mark.parametrize(
    ("given_", "kept"),
    [
        ("cut \ud83d", "cut \ufffd"),
        ("\udc00\ud800 swapped", "\ufffd\ufffd swapped"),
        ("\U0001f600 whole", "\U0001f600 whole"),
        ("a\0b", "ab"),
        ("a\0\udfffä", "a\ufffdä"),
        ("tab\t\x1b", "tab\t\x1b"),
    ],
)
def test_only_what_cannot_be_stored_is_changed(given_: str, kept: str) -> None:
    assert safe_text(given_) == kept
    assert json.loads(dumps({given_: [given_]})) == {kept: [kept]}


def test_an_event_at_the_depth_limit_comes_back() -> None:
    value = json_loads_bounded("[" * 64 + "]" * 64, 1000)
    whole = event(tool=ToolUse(name="T", input=value))
    assert event_from_json(event_to_json(whole)) == whole


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"[" * 65 + b"]" * 65, "deeper than 64"),
        (b"{" * 65, "deeper than 64"),
        (b"[NaN]", "NaN"),
        (b"[-Infinity]", "Infinity"),
        (b"[1e999]", "too large"),
        (b"1" * 101, "over 100 digits"),
        (b'{"a":\xff}', "not UTF-8 at byte 5"),
        (b'{\n"a" 1}', "line 2 column 5"),
        (b"", "not JSON"),
        (b'"abc', "not JSON"),
        (b" " * 201, "at most 200"),
        ("ü" * 101, "at most 200"),
    ],
)
def test_hostile_json_is_refused(data: bytes | str, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        json_loads_bounded(data, 200)


def test_brackets_and_digits_inside_strings_do_not_count() -> None:
    text = json.dumps({"\\": "[" * 99, 'a"[': "9" * 150 + '\\"{'})
    assert json_loads_bounded(b"\xef\xbb\xbf" + text.encode(), 1000) == json.loads(text)


@given(JSON)
def test_whatever_json_takes_is_taken(value: Any) -> None:
    text = dumps(value)
    assert json_loads_bounded(text, 10**6) == json.loads(text)


@pytest.mark.parametrize(
    "unit", ["[", '"', '\\"', '"\\', "[]", '{"a":', "[1,", "9", "\\", '"a\\\\']
)
def test_the_time_is_linear(unit: str) -> None:
    def cost(size: int) -> float:
        text = '["' + unit * (size // len(unit)) + "\\"
        began = time.process_time()
        with pytest.raises(InvalidInput):
            json_loads_bounded(text, 10**8)
        return time.process_time() - began

    small = min(cost(50_000) for _ in range(3))
    assert min(cost(800_000) for _ in range(2)) < 16 * small * 4 + 0.05


def test_importing_it_does_not_load_cattrs() -> None:
    code = "import sys, claude_mem_core.convert; print('cattrs' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
