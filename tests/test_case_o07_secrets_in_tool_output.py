"""Case O07: credentials echoed by tools, as far as the cleaning and the spool go.

Step 2's observer with a model comes with the providers; what an observer makes goes
through the same cleaner.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest

from claude_mem_core.clean import vendor
from tests.hook_home import HookHome, hook_home, lines

OUTPUTS = lines("O07-secrets-in-tool-output", "outputs.jsonl")
SECRETS = [line for line in OUTPUTS if "secret" in line]
CONTROLS = [line for line in OUTPUTS if line.get("control") and "out" in line]
(REPEATED,) = [line for line in OUTPUTS if "repeat" in line]


@pytest.fixture(scope="module")
def home() -> Iterator[HookHome]:
    with hook_home() as made:
        yield made


def events(text: str) -> list[tuple[str, dict[str, Any]]]:
    """The three ways that the text may come in."""
    ids = {"session_id": "s1", "cwd": "/home/u/place"}
    return [
        ("PostToolUse", {**ids, "tool_name": "Bash", "tool_response": {"stdout": text}}),
        ("PostToolUse", {**ids, "tool_name": "Bash", "tool_input": {"command": text}}),
        ("UserPromptSubmit", {**ids, "prompt": text}),
    ]


@pytest.mark.parametrize("line", SECRETS, ids=[line["name"] for line in SECRETS])
def test_each_secret(home: HookHome, line: dict[str, Any]) -> None:
    for event, payload in events(line["out"]):
        home.run(event, payload)
        written = home.records()[-1][1].decode()
        assert all(keep in written for keep in line["keep"])
        assert "<redacted type='" in written
    everything = home.everything()
    for form in (line["secret"], json.dumps(line["secret"])[1:-1]):
        assert form.encode() not in everything


@pytest.mark.parametrize("line", CONTROLS, ids=[line["name"] for line in CONTROLS])
def test_each_control(home: HookHome, line: dict[str, Any]) -> None:
    assert vendor.redact(line["out"]) == line["out"]
    for event, payload in events(line["out"]):
        home.run(event, payload)
        assert json.loads(home.records()[-1][1]) == payload


def test_two_megabytes_of_near_misses() -> None:
    """Over a million units only the ends are kept (CAP-088); these are unchanged."""
    text = REPEATED["repeat"]["unit"] * REPEATED["repeat"]["times"]
    start = time.process_time()
    made = vendor.redact(text)
    assert time.process_time() - start < 1
    head, found, tail = made.partition(vendor.marker("oversize"))
    assert found
    assert text.startswith(head)
    note, _, tail = tail.partition("]")
    assert re.fullmatch(r"\[\d{7} characters left out", note)
    assert text.endswith(tail)
    assert min(len(head), len(tail)) > 25_000
    assert vendor.redact(text[:900_000]) == text[:900_000]
