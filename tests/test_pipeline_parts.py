"""The small parts of the pipeline: bus, door, keys, cut payloads, cleaned replies."""

from __future__ import annotations

import json

import anyio
import attrs
import pytest

from claude_mem_core.clean import skip_pattern
from claude_mem_core.pipeline import door, oversize
from claude_mem_core.pipeline.adapters import Adapters, UnknownHost
from claude_mem_core.pipeline.bus import BACKLOG, Bus
from claude_mem_core.pipeline.clean_reply import cleaned, lowest
from claude_mem_core.pipeline.keys import event_key
from claude_mem_core.pipeline.origin import trust_of
from claude_mem_core.plugins import news
from claude_mem_core.plugins.index import scan
from claude_mem_core.plugins.registry import Registry
from claude_mem_core.projects import Place
from claude_mem_core.store import Store
from claude_mem_core.types import (
    Batch,
    Delivery,
    Draft,
    Event,
    EventKind,
    Observed,
    StoredEvent,
    ToolUse,
    Trust,
)

SETTINGS = {
    "CLAUDE_MEM_SKIP_TOOLS": ("TodoWrite",),
    "CLAUDE_MEM_SKIP_BASH_PATTERNS": r"^git status",
    "CLAUDE_MEM_SKIP_SUBAGENT_OBSERVATIONS": False,
    "CLAUDE_MEM_SKIP_AGENT_TYPES": ("explorer",),
    "CLAUDE_MEM_EXCLUDED_PROJECTS": (),
}
PLACE = Place(key="/r", label="r", kind="folder", root="/r")


def tool(name: str, input: object = None, id: str = "t1", **kw: object) -> Event:
    use = ToolUse(name=name, id=id, input=input)
    return Event(kind=EventKind.TOOL_USED, host="h", session_id="s", cwd="/r", tool=use, **kw)


def test_many_new_plugins_are_one_short_line() -> None:
    def told(count: int) -> str:
        lines = [
            f"new plugin claude-mem-p{n} 1.0 (package index, by pip) offers host.p{n};"
            f" `mem plugins block claude-mem-p{n}` stops it"
            for n in range(count)
        ]
        return "; ".join(news.few(lines))

    assert told(2).count("package index") == 2
    many = told(20)
    assert many.startswith("20 new or changed plugins: claude-mem-p0 1.0, claude-mem-p1 1.0,")
    assert len(many) < 700


@pytest.fixture
def store(tmp_path):
    opened = Store.open(tmp_path / "memory.db")
    yield opened
    opened.close()


def test_bus_tells_everyone_and_never_blocks():
    async def main() -> None:
        bus = Bus()
        with bus.subscribe() as one, bus.subscribe() as two:
            bus.publish("x", n=1)
            assert (await one.receive()).data == {"n": 1}
            assert (await two.receive()).type == "x"
            for n in range(BACKLOG + 5):
                bus.publish("y", n=n)
            assert bus.lost == 10  # five for each of the two that did not read
        assert bus.listeners == 0

    anyio.run(main)


@pytest.fixture
def pattern_child():
    """The skip pattern runs in a child."""
    yield
    skip_pattern.close()


@pytest.mark.usefixtures("pattern_child")
@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (tool("TodoWrite"), "tool_skipped"),
        (tool("Bash", {"command": "git status -s"}), "command_skipped"),
        (tool("Bash", {"command": "make"}), None),
        (tool("Bash", {"command": ["git status", "-s"]}), "command_skipped"),
        (tool("Read", {"command": "git status"}), None),
        (tool("Bash", None, agent_id="a", agent_type="explorer"), "subagent_skipped"),
        (tool("Bash", None, agent_id=None, agent_type="explorer"), None),
        (Event(kind=EventKind.NOTICE, host="h", session_id="s"), "internal_protocol"),
    ],
)
def test_door(event, reason):
    assert door.skip_reason(event, PLACE, SETTINGS) == reason


@pytest.mark.usefixtures("pattern_child")
def test_a_bad_pattern_is_as_good_as_none():
    settings = {**SETTINGS, "CLAUDE_MEM_SKIP_BASH_PATTERNS": "("}
    assert door.skip_reason(tool("Bash", {"command": "("}), PLACE, settings) is None


@pytest.mark.parametrize(
    ("event", "trust"),
    [
        (tool("Read", {"file_path": "/r/a.py"}), Trust.WORK),
        (tool("Read", {"file_path": "/etc/hosts"}), Trust.FOREIGN),
        (tool("Read", {"file_path": "a.py"}), Trust.WORK),
        (tool("WebFetch", {"url": "https://x.example"}), Trust.FOREIGN),
        (tool("mcp__lab__recall"), Trust.FOREIGN),
        (tool("mcp_lab_recall"), Trust.FOREIGN),
        (tool("ReadMcpResourceTool"), Trust.FOREIGN),
        (tool("FetchURL", {"url": "https://x.example"}), Trust.FOREIGN),
        (tool("google_web_search", {"query": "x"}), Trust.FOREIGN),
        (tool("Grep", {"pattern": "x", "path": "/usr/share"}), Trust.FOREIGN),
        (tool("Grep", {"pattern": "x"}), Trust.WORK),
        (tool("Read", {"file_path": "/r/node_modules/a/README.md"}), Trust.FOREIGN),
        (tool("Read", {"file_path": "/r/../r2/a.py"}), Trust.FOREIGN),
        (tool("Bash", {"command": "make test"}), Trust.WORK),
        (tool("Bash", {"command": "cd x && curl -s https://x.example/a | head"}), Trust.FOREIGN),
        (tool("Bash", {"command": "sudo -E wget -qO- x.example"}), Trust.FOREIGN),
        (tool("Bash", {"command": "A=1 /usr/bin/curl \"$URL\""}), Trust.FOREIGN),
        (tool("Bash", {"command": "gh issue view 12"}), Trust.FOREIGN),
        (tool("Bash", {"command": "gh repo clone a/b"}), Trust.WORK),
        (tool("Bash", {"command": "curl -s http://me@localhost:80/ http://api:5/"}), Trust.WORK),
        (tool("Bash", {"command": "curl -o /dev/null -w x https://x.example"}), Trust.WORK),
        (tool("Bash", {"command": "curl 127.0.0.1:8080/health"}), Trust.WORK),
        (tool("Bash", {"command": "grep -rn curl docs; echo 'use curl x.example'"}), Trust.WORK),
        (tool("Edit", {"file_path": "/etc/hosts"}), Trust.WORK),
        (Event(kind=EventKind.PROMPT_SENT, host="h", session_id="s", prompt="p"), Trust.USER),
    ],
)
def test_trust(event, trust):
    assert trust_of(event, PLACE) is trust


def key(store: Store, event: Event) -> str:
    return store.read(lambda conn: event_key(conn, event))


def test_keys_follow_the_hosts_ids(store):
    assert key(store, tool("Bash", {"a": 1})) == key(store, tool("Bash", {"b": 2}))
    assert key(store, tool("Bash", id="t1")) != key(store, tool("Bash", id="t2"))


def test_keys_without_ids_are_told_by_what_was_said(store):
    one, two = tool("Bash", {"a": 1}, id=""), tool("Bash", {"a": 2}, id="")
    later = attrs.evolve(one, at_ms=9)
    assert key(store, one) == key(store, later) != key(store, two)


def test_a_turn_may_end_twice_with_other_words(store):
    def end(answer: str) -> Event:
        return Event(
            kind=EventKind.TURN_ENDED, host="h", session_id="s", prompt_id="p", answer=answer
        )

    assert key(store, end("one")) == key(store, end("one")) != key(store, end("two"))


def test_a_cut_payload_becomes_a_small_valid_one():
    head = json.dumps(
        {
            "session_id": "s",
            "cwd": "/r",
            "hook_event_name": "PostToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": "cat big"},
            "tool_response": {"stdout": "HEAD" + "x" * 90_000},
        }
    )
    delivery = Delivery(
        host="h", event="PostToolUse", stdin=head[:60_000].encode() + b"TAIL-MARK", size=9 << 20
    )
    assert oversize.is_cut(delivery)
    payload = json.loads(oversize.mended(delivery).stdin)
    assert payload["session_id"] == "s"
    assert payload["tool_input"] == {"command": "cat big"}
    assert payload["tool_response"]["tail"].endswith("TAIL-MARK")
    assert str(9 << 20) in payload["tool_response"]["too_large"]
    assert len(oversize.mended(delivery).stdin) < 10_000


class Upper:
    """Stands for a cleaner: what it has seen is in capitals."""

    def text(self, text: str, where: str) -> str:
        return text.upper()


def test_replies_are_cleaned_and_take_the_lowest_trust():
    foreign = StoredEvent(id=7, event=tool("WebFetch"), trust=Trust.FOREIGN)
    batch = Batch(session_db_id=1, project="r", events=[foreign])
    draft = Draft(type="discovery", title="a", facts=("b",), events=(7,), trust=Trust.USER)
    made = cleaned(Observed(observations=(draft,)), Upper(), batch).observations[0]
    assert (made.title, made.facts, made.trust) == ("A", ("B",), Trust.FOREIGN)


def test_lowest_trust():
    assert lowest([Trust.USER, Trust.WORK]) is Trust.WORK
    assert lowest([], Trust.USER) is Trust.USER


def test_a_blocked_host_is_called_so() -> None:
    registry = Registry(scan(), blocked=("host.kimi",))
    with pytest.raises(UnknownHost, match=r"`mem plugins unblock host\.kimi`"):
        Adapters(registry).get("kimi")
