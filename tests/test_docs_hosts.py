"""The page on hosts names every host, with the version that the tests drive."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from claude_mem_core.plugins.index import scan
from claude_mem_core.plugins.registry import Registry
from claude_mem_core.types import Host
from tools import hosts, matrix

PAGE = Path(__file__).parents[1] / "docs" / "hosts.md"
RECORDS = sorted(Registry(scan()).records("mem_hosts", Host), key=lambda record: record.name)


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_the_page_says_which_version_is_proven(record: Host) -> None:
    version = hosts.pins().get(record.name, {}).get("version")
    if version is None:
        assert f"claude-mem-host-{record.name}" in PAGE.read_text(), "a host without a program"
        return
    row = f"| {record.title}"
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith(row)]
    assert any(f"`claude-mem-host-{record.name}` | {version} |" in line for line in lines)


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_what_is_proven_was_proven_with_the_pinned_version(record: Host) -> None:
    pin = hosts.pins().get(record.name, {}).get("version")
    proven = json.loads(matrix.PROVEN.read_text()).get(record.name, {}).get("version")
    again = f"MEM_PROVEN=write pytest tests/e2e for {record.name}, then `make reference`"
    assert proven == pin, again
