"""Settings of the worker, its door, the hooks and the spool."""

from __future__ import annotations

import os
import sys
from functools import partial

from claude_mem_core.types import Setting

FILE = ("file", "environment")
VIEWER = ("file", "environment", "viewer")
ENVIRONMENT = ("environment",)
MACHINE = "machine"
WINDOWS = sys.platform == "win32"


def documented_port() -> int:
    """37700 and the last two digits of the user's id; 77 where users have none."""
    uid = os.getuid() if hasattr(os, "getuid") else 77
    return 37700 + uid % 100


_worker = partial(Setting, area="worker")
_door = partial(Setting, area="security", scope=MACHINE)
_spool = partial(Setting, area="spool", scope=MACHINE)
_hooks = partial(Setting, area="hooks")

WORKER = (
    _worker(
        key="CLAUDE_MEM_WORKER_PORT",
        type="int",
        default=documented_port(),
        low=1024,
        high=65535,
        scope=MACHINE,
        sources=VIEWER,
        restart=True,
        help="TCP port of the worker; setting it opens one, without it only the private"
        " socket is served. The live port is in `.worker.port`.",
    ),
    _worker(
        key="CLAUDE_MEM_WORKER_HOST",
        default="127.0.0.1",
        scope=MACHINE,
        sources=VIEWER,
        restart=True,
        help="Address that the TCP port binds to; anything but loopback needs a TLS front"
        " and a TV token.",
    ),
    _worker(
        key="CLAUDE_MEM_WORKER_AUTOSTART",
        type="bool",
        default=True,
        sources=FILE,
        help="Whether hooks start the worker. When off, nothing launches, ends or recycles"
        " one, and hooks stay quiet while it is down.",
    ),
    _worker(
        key="CLAUDE_MEM_WORKER_HEARTBEAT_STALE_MS",
        type="int",
        default=120_000,
        low=10_000,
        high=3_600_000,
        sources=FILE,
        help="A silent worker is spared while its heartbeat is younger than this (ms).",
    ),
    _worker(
        key="CLAUDE_MEM_IDLE_EXIT_SEC",
        type="int",
        default=0,
        low=0,
        high=31_536_000,
        sources=FILE,
        help="Seconds without any work after which the worker stops by itself; 0: never;"
        " 1 to 59 count as 60.",
    ),
    _worker(
        key="CLAUDE_MEM_DATA_DIR",
        type="path",
        default="",
        scope=MACHINE,
        sources=ENVIRONMENT,
        restart=True,
        help="Folder of the database, settings, logs and everything else; empty:"
        " `~/.claude-mem`. Read by `mem`; run `mem install` after a change.",
    ),
    _worker(
        key="CLAUDE_MEM_LOG_LEVEL",
        type="enum",
        default="INFO",
        choices=("DEBUG", "INFO", "WARN", "ERROR", "SILENT"),
        sources=VIEWER,
        help="How much the worker writes to its daily log.",
    ),
    _worker(
        key="CLAUDE_MEM_PUBLIC_URL",
        default="",
        scope=MACHINE,
        sources=FILE,
        help="Address of the viewer as a browser reaches it, for what is printed; empty:"
        " `http://localhost:<port>`.",
    ),
    _worker(
        key="CLAUDE_MEM_FETCH_VERBOSE",
        type="bool",
        default=False,
        sources=ENVIRONMENT,
        help="Print the cause of each failed call of the worker.",
    ),
)

SECURITY = (
    _door(
        key="CLAUDE_MEM_ALLOWED_ORIGINS",
        type="csv",
        default=(),
        sources=FILE,
        restart=True,
        help="No effect here: only the worker's own page may ask it, from no other origin. The"
        " name is known because claude-mem has it.",
    ),
    _door(
        key="CLAUDE_MEM_TV_TOKEN",
        type="secret",
        default="",
        sources=FILE,
        restart=True,
        help="Shared secret of the read-only routes that other machines may see; empty: off.",
    ),
    _door(
        key="CLAUDE_MEM_TV_FRONT",
        sources=FILE,
        restart=True,
        help="Name under which a TLS front of yours passes requests on to the worker's port,"
        " as browsers send it: they get the TV page and, with the token, titles; empty: off.",
    ),
    _door(
        key="CLAUDE_MEM_PLUGINS_BLOCKED",
        type="csv",
        default=(),
        sources=FILE,
        area="plugins",
        help="Plugins that are not loaded, by name as `mem plugins` shows it.",
    ),
    _door(
        key="CLAUDE_MEM_PLUGINS_STRICT",
        type="bool",
        default=False,
        sources=FILE,
        area="plugins",
        help="Load only plugins that `mem plugins allow NAME` pinned.",
    ),
)

SPOOL = (
    _spool(
        key="CLAUDE_MEM_WORKER_INGEST_TOKEN",
        type="secret",
        default="",
        sources=FILE,
        help="Shared secret for events delivered from other machines; empty: none are taken.",
    ),
    _spool(
        key="CLAUDE_MEM_HOOK_SPOOL_TRANSPORT",
        type="enum",
        default="auto",
        choices=("auto", "http", "filesystem"),
        sources=FILE,
        help="How spooled events reach the worker; auto: by file on this machine.",
    ),
)

HOOKS = (
    _hooks(
        key="CLAUDE_MEM_SESSION_INIT_TIMEOUT_MS",
        type="int",
        default=7_000 if WINDOWS else 10_000,
        low=500,
        high=7_000 if WINDOWS else 14_000,
        clamp=True,
        sources=FILE,
        help="Longest time a prompt waits for its memory (ms); then it goes on without.",
    ),
    _hooks(
        key="CLAUDE_MEM_API_TIMEOUT_MS",
        type="int",
        default=30_000,
        low=1,
        high=600_000,
        sources=FILE,
        help="Longest time a call of the worker's API may take (ms), health probes aside.",
    ),
    _hooks(
        key="CLAUDE_MEM_HOOK_FAIL_LOUD_THRESHOLD",
        type="int",
        default=3,
        low=1,
        high=1_000_000,
        sources=FILE,
        help="Hooks in a row that find no worker before the next session start says so.",
    ),
    *(
        _hooks(key=key, type="bool", default=False, sources=ENVIRONMENT, help=text)
        for key, text in (
            (
                "CLAUDE_MEM_DISABLE_TOOL_HOOKS",
                "In the host's environment: no tool use is kept, no file history is given.",
            ),
            (
                "CLAUDE_MEM_DISABLE_OBSERVATION",
                "In the host's environment: no tool use is kept.",
            ),
            (
                "CLAUDE_MEM_DISABLE_FILE_CONTEXT",
                "In the host's environment: no file history is given before a read.",
            ),
            (
                "CLAUDE_MEM_DISABLE_SUMMARY",
                "In the host's environment: turns get no summary.",
            ),
        )
    ),
)
