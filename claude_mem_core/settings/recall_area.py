"""Settings of what comes back: context, search, file history."""

from __future__ import annotations

from functools import partial

from claude_mem_core.settings.worker_area import FILE, MACHINE, VIEWER
from claude_mem_core.types import Setting

_context = partial(Setting, area="context", sources=VIEWER)
_switch = partial(_context, type="bool")
_search = partial(Setting, area="search", sources=FILE, restart=True)

CONTEXT = (
    _context(
        key="CLAUDE_MEM_CONTEXT_TOKEN_BUDGET",
        type="int",
        default=2_000,
        low=100,
        high=100_000,
        help="Tokens, at 4 bytes each, that a session's first context may take.",
    ),
    _context(
        key="CLAUDE_MEM_CONTEXT_OBSERVATIONS",
        type="int",
        default=50,
        low=1,
        high=200,
        help="Newest observations that are listed when a session starts.",
    ),
    _context(
        key="CLAUDE_MEM_CONTEXT_SESSION_COUNT",
        type="int",
        default=10,
        low=1,
        high=50,
        help="Newest sessions whose summaries are listed.",
    ),
    _switch(
        key="CLAUDE_MEM_SESSION_START_INCLUDE_ALL_SOURCES",
        default=False,
        help="Also list what other agent programs recorded.",
    ),
    _context(
        key="CLAUDE_MEM_CONTEXT_OBSERVATION_TYPES",
        type="csv",
        default=(),
        help="Types that are listed; empty: all of the mode.",
    ),
    _context(
        key="CLAUDE_MEM_CONTEXT_OBSERVATION_CONCEPTS",
        type="csv",
        default=(),
        help="Concepts that are listed; empty: all of the mode.",
    ),
    _context(
        key="CLAUDE_MEM_CONTEXT_FULL_COUNT",
        type="int",
        default=5,
        low=0,
        high=20,
        help="Newest observations that are shown in full, as far as they fit.",
    ),
    _context(
        key="CLAUDE_MEM_CONTEXT_FULL_FIELD",
        type="enum",
        default="narrative",
        choices=("narrative", "facts"),
        help="What of them is shown.",
    ),
    _switch(
        key="CLAUDE_MEM_CONTEXT_SHOW_READ_TOKENS",
        default=True,
        help="Show what reading an observation costs.",
    ),
    _switch(
        key="CLAUDE_MEM_CONTEXT_SHOW_WORK_TOKENS",
        default=True,
        help="Show what finding it out cost.",
    ),
    _switch(
        key="CLAUDE_MEM_CONTEXT_SHOW_SAVINGS_AMOUNT",
        default=True,
        help="Show how many tokens the memory saves.",
    ),
    _switch(
        key="CLAUDE_MEM_CONTEXT_SHOW_SAVINGS_PERCENT",
        default=True,
        help="Show the saving as a percentage.",
    ),
    _switch(
        key="CLAUDE_MEM_CONTEXT_SHOW_LAST_SUMMARY",
        default=False,
        help="Add the last summary when it is newer than the newest observation.",
    ),
    _switch(
        key="CLAUDE_MEM_CONTEXT_SHOW_LAST_MESSAGE",
        default=False,
        help="Add the agent's last words of the session before.",
    ),
    _switch(
        key="CLAUDE_MEM_WORK_STATE_ENABLED",
        default=True,
        sources=FILE,
        help="Where work stands in a session's first context, and tools for an agent's list.",
    ),
    _switch(
        key="CLAUDE_MEM_CONTEXT_SHOW_TERMINAL_OUTPUT",
        default=True,
        sources=FILE,
        help="Show the person a line at session start, where the host can.",
    ),
    _switch(
        key="CLAUDE_MEM_WELCOME_HINT_ENABLED",
        default=True,
        sources=FILE,
        help="Greet a project without memories with a hint.",
    ),
    _switch(
        key="CLAUDE_MEM_CONTEXT_MAIN_AGENT_ONLY",
        default=True,
        sources=FILE,
        help="Leave what sub-agents did out of the context; search still finds it.",
    ),
    _context(
        key="CLAUDE_MEM_REINFORCE_ALPHA",
        type="number",
        default=0.0,
        low=0,
        high=10,
        sources=FILE,
        help="Weight of observations that were confirmed again; 0: order by time alone.",
    ),
    _switch(
        key="CLAUDE_MEM_SEMANTIC_INJECT",
        default=False,
        sources=FILE,
        help="Add the observations that fit best to every prompt.",
    ),
    _context(
        key="CLAUDE_MEM_SEMANTIC_INJECT_LIMIT",
        type="int",
        default=5,
        low=1,
        high=20,
        sources=FILE,
        help="How many of them.",
    ),
    _context(
        key="CLAUDE_MEM_SEMANTIC_INJECT_FORMAT",
        type="enum",
        default="narrative",
        choices=("narrative", "index"),
        sources=FILE,
        help="Full text, or a line each with the id to fetch it by.",
    ),
    Setting(
        key="CLAUDE_MEM_FILE_READ_GATE_ENABLED",
        type="bool",
        default=True,
        sources=VIEWER,
        area="file-gate",
        help="Answer a whole read of a large, unchanged code file with its history.",
    ),
)

_mcp = partial(Setting, area="mcp", scope=MACHINE)

MCP = (
    _mcp(
        key="CLAUDE_MEM_MCP_ENABLED",
        type="bool",
        default=True,
        sources=VIEWER,
        scope="user",
        help="Serve the memory's tools to agents; off: none is listed, none answers.",
    ),
    _mcp(
        key="CLAUDE_MEM_MCP_ALL_PROJECTS",
        type="csv",
        default=(),
        sources=FILE,
        help="Clients whose tools may read every project, not only their own; * for all.",
    ),
    _mcp(
        key="CLAUDE_MEM_MCP_WRITE",
        type="csv",
        default=(),
        sources=FILE,
        help="Clients that may call tools of plugins that change something; * for all.",
    ),
)

UNUSED = " Taken from a claude-mem settings file and kept, but without effect here."

SEARCH = (
    _search(
        key="CLAUDE_MEM_SEARCH_RECENCY_DAYS",
        type="int",
        default=90,
        low=0,
        high=36_500,
        restart=False,
        help="Days that a search by meaning looks back when no dates are named; 0: all.",
    ),
    _search(
        key="CLAUDE_MEM_CHROMA_ENABLED",
        type="bool",
        default=True,
        help="Off: search by keywords alone, whatever search plugins are there.",
    ),
    _search(
        key="CLAUDE_MEM_PYTHON_VERSION",
        default="3.13",
        sources=VIEWER,
        help="Python of the vector service." + UNUSED,
    ),
    *(
        _search(key=f"CLAUDE_MEM_CHROMA_{name}", type=kind, default=default, help=text + UNUSED)
        for name, kind, default, text in (
            ("UVX_PATH", "path", "", "Starter of the vector service."),
            ("MODE", "string", "local", "Where the vector service runs."),
            ("HOST", "string", "127.0.0.1", "Its address."),
            ("PORT", "string", "8000", "Its port."),
            ("SSL", "string", "false", "Whether it speaks TLS."),
            ("API_KEY", "secret", "", "Its key."),
            ("TENANT", "string", "default_tenant", "Its tenant."),
            ("DATABASE", "string", "default_database", "Its database."),
            ("PREWARM_TIMEOUT_MS", "string", "120000", "Its time to start."),
            ("MAX_PENDING_MUTATIONS", "string", "5000", "Its queue."),
        )
    ),
)
