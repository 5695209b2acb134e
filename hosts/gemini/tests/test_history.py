"""What a real session's transcript says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from claude_mem_core.testing import TranscriptsContract
from claude_mem_core.testing.transcripts import told


class TestGeminiTranscripts(TranscriptsContract):
    plugin = "host.gemini"
    transcripts = Path(__file__).parent / "transcripts"

    def test_the_recorded_session(self, samples: Any) -> None:
        events = told(*samples[0])
        assert [(e.kind.value, e.tool.name if e.tool else e.prompt or e.answer) for e in events] == [
            ("session_started", None),
            ("prompt_sent", "E2E-QUESTION what is in a.py"),
            ("tool_used", "run_shell_command"),
            ("tool_used", "mcp_lab_recall"),
            ("turn_ended", "E2E-DONE"),
        ]
        assert {e.cwd for e in events} == {"/home/dev/shop"}
