"""What a real session says in the program's own database."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apsw
import pytest

from claude_mem_core.testing import TranscriptsContract
from claude_mem_core.testing.transcripts import told
from claude_mem_core.types import Host

ROWS = Path(__file__).parent / "transcripts" / "opencode-rows.jsonl"


class TestOpenCodeTranscripts(TranscriptsContract):
    plugin = "host.opencode"

    @pytest.fixture
    def root(self, record: Host, tmp_path: Path) -> Path:
        """A database with the recorded rows, in tables of the same names."""
        tables = record.transcripts[0].tables
        conn = apsw.Connection(str(tmp_path / "opencode.db"))
        for table, columns in tables.items():
            conn.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
        for table, *values in map(json.loads, ROWS.read_text().splitlines()):
            marks = ", ".join("?" * len(values))
            conn.execute(f"INSERT INTO {table} VALUES ({marks})", values)
        conn.close()
        return tmp_path

    def test_the_recorded_session(self, samples: Any) -> None:
        events = told(*samples[0])
        assert [(e.kind.value, e.tool.name if e.tool else e.prompt or e.answer) for e in events] == [
            ("session_started", None),
            ("prompt_sent", '"E2E-QUESTION what is in a.py"'),
            ("tool_used", "bash"),
            ("tool_used", "lab_recall"),
            ("turn_ended", "E2E-DONE"),
        ]
