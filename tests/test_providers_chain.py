"""Our provider packages in a real worker and processor: chosen, keyed, asked, and stored."""

from __future__ import annotations

import pytest

from claude_mem_core import secrets
from tests.model_home import model_home, observation, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

KEY = "test-key-0123456789abcdef0123456789abcdef"
PROMPT = "the retry test fails since monday, find out why and mend it please"
CHOSEN = {
    "openai-compatible": ("openai-compat-base-url", {"openai-compat-model": "small"}, ""),
    "openrouter": ("openrouter-base-url", {}, "CLAUDE_MEM_OPENROUTER_API_KEY"),
    "gemini": ("gemini-base-url", {"gemini-rate-limiting-enabled": "false"},
               "CLAUDE_MEM_GEMINI_API_KEY"),
    "claude": ("claude-base-url", {}, "ANTHROPIC_API_KEY"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHOSEN)
def test_a_turn_is_observed_by_the_model(name: str) -> None:
    address, more, key_name = CHOSEN[name]
    with model_home([observation("The retry test fails in pytest")], running=False) as home:
        for key, value in {address: home.models.url, **more, "provider": name}.items():
            home.mem("config", "set", key, value)
        if key_name:
            secrets.write(home.paths, key_name, KEY, "file")
        home.start()
        home.turn("s-1", PROMPT)
        seen = "The retry test fails in pytest"
        until(lambda: seen in {row["title"] for row in home.observed()})
        assert home.models.requests
        log = "".join(path.read_text() for path in (home.paths.data / "logs").glob("*.log"))
        assert KEY not in log
