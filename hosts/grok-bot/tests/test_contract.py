"""The host keeps its contracts; transcripts as its documentation describes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from claude_mem_core.testing import TranscriptsContract
from claude_mem_core.testing.transcripts import told
from claude_mem_core.types import Delivery, EventKind, Host

SEAT = "0f3c6a52-8d1e-4b7a-9c55-2b7d1e6f9a10"


class TestGrokBot(TranscriptsContract):
    plugin = "host.grok-bot"
    transcripts = Path(__file__).parent / "transcripts"

    def test_it_sends_nothing(self, record: Host) -> None:
        assert record.open().parse(Delivery(host="grok-bot", event="", stdin=b"{}")) == []
        assert record.hooks == ()

    def test_events_carry_their_agent(self, samples: Any) -> None:
        events = told(*samples[0])
        assert [(e.kind, e.tool.name if e.tool else e.prompt or e.answer) for e in events] == [
            (EventKind.SESSION_STARTED, None),
            (EventKind.PROMPT_SENT, "why does the till round up"),
            (EventKind.TOOL_USED, "Shell"),
            (EventKind.TOOL_USED, "Edit"),
            (EventKind.TURN_ENDED, "The till rounded up with ceil; till.py now rounds to cents."),
        ]
        assert {(e.agent_id, e.agent_type, e.in_subagent) for e in events} == {(SEAT, None, False)}
        assert {e.session_id for e in events} == {"talk-1"}
        assert all(e.cwd.endswith(f"/agents/{SEAT}") for e in events)
