"""Every line of a context has a reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_mem_core.recall.context_lines import explained
from claude_mem_core.types import Block, StartSource
from tests.recall_store import Filled
from tests.test_context import at, build, utc

__all__ = ["utc"]


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Filled]:
    made = Filled(tmp_path)
    yield made
    made.close()


def test_each_line_says_why_it_is_there(filled: Filled) -> None:
    filled.observe(
        [{"title": "First", "narrative": "a story", "tokens": 900, "created_ms": at(0)}]
    )
    filled.summarize(request="asked", learned="that", created_ms=at(5))
    filled.execute("UPDATE projects SET kind = 'environment'")
    request = {"notices": ("memory: it hurts",), "blocks": (Block(title="To do", text="mend"),)}
    made = build(filled, request=request, CONTEXT_SHOW_LAST_SUMMARY=True)
    lines = list(explained(made))
    assert "\n".join(line for line, _ in lines) == made.text
    assert all(why for line, why in lines if line.strip())
    why = {line: reason for line, reason in lines}
    assert why["memory: it hurts"] == "something is wrong, or new"
    assert why["Environment: shop"].endswith("CLAUDE_MEM_PROJECT_ENVIRONMENTS")
    assert why["### Jun 30, 2026"] == "the day of the rows below"
    row = next(line for line in why if "First" in line)
    assert why[row] == "number 2 of the newest in the project; in full, as one of the newest"
    assert why["| a story"] == why[row]
    assert why["| Learned: that"].endswith("SHOW_LAST_SUMMARY")
    assert why["### To do"] == why["| mend"] == "a plugin's block"


def test_an_empty_project_and_a_resume_too(filled: Filled) -> None:
    assert all(why for line, why in explained(build(filled)) if line.strip())
    filled.observe([{"title": "old", "created_ms": at(0)}])
    filled.execute("UPDATE sdk_sessions SET context_at_epoch = ?", at(10))
    filled.execute("INSERT INTO context_given VALUES (1, 'session', 1, 1, '[\"1\"]')")
    made = build(filled, request={"session_db_id": 1, "source": StartSource.RESUME})
    assert all(why for line, why in explained(made) if line.strip())
