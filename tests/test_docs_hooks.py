"""Every hook is documented under its exact signature, with an example that runs."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core import hookspecs
from claude_mem_core.plugins.checkup import RECORDS
from claude_mem_core.plugins.kinds import COMMON_HOOKS, KINDS, OWN_HOOKS, kinds_of, loaded_for
from claude_mem_core.plugins.loading import HOOKS
from claude_mem_core.plugins.registry import State
from claude_mem_core.testing import samples
from claude_mem_core.testing.fake_site import FakeSite
from claude_mem_core.types import Block, EventKind, Query

PAGE = Path(__file__).parent.parent / "docs" / "hooks.md"
SECTIONS = dict(
    re.findall(
        r"^### (mem_.*?)\n(.*?)(?=^##)", PAGE.read_text() + "\n##", re.MULTILINE | re.DOTALL
    )
)
ARGUMENTS: Mapping[str, Any] = {
    "data_dir": "",
    "project": "shop",
    "query": Query(text="cart"),
    "settings": {"CLAUDE_MEM_PROVIDER": "builtin"},
    "event": samples.event(EventKind.PROMPT_SENT, prompt="this is off the record"),
    "observation": samples.observation(),
    "summary": None,
}


def heading(hook: str) -> str:
    parameters = inspect.signature(getattr(hookspecs, hook)).parameters
    return f"{hook}({', '.join(parameters)})"


def test_the_headings_are_the_hooks() -> None:
    assert sorted(SECTIONS) == sorted(map(heading, HOOKS))


@pytest.mark.parametrize("hook", sorted(HOOKS))
def test_the_example_runs(hook: str, install_fake_plugin: FakeSite) -> None:
    (code,) = re.findall(
        r"^```python\n(.*?)^```", SECTIONS[heading(hook)], re.MULTILINE | re.DOTALL
    )
    name = code.splitlines()[0].removeprefix("# ")
    install_fake_plugin(name, code)
    registry = install_fake_plugin.registry()
    given = {key: ARGUMENTS[key] for key in _parameters(hook)}
    record = {**RECORDS, "mem_context_blocks": Block}.get(hook)
    if record is None:
        (outcome,) = registry.call(hook, **given)
        assert outcome.error is None
    else:
        assert len(list(registry.records(hook, record, **given))) == 1
    plugin = registry.plugins[name]
    assert (plugin.state, plugin.error) == (State.LOADED, "")
    assert plugin.hooks == {hook}


def _parameters(hook: str) -> list[str]:
    return list(inspect.signature(getattr(hookspecs, hook)).parameters)


def test_the_policy_example_says_why(install_fake_plugin: FakeSite) -> None:
    section = SECTIONS["mem_should_record(event, project)"]
    (code,) = re.findall(r"^```python\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    install_fake_plugin("policy.example", code)
    answer = install_fake_plugin.registry().first(
        "mem_should_record", event=ARGUMENTS["event"], project="shop"
    )
    assert answer == "off the record"


@pytest.mark.parametrize("hook", sorted(HOOKS))
def test_every_hook_says_what_happens_on_error(hook: str) -> None:
    assert "On error:" in (getattr(hookspecs, hook).__doc__ or "")


def test_every_hook_has_its_kinds() -> None:
    assert set(OWN_HOOKS) | COMMON_HOOKS == HOOKS
    assert not set(OWN_HOOKS) & COMMON_HOOKS
    for hook in HOOKS:
        assert loaded_for(hook) <= kinds_of(hook) <= KINDS


def test_the_table_of_kinds_is_the_code() -> None:
    text = PAGE.read_text()
    rows = re.findall(r"^\| (`.*?) \| (`mem_.*?) \|$", text, re.MULTILINE)
    written = {
        (kind, hook)
        for kinds, hooks in rows
        for kind in re.findall(r"`(\w+)`", kinds)
        for hook in re.findall(r"`(\w+)`", hooks)
    }
    assert written == {(kind, hook) for hook, kinds in OWN_HOOKS.items() for kind in kinds}
