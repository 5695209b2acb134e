"""Case O04: very large and binary tool output, through the worker.

The hook's own part is `test_case_o04_huge_tool_output.py`. What a provider is sent (no
run of base64, at most 200 KB) comes with the providers: the journal keeps 64 KB of each
field as it was. Here it is held against the memories that are made without a model.
"""

from __future__ import annotations

import base64
import json
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.case_home import Played, played
from tests.hook_home import CASES

GENERATOR = CASES / "O04-huge-tool-output" / "gen.py"
MEGABYTE = 1024 * 1024
MOST_EACH = 200_000
BASE64 = re.compile(r"[A-Za-z0-9+/]{1000}")


def size_mb(home: Played) -> float:
    files = home.paths.data.glob("memory.db*")
    return sum(path.stat().st_size for path in files) / MEGABYTE


def given(home: Played) -> list[str]:
    """What an observer is given of each tool use: input and output."""
    sql = "SELECT coalesce(tool_input, '') || coalesce(tool_response, '') FROM tool_uses ORDER BY id"
    return [row[0] for row in home.rows(sql)]


@pytest.mark.slow
def test_o04_large_outputs_cost_little(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(GENERATOR), str(tmp_path)], check=True)
    with played() as home:
        assert home.worker is not None
        home.hook(home.payload("UserPromptSubmit", "warm", prompt="hello"))
        before_mb, rss = size_mb(home), home.worker.memory_mb()
        for path in sorted(tmp_path.glob("*.json")):
            payload = home.filled(json.loads(path.read_text("utf-8")))
            assert home.hook(payload).seconds < 3
        home.settle()
        assert home.worker.memory_mb("VmHWM") - rss < 150
        assert size_mb(home) - before_mb < 8
        check_given(given(home))
        check_memories(home)
        assert not BASE64.search(home.logs())
        assert "HEAD-MARK" not in home.logs()
        home.is_sound()


def check_given(texts: list[str]) -> None:
    assert len(texts) == 4
    assert max(len(text.encode()) for text in texts) < MOST_EACH
    for number in (2, 3):
        assert f"HEAD-MARK-{number}" in texts[number - 1]
        assert f"TAIL-MARK-{number}" in texts[number - 1]
    assert all(re.search(r"\d{6,} (bytes|characters left out)\]", text) for text in texts)


def check_memories(home: Played) -> None:
    made = home.rows("SELECT title || narrative || facts FROM observations")
    made += home.rows("SELECT completed || learned || investigated FROM session_summaries")
    assert not [
        row for row in made if row[0] and (BASE64.search(row[0]) or len(row[0]) > 20_000)
    ]


def picture(chance: random.Random, size: int = 60_000) -> str:
    return base64.b64encode(chance.randbytes(size)).decode()


def binaries() -> dict[str, Any]:
    chance = random.Random(8)
    small = picture(chance, 30_000)  # below the limit of a field
    return {
        "small enough for its field": {"stdout": small},
        "in lines of 76": {"stdout": "\n".join(re.findall(".{76}", small))},
        "an address that holds it": {"html": f'<img src="data:image/png;base64,{small}">'},
        "for the web": {"stdout": small.replace("+", "-").replace("/", "_")},
        "hexadecimal": {"stdout": chance.randbytes(20_000).hex()},
        "in a list of parts": [{"type": "image", "source": {"type": "base64", "data": small}}],
        "between words": {"stdout": f"HEAD-MARK {small} TAIL-MARK"},
        "bytes read as text": {"stdout": chance.randbytes(30_000).decode("latin-1")},
    }  # fmt: skip


@pytest.mark.slow
def test_o04_binary_below_every_limit_reaches_no_memory() -> None:
    with played() as home:
        for number, (name, output) in enumerate(binaries().items()):
            used = {"tool_input": {"command": name}, "tool_response": output}
            payload = home.payload(
                "PostToolUse", tool_name="Bash", tool_use_id=f"t{number}", **used
            )
            assert home.hook(payload).seconds < 3
        home.settle()
        words = given(home)[list(binaries()).index("between words")]
        assert "HEAD-MARK" in words
        assert "TAIL-MARK" in words
        check_memories(home)
        home.is_sound()
