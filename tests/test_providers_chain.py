"""Our provider packages in a real worker and processor: chosen, keyed, asked, and stored.

One worker for all of them: another one is chosen while it runs.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from claude_mem_core import secrets
from claude_mem_core.cli.keyring import Desk
from tests.model_home import ModelHome, model_home, observation, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

KEY = "test-key-0123456789abcdef0123456789abcdef"
PROMPT = "the retry test fails since monday, find out why and mend it please"
SEEN = "The retry test fails in pytest"
CHOSEN = {
    "openai-compatible": ("openai-compat-base-url", {"openai-compat-model": "small"}, ""),
    "openrouter": ("openrouter-base-url", {}, "CLAUDE_MEM_OPENROUTER_API_KEY"),
    "gemini": ("gemini-base-url", {"gemini-rate-limiting-enabled": "false"},
               "CLAUDE_MEM_GEMINI_API_KEY"),
    "claude": ("claude-base-url", {}, "ANTHROPIC_API_KEY"),
}  # fmt: skip


@pytest.fixture(scope="module")
def shared() -> Iterator[ModelHome]:
    with model_home(running=False) as home:
        for key_name in filter(None, (chosen[2] for chosen in CHOSEN.values())):
            secrets.write(home.paths, key_name, KEY, "file")
        home.start()
        yield home


@pytest.mark.parametrize("name", CHOSEN)
def test_a_turn_is_observed_by_the_model(shared: ModelHome, name: str) -> None:
    home, (address, more, _) = shared.fresh(), CHOSEN[name]
    values = {address: home.models.url, **more, "provider": name}
    Desk.open(home.paths).settings.update(values)
    home.replies(observation(SEEN))
    home.turn("s-1", PROMPT)
    until(lambda: SEEN in {row["title"] for row in home.observed()}, 60)
    assert home.models.requests
    ends = {"gemini": ":generateContent", "claude": "/v1/messages"}.get(name, "/chat/completions")
    paths = [request.path.partition("?")[0] for request in home.models.requests]
    assert [path for path in paths if not path.endswith(ends)] == []
    log = "".join(file.read_text() for file in (home.paths.data / "logs").glob("*.log"))
    assert KEY not in log


@pytest.mark.parametrize(
    ("name", "filed", "end"),
    [
        ("claude", "ANTHROPIC_BASE_URL", "/v1/messages"),
        ("openrouter", "OPENROUTER_BASE_URL", "/chat/completions"),
    ],
)
def test_a_gateway_in_the_file_of_keys_is_asked(
    shared: ModelHome, name: str, filed: str, end: str
) -> None:
    """As claude-mem keeps it: its address in `.env`, and in no setting."""
    home = shared.fresh()
    Desk.open(home.paths).settings.update({f"{name}-base-url": "", "provider": name})
    secrets.write(home.paths, filed, home.models.url, "file")
    home.replies(observation(SEEN))
    home.turn("s-1", PROMPT)
    until(lambda: SEEN in {row["title"] for row in home.observed()}, 60)
    assert home.models.requests[0].path == end
