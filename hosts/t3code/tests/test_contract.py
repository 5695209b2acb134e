from __future__ import annotations

from claude_mem_core.testing.offer import RecordContract
from claude_mem_core.types import Host, RunsHosts


class TestT3Code(RecordContract[Host]):
    plugin = "host.t3code"
    hook = "mem_hosts"
    kind = Host

    def test_it_runs_other_hosts(self, record: Host) -> None:
        assert record.installer is not None
        assert isinstance(record.installer(), RunsHosts)
        assert record.hooks == ()
        assert set(record.aliases) == {"t3", "t3-code"}
