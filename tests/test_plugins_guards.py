"""A broken redactor or policy plugin stops recording; a blocked one does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from claude_mem_core.errors import PluginError
from claude_mem_core.plugins.entry import OWN, OWN_PACKAGE, Entry
from claude_mem_core.plugins.offers import Offers
from claude_mem_core.plugins.registry import Registry, State
from claude_mem_core.testing.fake_site import FakeSite
from claude_mem_core.types import Redactor

GOOD = """
    from claude_mem_core import hookimpl
    from claude_mem_core.types import Redactor

    @hookimpl
    def mem_redactors():
        yield Redactor(name="{name}", open=lambda settings: str.upper)
"""

POLICY = """
    from claude_mem_core import hookimpl

    @hookimpl
    def mem_should_record(event, project):
        {body}
"""

BROKEN = {
    "import error": "import a_module_that_is_not_there",
    "syntax error": "def broken(:",
    "exits": "raise SystemExit(0)",
    "no hook": "x = 1",
    "raises": GOOD.format(name="x").replace("yield", "raise OSError; yield"),
    "wrong record": GOOD.format(name="x").replace("yield", "yield 1;"),
    "no mark": GOOD.format(name="x").replace("@hookimpl", ""),
    "wrapper": GOOD.format(name="x").replace("@hookimpl", "@hookimpl(wrapper=True)"),
    "newer contract": "CLAUDE_MEM_CONTRACT = 99",
}


@pytest.mark.parametrize("kind", ["redactor", "policy"])
@pytest.mark.parametrize("code", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_guard_stops_recording(
    install_fake_plugin: FakeSite, kind: str, code: str
) -> None:
    install_fake_plugin(f"{kind}.bad", code)
    found = install_fake_plugin.registry()
    text = found.recording_fault()
    assert text is not None
    assert f"{kind}.bad (fake-{kind}-bad 1.0)" in text
    assert f"`mem plugins block {kind}.bad`" in text


def test_a_hanging_guard_stops_recording(install_fake_plugin: FakeSite) -> None:
    install_fake_plugin("redactor.hangs", "import threading; threading.Event().wait(30)")
    text = str(install_fake_plugin.registry(import_limit=0.2).recording_fault())
    assert "did not finish within 0.2 s" in text


@pytest.mark.parametrize("name", ["redactor.good", "policy.good", "plugin.good"])
def test_good_guards_do_not(install_fake_plugin: FakeSite, name: str) -> None:
    install_fake_plugin(name, GOOD.format(name="good"))
    found = install_fake_plugin.registry()
    assert found.recording_fault() is None
    assert [r.name for r in found.records("mem_redactors", Redactor)] == ["good"]


def test_other_broken_plugins_do_not(install_fake_plugin: FakeSite) -> None:
    install_fake_plugin("plugin.bad", "import a_module_that_is_not_there")
    install_fake_plugin("host.bad", "def broken(:")
    found = install_fake_plugin.registry()
    assert found.recording_fault() is None
    assert found.plugins["plugin.bad"].state is State.BROKEN


@pytest.mark.parametrize("name", ["redactor.bad", "redactor", "fake-redactor-bad", "*"])
def test_a_blocked_one_does_not(install_fake_plugin: FakeSite, name: str) -> None:
    install_fake_plugin("redactor.bad", "import a_module_that_is_not_there")
    assert install_fake_plugin.registry([name]).recording_fault() is None


def test_no_plugins_is_no_way_round_a_redactor(install_fake_plugin: FakeSite) -> None:
    install_fake_plugin("redactor.good", GOOD.format(name="good"))
    text = install_fake_plugin.registry(no_plugins=True).recording_fault()
    assert text is not None
    assert "--no-plugins" in text


def test_what_the_last_good_load_offered_is_remembered(
    install_fake_plugin: FakeSite, tmp_path: Path
) -> None:
    cache = tmp_path / "plugins.json"
    install_fake_plugin("plugin.x", GOOD.format(name="x"))
    assert install_fake_plugin.registry(offers=Offers(cache)).recording_fault() is None
    install_fake_plugin("plugin.x", "import a_module_that_is_not_there", version="2.0")
    text = install_fake_plugin.registry(offers=Offers(cache)).recording_fault()
    assert text is not None
    assert "plugin.x (fake-plugin-x 2.0)" in text
    without_memory = install_fake_plugin.registry(offers=Offers()).recording_fault()
    assert without_memory is None


def test_a_module_that_meant_to_redact_is_known_by_its_hooks(
    install_fake_plugin: FakeSite,
) -> None:
    install_fake_plugin("plugin.x", GOOD.format(name="x").replace("@hookimpl", ""))
    assert "lacks @hookimpl" in str(install_fake_plugin.registry().recording_fault())


def test_two_redactors_of_one_name_stop_recording(install_fake_plugin: FakeSite) -> None:
    install_fake_plugin("redactor.one", GOOD.format(name="same"))
    install_fake_plugin("redactor.two", GOOD.format(name="same"))
    text = str(install_fake_plugin.registry().recording_fault())
    assert "fake-redactor-one 1.0" in text
    assert "fake-redactor-two 1.0" in text
    assert install_fake_plugin.registry(["redactor.two"]).recording_fault() is None


def test_two_distributions_of_one_redactor_stop_recording(
    install_fake_plugin: FakeSite,
) -> None:
    install_fake_plugin("redactor.x", GOOD.format(name="x"), package="fake-one")
    install_fake_plugin("redactor.x", GOOD.format(name="x"), package="fake-two")
    assert "fake-two 1.0" in str(install_fake_plugin.registry().recording_fault())
    assert install_fake_plugin.registry(["fake-two"]).recording_fault() is None


def test_the_cores_own_plugin_wins_a_clash(install_fake_plugin: FakeSite) -> None:
    """And cannot be blocked, nor switched off by --no-plugins."""
    own = next(e for e in OWN if e.name == "redactor.secrets")
    rival = Entry("redactor.secrets", "fake_rival", "fake-rival", "1.0")
    found = Registry([rival, own], ["*", own.name, OWN_PACKAGE], no_plugins=True)
    assert found.plugins["redactor.secrets"].package == OWN_PACKAGE
    assert found.plugins["redactor.secrets"].state is State.FOUND
    assert found.plugins["redactor.secrets (fake-rival)"].state is State.BLOCKED
    unblocked = Registry([rival, own])
    assert unblocked.plugins["redactor.secrets"].state is State.FOUND
    assert "fake-rival 1.0" in str(unblocked.recording_fault())


def test_a_policy_answers_first_come(install_fake_plugin: FakeSite) -> None:
    install_fake_plugin("policy.a", POLICY.format(body="return None"))
    install_fake_plugin("policy.b", POLICY.format(body="return 'project ' + project"))
    install_fake_plugin("policy.c", POLICY.format(body="raise AssertionError"))
    found = install_fake_plugin.registry()
    assert found.first("mem_should_record", event=None, project="x") == "project x"
    assert found.recording_fault() is None


@pytest.mark.parametrize("body", ["raise OSError('no')", "return 3", "yield True"])
def test_a_policy_that_fails_stops_recording(install_fake_plugin: FakeSite, body: str) -> None:
    install_fake_plugin("policy.bad", POLICY.format(body=body))
    found = install_fake_plugin.registry()
    assert found.recording_fault() is None
    with pytest.raises(PluginError, match=r"policy\.bad"):
        found.first("mem_should_record", event=None, project="x")
    assert "policy.bad" in str(found.recording_fault())


def test_nobody_asked_is_no_answer(install_fake_plugin: FakeSite) -> None:
    found = install_fake_plugin.registry()
    assert found.first("mem_should_record", event=None, project="x") is None


def test_a_damaged_core_says_how_to_mend_it(monkeypatch: pytest.MonkeyPatch) -> None:
    own = Entry("redactor.secrets", "claude_mem_core.not_there", OWN_PACKAGE, "0")
    monkeypatch.setattr("claude_mem_core.plugins.entry.OWN", (own,))
    text = str(Registry([own]).recording_fault())
    assert "`pip install --force-reinstall claude-mem-core`" in text
    assert "block" not in text
