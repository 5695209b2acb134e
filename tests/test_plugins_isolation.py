"""Whatever a plugin does wrong, the others work and the fault has its name on it."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from textwrap import dedent

import pytest

from claude_mem_core.errors import UnknownName
from claude_mem_core.plugins.registry import State
from claude_mem_core.testing.fake_site import FakeSite
from claude_mem_core.types import CONTRACT, Command, Host, Provider, Setting

GOOD = """
    from claude_mem_core import hookimpl
    from claude_mem_core.types import Provider

    @hookimpl
    def mem_providers():
        yield Provider(name="good", open=lambda settings: None)
"""

AT_LOAD = {
    "import error": ("import a_module_that_is_not_there", "ModuleNotFoundError"),
    "syntax error": ("def broken(:", "SyntaxError"),
    "exits": ("raise SystemExit(3)", "SystemExit: 3"),
    "base exception": ("raise GeneratorExit", "GeneratorExit"),
    "no text": ("raise ValueError", "ValueError"),
    "broken text": (
        "class E(Exception):\n    def __str__(self):\n        raise ValueError\nraise E",
        "E",
    ),
    "long text": ("raise ValueError('x' * 10_000)", "xxx..."),
    "no hook": ("x = 1", "implements no hook"),
    "newer contract": (
        f"CLAUDE_MEM_CONTRACT = {CONTRACT + 1}\n" + GOOD.replace("\n    ", "\n"),
        "pip install -U claude-mem-core",
    ),
    "odd contract": (
        "CLAUDE_MEM_CONTRACT = 'one'\n" + GOOD.replace("\n    ", "\n"),
        "contract 'one'",
    ),
    "unknown argument": (GOOD.replace("providers()", "providers(surprise)"), "surprise"),
    "unknown hook": (GOOD.replace("mem_providers", "mem_provider"), "unknown hook"),
    "no mark": (GOOD.replace("@hookimpl", ""), "lacks @hookimpl"),
    "wrapper": (GOOD.replace("@hookimpl", "@hookimpl(wrapper=True)"), "wrapper"),
    "old wrapper": (GOOD.replace("@hookimpl", "@hookimpl(hookwrapper=True)"), "wrapper"),
    "hook of another kind": (GOOD.replace("mem_providers", "mem_hosts"), "not asked for"),
}


@pytest.mark.parametrize(("code", "text"), AT_LOAD.values(), ids=AT_LOAD.keys())
def test_broken_at_load(install_fake_plugin: FakeSite, code: str, text: str) -> None:
    install_fake_plugin("provider.bad", code)
    install_fake_plugin("provider.good", GOOD)
    found = install_fake_plugin.registry()
    assert [p.name for p in found.records("mem_providers", Provider)] == ["good"]
    bad = found.plugins["provider.bad"]
    assert bad.state is State.BROKEN
    assert text in bad.error
    assert "\n" not in bad.error
    assert found.hooks.get_plugin("provider.bad") is None
    assert found.plugins["provider.good"].error == ""


def test_half_registered_plugin_leaves_nothing_behind(install_fake_plugin: FakeSite) -> None:
    install_fake_plugin(
        "plugin.bad",
        """
        from claude_mem_core import hookimpl

        @hookimpl
        def mem_hosts():
            raise AssertionError("must not be called")

        @hookimpl
        def mem_providers(surprise):
            return ()
        """,
    )
    found = install_fake_plugin.registry()
    assert list(found.call("mem_hosts")) == []


def test_module_that_is_gone_is_named(install_fake_plugin: FakeSite) -> None:
    install_fake_plugin("provider.gone", GOOD).unlink()
    found = install_fake_plugin.registry()
    found.load(None)
    assert "No module named" in found.plugins["provider.gone"].error


def test_hanging_import_is_left_behind(install_fake_plugin: FakeSite) -> None:
    # A name of its own: the thread left behind holds the import lock of its module.
    install_fake_plugin("provider.hangs", "import threading; threading.Event().wait(30)")
    install_fake_plugin("provider.good", GOOD)
    found = install_fake_plugin.registry(import_limit=0.2)
    start = time.monotonic()
    assert [p.name for p in found.records("mem_providers", Provider)] == ["good"]
    assert time.monotonic() - start < 10
    assert "did not finish within 0.2 s" in found.plugins["provider.hangs"].error


def test_two_threads_load_a_plugin_once(install_fake_plugin: FakeSite) -> None:
    install_fake_plugin("provider.slow", "import time; time.sleep(0.2)\n" + dedent(GOOD))
    found = install_fake_plugin.registry()
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: found.load("provider"), range(4)))
    slow = found.plugins["provider.slow"]
    assert (slow.state, slow.error) == (State.LOADED, "")


AT_CALL = {
    "raises": ("raise OSError('no')", "OSError: no"),
    "exits": ("raise SystemExit", "SystemExit"),
    "wrong record": ("yield 1", "mem_providers yields Provider, not int"),
    "half-way": ("yield; raise OSError('late')", "OSError: late"),
    "no iterable": ("return 3", "not iterable"),
    "text": ("return 'echo'", "not str"),
    "endless": ("while True: yield None", "more than 1000"),
    "bad name": ("yield Provider(name='Good!', open=None)", "ValueError"),
    "iterable that fails": ("return Failing()", "OSError: inside"),
    "recursion": ("return mem_providers()", "RecursionError"),
}


@pytest.mark.parametrize(("body", "text"), AT_CALL.values(), ids=AT_CALL.keys())
def test_broken_at_call(install_fake_plugin: FakeSite, body: str, text: str) -> None:
    install_fake_plugin(
        "provider.bad",
        f"""
        from claude_mem_core import hookimpl
        from claude_mem_core.types import Provider

        class Failing:
            def __iter__(self):
                raise OSError("inside")

        @hookimpl
        def mem_providers():
            {body}
        """,
    )
    install_fake_plugin("provider.good", GOOD)
    found = install_fake_plugin.registry()
    assert [p.name for p in found.records("mem_providers", Provider)] == ["good"]
    assert text in found.plugins["provider.bad"].error
    assert found.plugins["provider.bad"].state is State.LOADED


def test_async_hook_is_a_fault_and_no_warning(install_fake_plugin: FakeSite) -> None:
    code = GOOD.replace("def mem", "async def mem").replace("yield", "return")
    install_fake_plugin("provider.bad", code)
    found = install_fake_plugin.registry()
    assert list(found.records("mem_providers", Provider)) == []
    assert "not `async def`" in found.plugins["provider.bad"].error


def test_interrupting_the_person_still_works(install_fake_plugin: FakeSite) -> None:
    body = GOOD.replace("yield", "raise KeyboardInterrupt; yield")
    install_fake_plugin("provider.bad", body)
    with pytest.raises(KeyboardInterrupt):
        list(install_fake_plugin.registry().records("mem_providers", Provider))


def test_good_records_beside_a_wrong_one_are_used(install_fake_plugin: FakeSite) -> None:
    install_fake_plugin("provider.mixed", GOOD + "        yield 'wrong'\n")
    found = install_fake_plugin.registry()
    assert [p.name for p in found.records("mem_providers", Provider)] == ["good"]
    assert found.plugins["provider.mixed"].error


def test_blocked_plugin_is_never_imported(install_fake_plugin: FakeSite) -> None:
    install_fake_plugin("provider.bad", "raise AssertionError('imported')")
    for name in ("provider.bad", "provider", "fake-provider-bad", "*"):
        found = install_fake_plugin.registry([name])
        found.load(None)
        assert found.plugins["provider.bad"].state is State.BLOCKED, name


def test_without_plugins_nothing_is_imported(install_fake_plugin: FakeSite) -> None:
    install_fake_plugin("provider.bad", "raise AssertionError('imported')")
    found = install_fake_plugin.registry(no_plugins=True)
    found.load(None)
    assert found.plugins["provider.bad"].state is State.REFUSED
    assert "--no-plugins" in found.plugins["provider.bad"].error


def test_unknown_name_says_what_is_known(install_fake_plugin: FakeSite) -> None:
    install_fake_plugin("provider.good", GOOD)
    found = install_fake_plugin.registry()
    assert found.record("mem_providers", Provider, "good").name == "good"
    with pytest.raises(UnknownName, match=r"no provider named 'nope' \(known: good\)"):
        found.record("mem_providers", Provider, "nope")


def test_two_entry_points_of_one_name_are_both_faulty(install_fake_plugin: FakeSite) -> None:
    install_fake_plugin("provider.same", GOOD, package="fake-one", version="1.5")
    install_fake_plugin("provider.same", GOOD, package="fake-two")
    found = install_fake_plugin.registry()
    assert list(found.records("mem_providers", Provider)) == []
    assert len(found.plugins) == 2
    for plugin in found.plugins.values():
        assert plugin.state is State.BROKEN
        assert "fake-one 1.5" in plugin.error
        assert "fake-two 1.0" in plugin.error
    mended = install_fake_plugin.registry(["fake-one"])
    assert [p.name for p in mended.records("mem_providers", Provider)] == ["good"]
    assert mended.plugins["provider.same"].package == "fake-two"


def test_two_records_of_one_name_are_both_faulty(install_fake_plugin: FakeSite) -> None:
    install_fake_plugin("provider.one", GOOD)
    install_fake_plugin("provider.two", GOOD)
    found = install_fake_plugin.registry()
    assert [p.name for p in found.records("mem_providers", Provider)] == ["good"]
    for plugin in found.plugins.values():
        assert plugin.state is State.LOADED
        assert "fake-provider-one 1.0" in plugin.error
        assert "fake-provider-two 1.0" in plugin.error


@pytest.mark.parametrize("name", ["good", "nokind.good", "provider.", ".good", "Provider.x"])
def test_a_name_without_a_known_kind_is_refused(
    install_fake_plugin: FakeSite, name: str
) -> None:
    install_fake_plugin(name, GOOD, package="fake-odd")
    found = install_fake_plugin.registry()
    found.load(None)
    (plugin,) = found.plugins.values()
    assert plugin.state is State.BROKEN
    assert "unknown kind" in plugin.error


def test_asking_a_hook_loads_its_kinds_only(install_fake_plugin: FakeSite) -> None:
    for kind in ("provider", "host", "plugin"):
        code = GOOD if kind != "host" else GOOD.replace("mem_providers", "mem_started")
        install_fake_plugin(f"{kind}.x", code)
    found = install_fake_plugin.registry()
    list(found.records("mem_commands", Command))
    states = {name: plugin.state for name, plugin in found.plugins.items()}
    assert states == {"plugin.x": "loaded", "host.x": "found", "provider.x": "found"}
    list(found.call("mem_stopped"))
    assert found.plugins["host.x"].state is State.LOADED
    assert found.plugins["provider.x"].state is State.FOUND, "providers load when asked for"
    found.load("provider")
    assert found.plugins["provider.x"].state is State.LOADED


def test_records_without_a_name_are_told_apart_by_their_key(
    install_fake_plugin: FakeSite,
) -> None:
    install_fake_plugin(
        "host.x",
        """
        from claude_mem_core import hookimpl
        from claude_mem_core.types import Setting

        @hookimpl
        def mem_settings():
            return [Setting(key="CLAUDE_MEM_X"), Setting(key="CLAUDE_MEM_Y")]
        """,
    )
    found = install_fake_plugin.registry()
    keys = [setting.key for setting in found.records("mem_settings", Setting)]
    assert keys == ["CLAUDE_MEM_X", "CLAUDE_MEM_Y"]


def test_the_order_does_not_depend_on_what_loaded_first(install_fake_plugin: FakeSite) -> None:
    host = """
    from claude_mem_core import hookimpl
    from claude_mem_core.types import Host

    @hookimpl{how}
    def mem_hosts():
        yield Host(name="{name}", open=lambda: None)
    """
    install_fake_plugin("host.b", host.format(name="b", how=""))
    install_fake_plugin("plugin.a", host.format(name="a", how=""))
    install_fake_plugin("host.early", host.format(name="early", how="(tryfirst=True)"))
    install_fake_plugin("host.a-late", host.format(name="late", how="(trylast=True)"))
    for first in ("plugin", "host"):
        found = install_fake_plugin.registry()
        found.load(first)
        names = [record.name for record in found.records("mem_hosts", Host)]
        assert names == ["early", "b", "a", "late"]
        install_fake_plugin.forget()


def test_a_plugin_may_leave_out_arguments(install_fake_plugin: FakeSite) -> None:
    install_fake_plugin(
        "context.x",
        """
        from claude_mem_core import hookimpl
        from claude_mem_core.types import Block

        @hookimpl
        def mem_context_blocks(project):
            yield Block(title="a", text=project)
            yield Block(title="a", text="twice is no clash")
        """,
    )
    found = install_fake_plugin.registry()
    (outcome,) = found.call("mem_context_blocks", project="shop", query=None)
    assert [block.text for block in outcome.value] == ["shop", "twice is no clash"]


def test_the_same_fault_is_logged_once(
    install_fake_plugin: FakeSite, caplog: pytest.LogCaptureFixture
) -> None:
    install_fake_plugin("sink.x", GOOD.replace("mem_providers", "mem_stopped"))
    install_fake_plugin("host.x", GOOD.replace("mem_providers", "mem_stopped"))
    install_fake_plugin(
        "provider.x", GOOD.replace("yield Provider", "raise OSError; yield Provider")
    )
    found = install_fake_plugin.registry()
    for _ in range(3):
        list(found.records("mem_providers", Provider))
    assert [r.getMessage() for r in caplog.records if "provider.x" in r.getMessage()] == [
        "plugin provider.x (fake-provider-x 1.0): OSError"
    ]
