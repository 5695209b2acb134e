"""`mem status`: the worker, its work, and what is wrong."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from claude_mem_core.cli.emit import emit, emit_json
from claude_mem_core.cli.model_text import line
from claude_mem_core.cli.worker_text import ago, duration, size
from claude_mem_core.errors import MemError, UsageError
from claude_mem_core.paths import Paths, data_dir

HELP = "show the state of worker, queue and database"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """0 when all is well, 1 when the worker is down or something is wrong."""
    from claude_mem_core.plugins.news import news

    paths = Paths(data_dir())
    hosts = connected(paths)
    found = {**state(paths), "news": news(paths), "connected": list(hosts)}
    found["unready"] = {name: list(faults) for name, faults in hosts.items() if faults}
    found["paused"] = paused(paths)
    if found.get("clones"):
        _told(paths)
    if args.json:
        emit_json(found)
    else:
        for line in lines(found):
            emit(line)
    return 0 if found["running"] and found.get("status") == "ok" else 1


def state(paths: Paths) -> dict[str, Any]:
    """What the worker says, or what can be seen without it."""
    from claude_mem_core.cli.client import WorkerClient

    client = WorkerClient(paths)
    try:
        if client.health() is not None:
            return {"running": True, **client.get("/api/admin/doctor")}
        trouble = None
    except MemError as error:
        trouble = str(error)
    return {"running": False, **_from_disk(paths, trouble)}


def paused(paths: Paths) -> str:
    """`paused until ...`; empty when no pause is on."""
    from claude_mem_core.settings import SettingsSource
    from claude_mem_core.settings.pausing import paused_text

    return paused_text(SettingsSource(paths).current())


def connected(paths: Paths) -> dict[str, Sequence[str]]:
    """Hosts that have our hooks, with what keeps these from running; trust, for one.

    A host that can't be looked at has none.
    """
    from claude_mem_core.cli.install.hosts import registry_for, setup_for, targets
    from claude_mem_core.edge import hook_argv

    found: dict[str, Sequence[str]] = {}
    with suppress(UsageError):  # a user without a home directory
        setup = setup_for(paths, hook_argv(paths))
        for target in targets(registry_for(paths)):
            with suppress(MemError):
                status = target.status(setup)
                if status.installed:
                    found[target.name] = status.problems
    return found


def _told(paths: Paths) -> None:
    """What could be linked is named once here; `mem project list` names it always."""
    from claude_mem_core.cli.client import WorkerClient

    with suppress(MemError):
        WorkerClient(paths).post("/api/admin/projects/told")


def _from_disk(paths: Paths, trouble: str | None) -> dict[str, Any]:
    from claude_mem_core import edge
    from claude_mem_core.extensions import registry_of
    from claude_mem_core.worker import process, report, room

    source, registry = registry_of(paths)
    settings = source.current()
    faults = {"recording": registry.recording_fault(), "disk": room.fault(paths.data)}
    return {
        "trouble": trouble,
        "notes": {topic: fault for topic, fault in faults.items() if fault},
        "lock_held": process.is_held(paths),
        "last_failure": process.last_failure(paths),
        "autostart": bool(settings["CLAUDE_MEM_WORKER_AUTOSTART"]),
        "database": report.database(paths.database),
        "settings": report.settings_state(settings),
        "spool": report.spool_counts(paths.spool),
        "lost": edge.lost(paths),
    }


def lines(found: dict[str, Any]) -> Iterator[str]:
    """The same for people."""
    yield from _worker(found) if found["running"] else _down(found)
    yield from _hosts(found)
    if "models" in found:
        yield line(found["models"])
    base = found["database"]
    wal = f" (+{size(base['wal'])} not yet merged)" if base["wal"] else ""
    yield f"database  {base['path']}, {size(base['size'])}{wal}, {base['state']}"
    yield from _work(found)
    yield from _trouble(found)


def _worker(found: dict[str, Any]) -> Iterator[str]:
    up = duration(found["uptime"])
    yield f"worker    {found['status']}, pid {found['pid']}, version {found['version']}, up {up}"
    yield f"recording {_recording(found)}"
    port = found["tcp"]["port"]
    yield f"tcp       {f'port {port}' if port else 'off (only the private socket)'}"


def _recording(found: dict[str, Any]) -> str:
    if not found["recording"]:
        return "STOPPED"
    if found.get("paused"):
        return _paused(found)
    held = {"disk", "store"} & found["notes"].keys()
    return "HELD UP: nothing can be stored, see below" if held else "on"


def _paused(found: dict[str, Any]) -> str:
    return f"{found['paused'].upper()}; `mem resume` ends it"


def _hosts(found: dict[str, Any]) -> Iterator[str]:
    """Who reports here; or that nobody does, and the way to change it."""
    heard = found.get("hosts", {})
    for host, at_ms in heard.items():
        yield f"host      {host}: last event {ago(at_ms)}"
    for host in found["connected"]:
        if host not in heard:
            yield f"host      {host}: connected; no event yet"
    if not found["connected"]:
        yield "host      none is connected: `mem install` puts the hooks in"
    for host, faults in found["unready"].items():
        yield from (f"! {host}: {fault}" for fault in faults)


def _down(found: dict[str, Any]) -> Iterator[str]:
    if found["trouble"]:
        yield f"worker    no answer: {found['trouble']}"
    else:
        yield "worker    not running; a hook starts it, or `mem start`"
    if found.get("paused"):
        yield f"recording {_paused(found)}"
    failure = found["last_failure"]
    if failure:
        yield f"last start failed {ago(failure['at_ms'])}: {failure['text']}"


def _work(found: dict[str, Any]) -> Iterator[str]:
    queue = found.get("queue")
    if queue:
        yield (
            f"queue     {queue['pending']} waiting, {queue['processing']} in work,"
            f" {queue['failed']} failed"
        )
    counts = found.get("counters")
    if counts:
        yield "events    " + _counted(counts)
    spool = found["spool"]
    drained = f", {spool['drained']} taken in" if spool.get("drained") else ""
    yield f"spool     {spool['waiting']} waiting, {spool['rejected']} rejected{drained}"


def _counted(counts: dict[str, int]) -> str:
    skipped = {k.partition(":")[2]: n for k, n in counts.items() if k.startswith("skipped:")}
    why = ", ".join(f"{n} {reason}" for reason, n in sorted(skipped.items()))
    parts = [f"{counts.get('accepted', 0)} accepted"]
    parts += [f"{sum(skipped.values())} skipped{f' ({why})' if why else ''}"]
    parts += [f"{counts[k]} {k}" for k in ("duplicate", "refused", "dead") if counts.get(k)]
    return ", ".join(parts)


def _trouble(found: dict[str, Any]) -> Iterator[str]:
    from claude_mem_core.plugins.news import few

    if found["lost"]:
        yield f"! {found['lost']} events were lost: hooks could not write them to disk"
    yield from (f"* {line}" for line in (*few(found["news"]), *found.get("clones", ())))
    for topic, text in found.get("notes", {}).items():
        yield f"! {topic}: {text}"
    for plugin in found.get("plugins", ()):
        if plugin["error"]:
            yield f"! plugin {plugin['name']} {plugin['state']}: {plugin['error']}"
    for name, sink in found.get("sinks", {}).items():
        if sink["fault"]:
            yield f"! sink {name}: {sink['fault']} ({ago(sink['failed_ms'])})"
    for name, text in found.get("indexes", {}).get("faults", {}).items():
        yield f"! search {name}: {text}"
    for warning in found["settings"]["warnings"]:
        yield f"! settings: {warning}"
