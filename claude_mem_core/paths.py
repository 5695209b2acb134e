"""Where our files lie: one place that knows the names in the data directory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import attrs


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
    """The data directory: `CLAUDE_MEM_DATA_DIR`, else `~/.claude-mem`."""
    env = os.environ if environ is None else environ
    named = env.get("CLAUDE_MEM_DATA_DIR")
    return Path(named).expanduser().absolute() if named else Path.home() / ".claude-mem"
