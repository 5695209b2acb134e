"""Settings of what is recorded, redacted, named and kept, and who observes it."""

from __future__ import annotations

from functools import partial

from claude_mem_core.settings.worker_area import FILE, MACHINE, VIEWER
from claude_mem_core.types import Setting

_capture = partial(Setting, area="capture", sources=FILE)
_projects = partial(Setting, area="projects", scope=MACHINE, sources=FILE)
_redaction = partial(Setting, area="redaction", scope=MACHINE, sources=FILE)
_observer = partial(Setting, area="observer", sources=VIEWER)

CAPTURE = (
    _capture(
        key="CLAUDE_MEM_PAUSED_UNTIL",
        type="int",
        default=0,
        low=-1,
        scope=MACHINE,
        help="Keep nothing and inject nothing until then, in milliseconds since the epoch;"
        " -1 until `mem resume`, 0 for no pause. Set by `mem pause`.",
    ),
    _capture(
        key="CLAUDE_MEM_INCOGNITO_SESSIONS",
        type="csv",
        default=(),
        scope=MACHINE,
        help="Sessions of which nothing is kept and that get nothing, by the host's ids."
        " Set by `mem pause --session`.",
    ),
    _capture(
        key="CLAUDE_MEM_PAUSES",
        type="csv",
        default=(),
        scope=MACHINE,
        help="When nothing was kept, so that no transcript tells it afterwards: FROM-UNTIL in"
        " milliseconds, with :SESSION where only one was left alone. Set by `mem pause` and"
        " `mem resume`.",
    ),
    _capture(
        key="CLAUDE_MEM_SKIP_TOOLS",
        type="csv",
        default=(
            "ListMcpResourcesTool",
            "SlashCommand",
            "Skill",
            "TodoWrite",
            "AskUserQuestion",
        ),
        help="Tools whose uses are never kept.",
    ),
    _capture(
        key="CLAUDE_MEM_SKIP_BASH_PATTERNS",
        type="regex",
        default="",
        help="One pattern; shell commands in which it is found are not kept.",
    ),
    _capture(
        key="CLAUDE_MEM_SKIP_SUBAGENT_OBSERVATIONS",
        type="bool",
        default=False,
        help="Keep no tool use of sub-agents.",
    ),
    _capture(
        key="CLAUDE_MEM_SKIP_AGENT_TYPES",
        type="csv",
        default=(),
        help="Types of sub-agents whose tool uses are not kept.",
    ),
    _capture(
        key="CLAUDE_MEM_CAPTURE_ADVISOR_CALLS",
        type="bool",
        default=False,
        help="Keep what Claude Code's advisor was asked and said.",
    ),
    _capture(
        key="CLAUDE_MEM_OPT_IN",
        type="bool",
        default=False,
        scope=MACHINE,
        help="Record only in folders where the memory was switched on (`mem on`).",
    ),
    _capture(
        key="CLAUDE_MEM_INCLUDED_PROJECTS",
        type="csv",
        default=(),
        scope=MACHINE,
        help="With CLAUDE_MEM_OPT_IN, the folders that are recorded, with all below them;"
        " globs as for excluded ones. `mem on` adds to it.",
    ),
    _capture(
        key="CLAUDE_MEM_EXCLUDED_PROJECTS",
        type="csv",
        default=(),
        scope=MACHINE,
        help="Folders that are never recorded, with all below them: globs such as"
        " `~/clients/**`, or a bare name for every folder called so.",
    ),
)

PROJECTS = (
    _projects(
        key="CLAUDE_MEM_PROJECT_NAME_SOURCE",
        type="enum",
        default="path",
        choices=("path", "git-remote"),
        help="What makes a git repository one project: its place, or its `origin`"
        " (then every clone of it is the same project).",
    ),
    _projects(
        key="CLAUDE_MEM_PROJECT_ENVIRONMENTS",
        type="json",
        default=[],
        help='Named groups of folders: [{"name": "acme", "patterns": ["~/clients/acme/**"]}].'
        " They win over every other way of naming.",
    ),
    _projects(
        key="CLAUDE_MEM_PROJECT_FOLDERS",
        type="json",
        default=[],
        scope=MACHINE,
        sources=FILE,
        help="Folders outside git that are one project with all below them, because a marker"
        " file in them says so and you agreed: `mem project confirm` adds one.",
    ),
)

REDACTION = (
    _redaction(
        key="CLAUDE_MEM_REDACT_ENABLED",
        type="bool",
        default=True,
        help="Replace what looks like a vendor's key or token before anything is kept.",
    ),
    _redaction(
        key="CLAUDE_MEM_REDACT_GENERIC_ENABLED",
        type="bool",
        default=False,
        help="Also replace what is assigned to a name like password, token or secret.",
    ),
    _redaction(
        key="CLAUDE_MEM_REDACT_ENTROPY_ENABLED",
        type="bool",
        default=True,
        help="Also replace values that look random: given to a name like api_key, or alone.",
    ),
    _redaction(
        key="CLAUDE_MEM_REDACT_DISABLED_BUILTINS",
        type="csv",
        default=(),
        help="Built-in patterns that are left out, by name.",
    ),
    _redaction(
        key="CLAUDE_MEM_REDACT_CUSTOM_PATTERNS",
        type="json",
        default=[],
        help='Own patterns, tried first: [{"name": "ticket", "regex": "TCK-[0-9]{6}"}].',
    ),
    _redaction(
        key="CLAUDE_MEM_REDACT_LOG_MATCHES",
        type="bool",
        default=False,
        help="Log how often each pattern matched, never what it matched.",
    ),
)

OBSERVER = (
    _observer(
        key="CLAUDE_MEM_PROVIDER",
        default="builtin",
        scope=MACHINE,
        help="Who turns events into memories: `builtin` needs no model; others are plugins.",
    ),
    _observer(
        key="CLAUDE_MEM_QUOTA_FALLBACK_PROVIDER",
        default="builtin",
        scope=MACHINE,
        area="quota",
        help="Who takes the work while the provider can't; `off` leaves it waiting.",
    ),
    _observer(
        key="CLAUDE_MEM_MODE",
        default="code",
        sources=FILE,
        area="modes",
        help="Profile of types, concepts and language that memories are made in.",
    ),
)

STORAGE = (
    Setting(
        key="CLAUDE_MEM_SNAPSHOT_HOURS",
        type="int",
        default=24,
        low=0,
        high=8_760,
        sources=FILE,
        area="storage",
        help="Hours between two copies of the database in snapshots/; 0: none are made. One is"
        " always made before the tables change.",
    ),
    Setting(
        key="CLAUDE_MEM_SNAPSHOT_KEEP",
        type="int",
        default=5,
        low=1,
        high=1_000,
        sources=FILE,
        area="storage",
        help="Copies that are kept in snapshots/; the oldest go first.",
    ),
    Setting(
        key="CLAUDE_MEM_SNAPSHOT_MAX_MB",
        type="int",
        default=5_000,
        low=1,
        high=10_000_000,
        sources=FILE,
        area="storage",
        help="Room that all copies together may take; the newest one always stays.",
    ),
    Setting(
        key="CLAUDE_MEM_TOOL_USES_RETENTION_DAYS",
        type="int",
        default=0,
        low=0,
        high=36_500,
        sources=FILE,
        restart=True,
        area="storage",
        help="Days after which raw tool input and output that became an observation is"
        " deleted at the worker's start; 0: kept.",
    ),
)
