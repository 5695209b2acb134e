"""The exam through a provider: the same sessions, a model's memories, what they cost."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import pytest

from bench.exam import EXAM, examine
from claude_mem_core.testing import scripted
from claude_mem_core.testing.fake_models import FakeModels, Talk, Turn
from tests.model_home import observation

SUMMARY = (
    "<summary><request>Totals with decimals are off</request>"
    "<completed>mended and tested</completed></summary>"
)


@pytest.mark.slow
def test_the_exam_is_scored_for_a_model(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    for name in ("01-invoice-rounding", "05-queue-decision"):
        shutil.copytree(EXAM / "open" / name, folder / name)
    reply = observation("What the model wrote of it", "bugfix") + SUMMARY
    with FakeModels([Talk(match=".", anywhere=True, turns=[Turn(text=reply)])]) as models:
        figures = examine(
            folder, prepare=partial(scripted.choose, url=models.url),
            python=scripted.own_python(tmp_path / "py"),
        )  # fmt: skip
        asked = len(models.requests)
    assert figures["model"] == "fake-model"
    assert figures["requests"] == asked > 1
    assert figures["input_tokens"] == 100 * asked
    assert figures["by_rules"] == 0
    assert 0 <= figures["grade"] < 50, "nobody gets by with one empty sentence"
