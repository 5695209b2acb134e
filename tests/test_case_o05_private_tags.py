"""Case O05: private regions, as far as the cleaning and the spool go.

Step 1 and 2 with the worker down; step 3 searches every file of the data directory. The
same strings through the worker and its database are tested with the journal.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from claude_mem_core.clean import tags
from tests.hook_home import HookHome, case, hook_home, lines

FOLDER = "O05-private-tags"
STRINGS = lines(FOLDER, "strings.jsonl")
SECRETS = [f"wolf-key-{number}" for number in range(31, 35)]


@pytest.fixture(scope="module")
def home() -> Iterator[HookHome]:
    with hook_home() as made:
        yield made


def text_of(line: dict[str, Any]) -> str:
    repeat = line.get("repeat")
    return repeat["unit"] * repeat["times"] if repeat else str(line["text"])


def forms(secret: str) -> list[bytes]:
    """The secret as it may lie in a file."""
    plain = secret.encode()
    return [plain, secret.encode("utf-16-le"), base64.b64encode(plain).rstrip(b"=")[:-1]]


@pytest.mark.parametrize("line", STRINGS, ids=[line["name"] for line in STRINGS])
def test_each_line(home: HookHome, line: dict[str, Any]) -> None:
    text = text_of(line)
    start = time.process_time()
    left = tags.strip(text)
    assert time.process_time() - start < 4  # a quadratic strip takes minutes
    if line["keep"] is not None:
        assert " ".join(left.split()) == line["keep"]
    event = {"session_id": line["name"], "hook_event_name": "UserPromptSubmit", "prompt": text}
    ran = home.run("UserPromptSubmit", event)
    assert (ran.code, ran.err) == (0, b"")
    written = json.loads(home.records()[-1][1])["prompt"]
    assert written == left
    if line["secret"]:  # the lines with `should` too
        assert not any(form in home.everything() for form in forms(line["secret"]))


@pytest.mark.parametrize(
    ("name", "event"),
    [
        ("tool-write.json", "PostToolUse"),
        ("tool-read.json", "PostToolUse"),
        ("tool-escaped.json", "PostToolUse"),
        ("stop.json", "Stop"),
    ],
)
def test_each_payload(home: HookHome, name: str, event: str) -> None:
    home.run(event, case(FOLDER, name))
    found = home.everything()
    assert b"keep-3" in home.records()[-1][1]
    for secret in SECRETS:
        assert not any(form in found for form in forms(secret))
