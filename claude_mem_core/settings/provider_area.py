"""Settings of what is asked of model services: deadlines, limits of cost, the way out."""

from __future__ import annotations

from functools import partial

from claude_mem_core.types import Setting

FILE = ("file", "environment")
VIEWER = ("file", "environment", "viewer")
MACHINE = "machine"

_provider = partial(Setting, area="provider", sources=FILE)
_budget = partial(
    Setting, area="budget", sources=VIEWER, type="int", low=0, high=1_000_000_000_000,
    scope=MACHINE,
)  # fmt: skip
_quota = partial(
    Setting, area="quota", sources=FILE, type="number", low=0.0, high=1.0, scope=MACHINE
)

DEADLINES = (
    _provider(
        key="CLAUDE_MEM_LLM_TIMEOUT_MS",
        type="int",
        default=180_000,
        low=500,
        high=300_000,
        help="Longest time one request to a model may take (ms), where it is not streamed.",
    ),
    _provider(
        key="CLAUDE_MEM_LLM_STREAM_IDLE_TIMEOUT_MS",
        type="int",
        default=90_000,
        low=500,
        high=300_000,
        help="Silence that ends a streamed request (ms); 300 s end it in any case.",
    ),
    _provider(
        key="CLAUDE_MEM_HTTP_PROXY",
        default="",
        scope=MACHINE,
        help="Proxy for requests to model services, as `http://host:port`; the environment's"
        " own proxy variables are not used.",
    ),
    _provider(
        key="CLAUDE_MEM_CA_FILE",
        type="path",
        default="",
        scope=MACHINE,
        help="File of certificates to trust instead of the usual ones, for a proxy that"
        " reads along.",
    ),
)

BUDGET = (
    _budget(
        key="CLAUDE_MEM_BUDGET_DAILY_TOKENS",
        default=1_000_000,
        help="Tokens a day, sent and received, that models may use for memories; then rules"
        " make them until the next day (UTC). 0: no limit.",
    ),
    _budget(
        key="CLAUDE_MEM_BUDGET_SESSION_TOKENS",
        default=500_000,
        help="Tokens that the memories of one session may use in a day. 0: no limit.",
    ),
    _budget(
        key="CLAUDE_MEM_BUDGET_DAILY_CALLS",
        default=2_000,
        help="Requests to models a day. 0: no limit.",
    ),
    _budget(
        key="CLAUDE_MEM_BUDGET_SESSION_CALLS",
        default=500,
        help="Requests to models a day for one session. 0: no limit.",
    ),
)

WINDOWS = {
    "five_hour": ("CLAUDE_MEM_QUOTA_THRESHOLD_FIVE_HOUR", 0.95, "the five-hour window"),
    "seven_day": ("CLAUDE_MEM_QUOTA_THRESHOLD_SEVEN_DAY", 0.93, "the weekly window"),
    "seven_day_opus": (
        "CLAUDE_MEM_QUOTA_THRESHOLD_SEVEN_DAY_OPUS",
        0.93,
        "the weekly window of the Opus models",
    ),
    "seven_day_sonnet": (
        "CLAUDE_MEM_QUOTA_THRESHOLD_SEVEN_DAY_SONNET",
        0.92,
        "the weekly window of the Sonnet models",
    ),
    "overage": ("CLAUDE_MEM_QUOTA_THRESHOLD_OVERAGE", 0.95, "paid usage beyond the plan"),
}

QUOTA = (
    *(
        _quota(
            key=key,
            default=default,
            help=f"Part of {what} of a subscription that may be used before memories leave"
            " the rest to you.",
        )
        for key, default, what in WINDOWS.values()
    ),
    Setting(
        key="CLAUDE_MEM_QUOTA_FALLBACK_MODEL",
        default="",
        scope=MACHINE,
        sources=VIEWER,
        area="quota",
        help="Model of the fallback provider; empty: its own setting.",
    ),
)

PROVIDER = (*DEADLINES, *BUDGET, *QUOTA)
