"""Case O19: settings files people really have, with a worker that has to start on each.

What is read of each file, and the writing at the same moment, is in
`test_case_o19_settings_files.py`.
"""

from __future__ import annotations

import json

import pytest

from tests.case_home import Played, played
from tests.test_case_o19_settings_files import READ, laid

KEY = "sk-ant-api03-FAKE_fake-FAKE_fake-FAKE_fake-0123456789"
MORE = {
    "a number": b"7",
    "true": b"true",
    "blank": b" \n\t ",
    "a key without a value": b'{"CLAUDE_MEM_MODE"',
    "binary": bytes(range(256)),
    "wide without a mark": '{"CLAUDE_MEM_LOG_LEVEL": "DEBUG"}'.encode("utf-16-le"),
    "nested too deep": b'{"a":' * 3_000,
    "a merge conflict": b'{\n<<<<<<< HEAD\n"CLAUDE_MEM_MODE": "code"\n=======\n>>>>>>> x\n}',
    "null values": b'{"CLAUDE_MEM_LOG_LEVEL": null, "CLAUDE_MEM_CONTEXT_OBSERVATIONS": null}',
    "huge numbers": b'{"CLAUDE_MEM_CONTEXT_OBSERVATIONS": 1e999, "CLAUDE_MEM_LOG_LEVEL": -1}',
    "an object for a text": b'{"CLAUDE_MEM_LOG_LEVEL": {"a": 1}}',
    "shell form": b"CLAUDE_MEM_LOG_LEVEL=DEBUG\n",
    "a credential in a broken file": b'{"CLAUDE_MEM_GEMINI_API_KEY": "%s", oops' % KEY.encode(),
}  # fmt: skip


def lives_with_it(home: Played, *, writable: bool | None) -> None:
    """Steps of the case: start, a prompt, what is in effect, a change, stop."""
    before = home.paths.settings.read_bytes()
    home.start()
    home.hook(home.payload("UserPromptSubmit", prompt="still here"))
    assert home.prompts() == ["still here"]
    shown = home.mem("config", "list", "--json", check=False).stdout
    assert json.loads(shown)
    changed = home.mem("config", "set", "context-session-count", "7", check=False)
    after = home.paths.settings.read_bytes()
    if writable is False or changed.returncode:
        assert changed.returncode
        assert str(home.paths.settings) in changed.stderr
        assert after == before
        assert "Traceback" not in changed.stderr
    else:
        got = home.mem("config", "get", "context-session-count", check=False).stdout
        assert "7" in got
    status = home.mem("status", check=False)
    for text in (shown, changed.stderr, changed.stdout, status.stdout, home.logs()):
        assert KEY not in text
    home.stop()
    home.is_sound()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "_", "warnings", "written"), READ, ids=[r[0] for r in READ])
def test_o19_the_worker_starts_and_records(
    name: str, _: object, warnings: int, written: bool
) -> None:
    with played(running=False) as home:
        laid(home.paths, name)
        lives_with_it(home, writable=written)


@pytest.mark.slow
@pytest.mark.parametrize("name", MORE)
def test_o19_more_of_the_kind(name: str) -> None:
    with played(running=False) as home:
        home.paths.settings.write_bytes(MORE[name])
        home.paths.settings.chmod(0o600)
        lives_with_it(home, writable=None)


@pytest.mark.slow
def test_o19_a_broken_file_is_told_once_at_the_session_s_start() -> None:
    with played(running=False) as home:
        laid(home.paths, "13-truncated.json")
        home.start()
        told = [
            json.loads(home.hook(home.payload("SessionStart", f"s-{n}", source="startup")).out)
            for n in range(3)
        ]
        said = [
            one["systemMessage"] for one in told if "settings" in one.get("systemMessage", "")
        ]
        assert len(said) == 1
        assert f"{home.paths.settings}:4" in said[0]
        assert "\n" not in said[0]
