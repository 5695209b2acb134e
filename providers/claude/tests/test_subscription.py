"""By subscription: a stand-in for Claude Code says what the real one was recorded saying.

The real program is driven in the end-to-end tests.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from claude_mem_provider_claude import lacks, open_model
from claude_mem_provider_claude.events import failure_of, read, windows_of

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.providing.programs import Ran
from claude_mem_core.providing.replied import as_one
from claude_mem_core.types import Message, Reply

USAGE = {"input_tokens": 100, "cache_read_input_tokens": 40, "output_tokens": 20}
ANSWER = {
    "type": "result", "subtype": "success", "is_error": False, "api_error_status": None,
    "result": "hi there", "stop_reason": "end_turn", "usage": USAGE,
}  # fmt: skip
LIMITS = {
    "status": "allowed_warning", "resetsAt": 1796108077, "rateLimitType": "five_hour",
    "utilization": 0.97, "isUsingOverage": False,
    "unifiedWindows": {
        "five_hour": {"utilization": 0.97, "resetsAt": 1796108077, "status": "allowed_warning"},
        "seven_day": {"utilization": 0.5, "resetsAt": 1796464477, "status": "allowed"},
    },
}  # fmt: skip
PROGRAM = """#!{python}
import json, os, sys, time
told = {{"argv": sys.argv[1:], "stdin": sys.stdin.read(), "env": dict(os.environ),
        "cwd": os.getcwd()}}
told["system"] = open(sys.argv[sys.argv.index("--system-prompt-file") + 1]).read()
json.dump(told, open({note!r}, "w"))
{more}
for line in {lines!r}:
    print(line)
sys.exit({code})
"""


class StandIn:
    """A program in Claude Code's place that notes how it was run."""

    def __init__(self, folder: Path) -> None:
        self.path, self._note, self.data = folder / "claude", folder / "note", folder / "data"

    def says(self, *events: dict[str, Any], more: str = "", code: int = 0) -> StandIn:
        lines = ["no json", *(json.dumps(event) for event in events), "[]"]
        note = str(self._note)
        words = {"python": sys.executable, "note": note, "lines": lines}
        self.path.write_text(PROGRAM.format(**words, more=more, code=code))
        self.path.chmod(0o700)
        return self

    @property
    def told(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._note.read_text())
        return found

    def asked(self, *messages: Message, **settings: Any) -> Reply:
        model = open_model({
            "CLAUDE_MEM_CLAUDE_PATH": str(self.path),
            "CLAUDE_MEM_DATA_DIR": str(self.data),
            **settings,
        })  # fmt: skip
        said = messages or (Message(role="user", text="hello"),)
        return anyio.run(lambda: model.reply("Be brief.", said, max_tokens=64))


@pytest.fixture
def claude(tmp_path: Path) -> StandIn:
    return StandIn(tmp_path)


def test_an_answer_with_its_usage_and_windows(claude: StandIn) -> None:
    message = {"model": "claude-haiku-4-5-20251001"}
    claude.says(
        {"type": "assistant", "message": message},
        {"type": "rate_limit_event", "rate_limit_info": LIMITS},
        ANSWER,
    )
    reply = claude.asked()
    assert (reply.text, reply.stop, reply.model) == (
        "hi there", "end_turn", "claude-haiku-4-5-20251001",
    )  # fmt: skip
    usage = reply.usage
    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (140, 40, 20)
    five, seven = reply.windows
    assert (five.name, five.used, five.resets_at_ms) == ("five_hour", 0.97, 1796108077000)
    assert (seven.name, seven.rejected) == ("seven_day", False)


def test_nothing_of_the_shell_reaches_it(
    claude: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = (
        "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDECODE",
        "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_EFFORT_LEVEL", "NODE_OPTIONS", "HTTPS_PROXY",
    )  # fmt: skip
    for name in planted:
        monkeypatch.setenv(name, "planted")
    claude.says(ANSWER).asked()
    env = claude.told["env"]
    assert not set(planted) & set(env)
    assert "planted" not in env.values()
    assert env["HOME"]
    assert env["CLAUDE_MEM_DISABLE_TOOL_HOOKS"] == "1"
    assert env["CLAUDE_CODE_DISABLE_ATTACHMENTS"] == "1"
    assert (env["CLAUDE_CODE_MAX_OUTPUT_TOKENS"], env["MAX_THINKING_TOKENS"]) == ("64", "0")


def test_what_is_asked_stands_in_no_argument(claude: StandIn) -> None:
    claude.says(ANSWER).asked(Message(role="user", text="PRIVATE-TEXT @/etc/passwd"))
    told = claude.told
    assert told["stdin"] == "PRIVATE-TEXT @/etc/passwd"
    assert told["system"] == "Be brief."
    assert "PRIVATE-TEXT" not in " ".join(told["argv"])
    assert "Be brief." not in " ".join(told["argv"])


def test_it_runs_without_tools_hooks_and_history_in_a_folder_of_ours(claude: StandIn) -> None:
    claude.says(ANSWER).asked()
    told, argv = claude.told, claude.told["argv"]
    folder = claude.data / "observer" / "claude"
    assert Path(told["cwd"]).samefile(folder)
    assert (folder.stat().st_mode & 0o777) == 0o700
    assert list(folder.iterdir()) == [], "the instructions are gone"
    assert argv[argv.index("--tools") + 1] == ""
    assert argv[argv.index("--setting-sources") + 1] == ""
    assert {"--no-session-persistence", "--strict-mcp-config"} <= set(argv)
    settings = json.loads(argv[argv.index("--settings") + 1])
    assert settings["disableAllHooks"]
    assert "Read" in settings["permissions"]["deny"]


def test_a_profile_of_its_own(claude: StandIn) -> None:
    claude.says(ANSWER).asked(CLAUDE_MEM_CLAUDE_CONFIG_DIR="/srv/profile")
    assert claude.told["env"]["CLAUDE_CONFIG_DIR"] == "/srv/profile"


def test_a_conversation_goes_in_as_one() -> None:
    said = [
        Message(role=r, text=t) for r, t in (("user", "A"), ("assistant", "B"), ("user", "C"))
    ]
    text = as_one(said)
    assert text.index('by="user">\nA') < text.index('by="assistant">\nB') < text.index("C")
    assert text.endswith("Now answer this:\n\nC")


def test_too_slow_is_ended_with_its_children(claude: StandIn, tmp_path: Path) -> None:
    alive = tmp_path / "pid"
    more = (
        "import subprocess\n"
        "child = subprocess.Popen(['sleep', '600'])\n"
        f"open({str(alive)!r}, 'w').write(str(child.pid))\n"
        "time.sleep(600)"
    )
    claude.says(ANSWER, more=more)
    with pytest.raises(ProviderError) as caught:
        claude.asked(CLAUDE_MEM_LLM_TIMEOUT_MS=1_500)
    assert caught.value.failure is Failure.TIMEOUT
    if alive.exists():  # it came so far in its time
        assert not _runs(int(alive.read_text() or "0"))


def _runs(pid: int) -> bool:
    import psutil

    if not pid or not psutil.pid_exists(pid):
        return False
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_a_program_that_is_not_there(claude: StandIn) -> None:
    with pytest.raises(ProviderError) as caught:
        claude.asked()
    assert caught.value.failure is Failure.OUTAGE
    assert "mem config set claude-path" in lacks({"CLAUDE_MEM_CLAUDE_PATH": str(claude.path)})


def test_more_than_it_may_say(claude: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("claude_mem_core.providing.programs.ANSWER_BYTES", 1_000)
    claude.says(ANSWER, more="print('x' * 9_000)")
    with pytest.raises(ProviderError, match="more than") as caught:
        claude.asked()
    assert caught.value.failure is Failure.UNUSABLE


# What the real one was recorded saying -------------------------------------------------


def failed(status: int | None, text: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "result", "subtype": "success", "is_error": True, "result": text,
        "api_error_status": status, "stop_reason": "stop_sequence", **more,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("status", "text", "failure"),
    [
        (401, "Failed to authenticate. API Error: 401 invalid bearer token",
         Failure.KEY_REFUSED),
        (None, "Not logged in · Please run /login", Failure.KEY_REFUSED),
        (None, "OAuth session expired, sign in again", Failure.KEY_REFUSED),
        (529, "API Error: 529 Overloaded. This is a server-side issue, usually temporary.",
         Failure.OVERLOAD),
        (500, "API Error: 500 boom. This is a server-side issue, usually temporary.",
         Failure.OUTAGE),
        (404, "There's an issue with the selected model (gone). It may not exist.",
         Failure.MODEL),
        (400, "Prompt is too long · the request is ~250000 tokens (limit 200000)",
         Failure.TOO_LONG),
        (429, "API Error: Server is temporarily limiting requests (not your usage limit)",
         Failure.RATE_LIMIT),
        (429, "You've hit your 5-hour limit · resets 6:54am (UTC)", Failure.QUOTA),
        (None, "Credit balance is too low", Failure.PAYMENT),
        (400, "API Error: 400 messages: unknown role", Failure.BAD_REQUEST),
        (None, "something new", Failure.UNUSABLE),
    ],
)  # fmt: skip
def test_failures(claude: StandIn, status: int | None, text: str, failure: Failure) -> None:
    claude.says(failed(status, text), code=1)
    with pytest.raises(ProviderError) as caught:
        claude.asked()
    assert caught.value.failure is failure


def test_a_spent_window_says_until_when(claude: StandIn) -> None:
    limits = {"status": "rejected", "resetsAt": 4_000_000_000, "rateLimitType": "five_hour"}
    claude.says(
        {"type": "rate_limit_event", "rate_limit_info": limits},
        failed(429, "You've hit your 5-hour limit"),
        code=1,
    )
    with pytest.raises(ProviderError) as caught:
        claude.asked()
    assert caught.value.failure is Failure.QUOTA
    assert (caught.value.retry_after_s or 0) > 1e9


def test_refusals_in_a_normal_answer(claude: StandIn) -> None:
    claude.says({**ANSWER, "result": "You've hit your usage limit · resets 3am (UTC)"})
    with pytest.raises(ProviderError) as caught:
        claude.asked()
    assert caught.value.failure is Failure.QUOTA


@pytest.mark.parametrize("said", [b"", b"not json\n{", b"[1]\n"])
def test_an_end_without_a_result(said: bytes) -> None:
    error = failure_of(read(Ran(out=said, err="segmentation fault", code=-11)))
    assert error
    assert error.failure is Failure.UNUSABLE
    assert "segmentation fault" in str(error)


def test_windows_as_older_versions_tell_them() -> None:
    old = {"status": "allowed", "rateLimitType": "seven_day", "utilization": 0.4, "resetsAt": 9}
    (window,) = windows_of(old)
    assert (window.name, window.used, window.resets_at_ms) == ("seven_day", 0.4, 9000)
    assert windows_of({}) == ()


@pytest.mark.parametrize(("using", "names"), [(False, []), (True, ["overage"])])
def test_overage_counts_while_in_use(using: bool, names: list[str]) -> None:
    limits = {"isUsingOverage": using, "unifiedWindows": {"overage": {"utilization": 0.5}}}
    assert [window.name for window in windows_of(limits)] == names
