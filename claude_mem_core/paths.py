"""Where our files lie: one place that knows the names in the data directory."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import attrs

from claude_mem_core.errors import UsageError

RELATIVE = (
    "CLAUDE_MEM_DATA_DIR is the relative path {named!r}, which is another place in each"
    " directory; give the whole one, for example: export CLAUDE_MEM_DATA_DIR={whole}"
)


@attrs.frozen
class Paths:
    """Names of everything in the data directory. Nothing here touches the disk."""

    data: Path

    @property
    def database(self) -> Path:
        return self.data / "memory.db"

    @property
    def settings(self) -> Path:
        return self.data / "settings.json"

    @property
    def token(self) -> Path:
        return self.data / "token"

    @property
    def socket(self) -> Path:
        return self.data / "w.sock"

    @property
    def socket_elsewhere(self) -> Path:
        """Holds the socket's real path when `socket` would be too long for the system."""
        return self.data / "w.sock.path"

    @property
    def port(self) -> Path:
        return self.data / ".worker.port"

    @property
    def pid(self) -> Path:
        return self.data / ".worker.pid"

    @property
    def lock(self) -> Path:
        return self.data / "worker.lock"

    @property
    def notice(self) -> Path:
        """What hooks say at a session's start while the worker can't start."""
        return self.data / "notice.json"

    @property
    def heartbeat(self) -> Path:
        return self.data / "worker-heartbeat.json"

    @property
    def patient(self) -> Path:
        """There while prompts are answered with memories; the hook waits for them then."""
        return self.data / "patient"

    @property
    def edge(self) -> Path:
        """What the hook must know while the worker is down."""
        return self.data / "edge.json"

    @property
    def spool(self) -> Path:
        return self.data / "spool"

    @property
    def hook(self) -> Path:
        """Folder of the installed hook client."""
        return self.data / "hook"

    @property
    def worker_argv(self) -> Path:
        """How the hook starts the worker: argv and environment, NUL-separated."""
        return self.data / "worker.argv"

    @property
    def logs(self) -> Path:
        return self.data / "logs"

    @property
    def snapshots(self) -> Path:
        return self.data / "snapshots"

    @property
    def backups(self) -> Path:
        """Copies of host configs as they were before we changed them."""
        return self.data / "backups"

    @property
    def plugin_index(self) -> Path:
        return self.data / "plugins.json"

    @property
    def plugin_policy(self) -> Path:
        """What `mem plugins block` and `allow` said."""
        return self.data / "plugins-policy.json"


def data_dir(environ: Mapping[str, str] | None = None) -> Path:
    """The data directory: `CLAUDE_MEM_DATA_DIR`, else `~/.claude-mem`.

    Raises:
        UsageError: the variable names a relative path, or there is no home directory.
    """
    env = os.environ if environ is None else environ
    named = env.get("CLAUDE_MEM_DATA_DIR")
    if not named:
        return home_dir(env) / ".claude-mem"
    path = home_dir(env) / named[2:] if named == "~" or named.startswith("~/") else Path(named)
    if not path.is_absolute():
        raise UsageError(RELATIVE.format(named=named, whole=os.path.abspath(named)))
    return path


def home_dir(environ: Mapping[str, str] | None = None) -> Path:
    """The user's home: `HOME`, or where that is empty, unset or relative, what the system
    has on record.

    Raises:
        UsageError: there is none.
    """
    env = os.environ if environ is None else environ
    named = env.get("USERPROFILE" if sys.platform == "win32" else "HOME", "")
    if os.path.isabs(named):
        return Path(named)
    recorded = _recorded_home()
    if not os.path.isabs(recorded):
        raise UsageError(
            "HOME is not set and this user has no home directory; name a place for the"
            " data: export CLAUDE_MEM_DATA_DIR=/absolute/path"
        )
    return Path(recorded)


def _recorded_home() -> str:
    if sys.platform == "win32":
        return os.path.expanduser("~")
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""
