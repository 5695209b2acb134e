"""What the core expects of every host, on recorded calls of the program."""

from __future__ import annotations

from pathlib import Path

from claude_mem_core.testing import HostContract


class TestHost(HostContract):
    plugin = "host.{{name}}"
    payloads = Path(__file__).parent / "calls"
