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
        help="Context window of the model in tokens, at least 8192; 0: as the provider knows"
        " it, else 131072.",
    ),
    _model(
        key="CLAUDE_MEM_OBSERVE_BARE_PROMPTS",
        type="bool",
        default=False,
        help="Ask a model about each prompt, also one that no work followed.",
    ),
    _model(
        key="CLAUDE_MEM_FIELD_OPTIMIZE_ENABLED",
        type="bool",
        default=False,
        help="Have a model shorten very long outputs before they are observed, instead of"
        " cutting them; it costs the tokens of the whole output.",
    ),
    _model(
        key="CLAUDE_MEM_FIELD_OPTIMIZE_TIMEOUT_MS",
        type="int",
        default=180_000,
        low=500,
        high=300_000,
        help="Longest time that shortening one output may take (ms); then it is cut.",
    ),
    _model(
        key="CLAUDE_MEM_TIER_ROUTING_ENABLED",
        type="bool",
        default=True,
        help="Give simple work to a cheaper model of the same provider, where there is one.",
    ),
    _model(
        key="CLAUDE_MEM_TIER_SIMPLE_MODEL",
        default="",
        help="Model for stretches in which the agent only looked around (Read, Grep, Glob,"
        " LS) and for shortening; empty: the provider's own small one.",
    ),
    _model(
        key="CLAUDE_MEM_TIER_SUMMARY_MODEL",
        default="",
        help="Model for the last stretch of a turn, with its summary; empty: the usual one.",
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
