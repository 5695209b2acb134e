"""What `mem doctor` says of hosts: a test event, what was lost, each host's state."""

from __future__ import annotations

from collections.abc import Iterator

from claude_mem_core.cli import testevent
from claude_mem_core.cli.finding import OK, WARN, Look, Row
from claude_mem_core.cli.install.hosts import Target, chosen, setup_for, targets
from claude_mem_core.cli.worker_text import ago
from claude_mem_core.types import Host, HostStatus

NONE_YET = "no event yet"


def sent(look: Look) -> Iterator[Row]:
    """A test event, sent as a host sends its own."""
    if not look.state["running"]:
        yield Row(testevent.TOPIC, WARN, "not sent: the worker does not run", "mem start")
        return
    heard = look.state["hosts"]
    known = list(look.registry.records("mem_hosts", Host))
    # One that reports already is the best proof.
    known.sort(key=lambda host: -heard.get(host.name, 0))
    yield from testevent.rows(look.paths, known, look.cwd)


def loss(look: Look) -> Iterator[Row]:
    """How many events did not arrive, by the receipts."""
    if not look.state["running"]:
        return
    found = look.state["loss"]
    share = f"{100 * found['rate']:.2g} %" if found["accepted"] or found["lost"] else "none came"
    text = f"{found['lost']} of {found['accepted'] + found['lost']} events in 7 days ({share})"
    if found["lost"]:
        yield Row("lost", WARN, f"{text} could not be written to disk", "mem repair")
    else:
        yield Row("lost", OK, text)


def hosts(look: Look) -> Iterator[Row]:
    """Each host that is on this machine: our hooks in it, and its last event."""
    from claude_mem_core.edge import hook_argv

    setup = setup_for(look.paths, hook_argv(look.paths))
    for target in targets(look.registry):
        status = target.status(setup)
        if status.detected:
            yield from _state(look, target, status)


def one(look: Look, name: str) -> Iterator[Row]:
    """All that can be said of one host, and a test event sent in its words.

    Raises:
        UnknownName: there is no such host.
    """
    from claude_mem_core.edge import hook_argv

    (target,) = chosen(targets(look.registry), [name])
    setup = setup_for(look.paths, hook_argv(look.paths))
    yield from _state(look, target, target.status(setup))
    if not look.state["running"]:
        yield Row(testevent.TOPIC, WARN, "not sent: the worker does not run", "mem start")
        return
    if not target.record.hooks:
        yield Row(testevent.TOPIC, OK, f"none: {target.title} has no hooks")
        return
    yield from testevent.rows(look.paths, [target.record], look.cwd)


def _state(look: Look, target: Target, status: HostStatus) -> Iterator[Row]:
    place = f"{status.version} {status.config}".strip()
    if not status.installed:
        cure = f"mem install --ide {target.name}"
        yield Row(target.title, WARN, f"{place}: our hooks are not in it".strip(), cure)
    for problem in status.problems:
        # Some name what helps themselves; for the others an install puts it right.
        cure = "" if "`" in problem else f"mem install --ide {target.name}"
        yield Row(target.title, WARN, problem, cure)
    if status.installed and not status.problems:
        yield Row(target.title, OK, f"{place}; {_last(look, target)}")


def _last(look: Look, target: Target) -> str:
    at_ms = look.state.get("hosts", {}).get(target.name)
    return f"last event {ago(at_ms)}" if at_ms else NONE_YET
