"""Privacy fuzz of the door: what is private is in no file, whatever the payload."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claude_mem_core.clean import entropy, tags, values, vendor
from claude_mem_core.hook import policy
from tests.hook_home import HookHome, hook_home

MARK = "wolfkeymarker"
EVENTS = ["SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "odd \x1b name"]

OPENINGS = ["<private>", "<PRIVATE>", "< private\n>", '<private why="a > b">', "\uff1cprivate\uff1e",
            "<pri\u200bvate>", "\\u003cprivate\\u003e"]  # fmt: skip
CLOSINGS = ["</private>", "</Private>", "</ private >", "<\\/private>", ""]
WORDS = st.text(alphabet="abc <>&\"'\\/\n\x1e\u200b\U0001f600\ud83d", max_size=20)


@st.composite
def regions(draw: st.DrawFn) -> str:
    """Text with one private region, at times nested, at times never closed."""
    inner = MARK
    if draw(st.booleans()):
        inner = f"<private>{draw(WORDS)}</private>{MARK}"
    region = draw(st.sampled_from(OPENINGS)) + inner + draw(st.sampled_from(CLOSINGS))
    # What stands before must not itself end in half a tag that swallows the opening one.
    return draw(st.text(alphabet="abc \n", max_size=10)) + region


VALUES = st.recursive(
    regions() | WORDS | st.integers() | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(regions() | st.text(max_size=6), inner, max_size=3)
        | inner.map(json.dumps)
    ),
    max_leaves=10,
)
PAYLOADS = st.dictionaries(
    st.sampled_from(["session_id", "cwd", "prompt", "tool_input", "tool_response", "tool_name"])
    | regions(),
    VALUES,
    max_size=5,
)


@pytest.fixture(scope="module")
def home() -> Iterator[HookHome]:
    with hook_home() as made:
        yield made


MODULES = {"tags": tags, "vendor": vendor, "values": values, "entropy": entropy}


def fuzzed(examples: int) -> settings:
    """More of them with MEM_FUZZ=10."""
    return settings(
        max_examples=examples * int(os.environ.get("MEM_FUZZ", "1")),
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )


def encoded(payload: dict[str, Any], ascii_only: bool) -> bytes:
    text = json.dumps(payload, ensure_ascii=ascii_only)
    return text.encode("utf-8", "surrogatepass")


@fuzzed(400)
@given(PAYLOADS, st.booleans())
def test_the_door_lets_no_private_text_through(
    payload: dict[str, Any], ascii_only: bool
) -> None:
    """The very code that the hook runs before it writes."""
    call: Any = SimpleNamespace(
        data="/nonexistent", body=encoded(payload, ascii_only), cwd="", env={}
    )
    _, kept = policy.judge(call, MODULES.__getitem__)
    assert MARK.encode() not in kept
    assert not kept or json.loads(kept) is not None


def deliver(home: HookHome, event: str, payload: bytes, rules: int) -> None:
    for path in home.paths.spool.glob("*"):
        path.unlink()
    if rules:
        home.rules(excluded=("abc",), paused=rules == 2)
    else:
        home.paths.edge.unlink(missing_ok=True)
    ran = home.run(event, payload)
    assert (ran.code, ran.err) == (0, b"")
    assert len(home.records()) == 1
    assert MARK.encode() not in home.everything()
    assert MARK.encode("utf-16-le") not in home.everything()


@fuzzed(25)
@given(st.sampled_from(EVENTS), PAYLOADS, st.integers(0, 2), st.booleans())
def test_private_text_is_in_no_file(
    home: HookHome, event: str, payload: dict[str, Any], rules: int, ascii_only: bool
) -> None:
    deliver(home, event, encoded(payload, ascii_only), rules)


@fuzzed(15)
@given(st.binary(max_size=20), regions(), st.binary(max_size=20))
def test_also_when_the_payload_is_no_document(
    home: HookHome, before: bytes, region: str, after: bytes
) -> None:
    deliver(home, "Stop", before + region.encode("utf-8", "surrogatepass") + after, 0)
