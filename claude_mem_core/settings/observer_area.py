"""Settings of observing with a model: how much goes out at once, to how many at once."""

from __future__ import annotations

from functools import partial

from claude_mem_core.types import Setting

FILE = ("file", "environment")

_model = partial(Setting, area="observer", scope="machine", sources=FILE)

MODELLED = (
    _model(
        key="CLAUDE_MEM_OBSERVER_MAX_OUTPUT_TOKENS",
        type="int",
        default=4_096,
        low=256,
        high=1_000_000,
        help="Most tokens that a model may answer with.",
    ),
    _model(
        key="CLAUDE_MEM_OBSERVER_MAX_CONVERSATION_CHARS",
        type="int",
        default=48_000,
        low=4_000,
        high=4_000_000,
        help="Characters of a conversation with the model before a new one begins; never"
        " more than half of its context window.",
    ),
    _model(
        key="CLAUDE_MEM_OBSERVER_CONTEXT_WINDOW",
        type="int",
        default=0,
        low=0,
        high=100_000_000,
        help="Context window of the model in tokens, at least 8192; 0: taken for 131072.",
    ),
    _model(
        key="CLAUDE_MEM_MAX_CONCURRENT_AGENTS",
        type="int",
        default=2,
        low=1,
        high=16,
        help="Sessions that a model observes at the same time; the others wait.",
    ),
    _model(
        key="CLAUDE_MEM_MODES_DIR",
        type="path",
        default="",
        sources=("environment",),
        area="modes",
        help="Folder whose modes win over all others, for work on modes.",
    ),
)
