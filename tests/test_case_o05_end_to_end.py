"""Cases O05 and O07 through the worker: nothing private, no credential, in any file.

What the cleaning and the spool do by themselves is in `test_case_o05_private_tags.py` and
`test_case_o07_secrets_in_tool_output.py`; what a provider is sent, and an observer's own
reply, come with the providers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.case_home import Played, played
from tests.hook_home import case, lines
from tests.test_case_o05_private_tags import SECRETS as IN_PAYLOADS
from tests.test_case_o05_private_tags import STRINGS, forms, text_of
from tests.test_case_o07_secrets_in_tool_output import CONTROLS, events
from tests.test_case_o07_secrets_in_tool_output import SECRETS as CREDENTIALS

O05 = "O05-private-tags"


@pytest.fixture(scope="module")
def home() -> Iterator[Played]:
    with played() as made:
        yield made


def stored(home: Played, session: str) -> list[str]:
    sql = "SELECT prompt_text FROM user_prompts WHERE content_session_id = ?"
    return [row[0] for row in home.rows(sql, session)]


@pytest.mark.slow
def test_o05_every_line_is_stored_as_what_is_kept_of_it(home: Played) -> None:
    assert lines(O05, "strings.jsonl") == STRINGS
    for line in STRINGS:
        home.hook(home.payload("UserPromptSubmit", line["name"], prompt=text_of(line)))
    for name, event in (
        ("tool-write.json", "PostToolUse"), ("tool-read.json", "PostToolUse"),
        ("tool-escaped.json", "PostToolUse"), ("stop.json", "Stop"),
    ):  # fmt: skip
        home.hook(case(O05, name), event)
    home.settle()
    for line in STRINGS:
        if line["keep"] is not None:
            kept = [" ".join(text.split()) for text in stored(home, line["name"])]
            assert kept == ([line["keep"]] if line["keep"] else []), line["name"]
    used = "".join(
        row[0] for row in home.rows("SELECT tool_input || tool_response FROM tool_uses")
    )
    assert "keep-3" in used
    home.search("wolf")
    home.begin("later")
    found = home.hooks.everything()
    secrets = [*IN_PAYLOADS, *(line["secret"] for line in STRINGS if line["secret"])]
    assert not [s for s in secrets if any(form in found for form in forms(s))]
    home.is_sound()


@pytest.mark.slow
def test_o05_a_wholly_private_turn_leaves_nothing_of_itself(home: Played) -> None:
    """Its tools and its answer are the user's private matter as well."""
    session = "private turn"
    home.hook(
        home.payload("UserPromptSubmit", session, prompt="<private>wolf-key-90</private>")
    )
    used = {
        "tool_input": {"command": "cat wolf-key-91"},
        "tool_response": {"stdout": "wolf-key-92"},
    }
    home.hook(home.payload("PostToolUse", session, tool_name="Bash", tool_use_id="p1", **used))
    home.hook(home.payload("Stop", session, last_assistant_message="It said wolf-key-93."))
    home.hook(
        home.payload("UserPromptSubmit", session, prompt="and now in the open wolfless-94")
    )
    home.settle()
    assert stored(home, session) == ["and now in the open wolfless-94"]
    assert b"wolf-key-9" not in home.hooks.everything()


def delivered(home: Played, line: dict[str, Any], number: int) -> None:
    for way, (event, payload) in enumerate(events(line["out"])):
        session = f"{line['name']}-{way}"
        ids = {"session_id": session, "cwd": str(home.place), "hook_event_name": event}
        home.hook({**payload, **ids, "tool_use_id": f"u{number}-{way}"}, event)


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_o07_no_credential_is_in_any_file_and_the_rest_survives() -> None:
    with played() as home:
        for number, line in enumerate([*CREDENTIALS, *CONTROLS]):
            delivered(home, line, number)
        home.settle()
        home.begin("later")
        everything = home.hooks.everything()
        for line in CREDENTIALS:
            for form in (line["secret"], json.dumps(line["secret"])[1:-1]):
                assert form.encode() not in everything, line["name"]
            (prompt,) = stored(home, f"{line['name']}-2")
            assert all(keep in prompt for keep in line["keep"]), line["name"]
            assert "<redacted type='" in prompt
        for line in CONTROLS:
            assert stored(home, f"{line['name']}-2") == [line["out"]], line["name"]
        home.is_sound()
