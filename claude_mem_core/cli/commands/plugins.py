"""`mem plugins`: what is installed, what is wrong with it, and who may load."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Callable, Iterable
from typing import Any

from claude_mem_core.cli.emit import emit, emit_json
from claude_mem_core.errors import MemError, UnknownName
from claude_mem_core.extensions import registry_of
from claude_mem_core.files import locked, secure_dir, write_private
from claude_mem_core.paths import Paths, data_dir
from claude_mem_core.plugins.checkup import ask_all
from claude_mem_core.plugins.entry import OWN, Package
from claude_mem_core.plugins.index import installed
from claude_mem_core.plugins.kinds import KINDS
from claude_mem_core.plugins.metadata import normal
from claude_mem_core.plugins.policy import Pin, Policy, policy_bytes, read_policy
from claude_mem_core.plugins.registry import Plugin, Registry

HELP = "list plugins and what is wrong with them; block or allow some"

Change = Callable[[Policy, frozenset[str]], Policy]


def arguments(parser: ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--json", action="store_true", help="print JSON")
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    listing = actions.add_parser("list", help="every plugin with its state (the default)")
    listing.add_argument("--json", action="store_true", default=SUPPRESS, help="print JSON")
    for name, text in (
        ("block", "never load these: a plugin, a kind or a distribution"),
        ("unblock", "take them off the list of blocked ones"),
        ("allow", "pin these distributions as they are now, for the strict mode"),
    ):
        action = actions.add_parser(name, help=text)
        action.add_argument("name", nargs="+")
        action.add_argument("--json", action="store_true", default=SUPPRESS, help="print JSON")


def run(args: Namespace) -> int:
    """List, or change the policy; a broken plugin is no failure of this command."""
    paths = Paths(data_dir())
    action = {"block": block, "unblock": unblock, "allow": allow}.get(args.action or "list")
    if action is None:
        return list_plugins(paths, as_json=bool(args.json))
    policy = action(paths, args.name)
    if args.json:
        emit_json({"blocked": sorted(policy.blocked), "allowed": sorted(policy.allowed)})
    else:
        emit("Done. A running worker hears of it with `mem restart`.")
        if args.action == "allow":
            _tell_blocked(paths, args.name, policy)
    return 0


def _tell_blocked(paths: Paths, names: Iterable[str], policy: Policy) -> None:
    """To pin a plugin does not unblock it."""
    from claude_mem_core.settings import SettingsSource

    found = installed(paths.plugin_index)
    packages = {p.name: p for p in found.packages}
    in_settings = frozenset(SettingsSource(paths).current()["CLAUDE_MEM_PLUGINS_BLOCKED"])
    for package in (_distribution(paths, name, packages).name for name in names):
        own = [entry for entry in found.entries if entry.package == package]
        its = {package, *(e.name for e in own), *(e.name.partition(".")[0] for e in own)}
        for name in sorted(its & policy.blocked):
            emit(f"It stays blocked, as {name}: `mem plugins unblock {name}`.")
        for name in sorted(its & in_settings):
            emit(f"It stays blocked, as {name}, by CLAUDE_MEM_PLUGINS_BLOCKED in the settings.")


# Listing ---------------------------------------------------------------------


def list_plugins(paths: Paths, *, as_json: bool) -> int:
    """Print every plugin; all of them are loaded and asked for that."""
    settings, registry = registry_of(paths)
    ask_all(registry)
    origins = {p.name: p.origin for p in installed(paths.plugin_index).packages}
    rows = [_row(plugin, origins) for plugin in registry.plugins.values()]
    if as_json:
        strict = settings.current()["CLAUDE_MEM_PLUGINS_STRICT"]
        stopped = registry.recording_fault()
        emit_json({"plugins": rows, "recording_stopped": stopped, "strict": strict})
        return 0
    _print(rows, registry)
    return 0


def _row(plugin: Plugin, origins: dict[str, str]) -> dict[str, Any]:
    return {
        "name": plugin.name,
        "kind": plugin.kind,
        "distribution": plugin.package,
        "version": plugin.version,
        "origin": "core" if plugin.entry.own else origins.get(plugin.package, ""),
        "state": str(plugin.state),
        "fault": plugin.error,
        "hooks": sorted(plugin.hooks),
    }


def _print(rows: list[dict[str, Any]], registry: Registry) -> None:
    wide = max(len(row["name"]) for row in rows)
    for row in rows:
        source = f"{row['distribution']} {row['version']}"
        source += f", {row['origin']}" if row["origin"] not in {"core", ""} else ""
        emit(f"{row['name']:<{wide}}  {row['state']:<8} {source}")
        if row["fault"]:
            emit(f"{'':<{wide}}  {row['fault']}")
    stopped = registry.recording_fault()
    if stopped:
        emit(f"\nRecording is stopped: {stopped}")


# Changing --------------------------------------------------------------------


def block(paths: Paths, names: Iterable[str]) -> Policy:
    """Add names to the blocked ones.

    Raises:
        UnknownName: nothing installed has such a name.
        MemError: the name is a part of the core.
    """
    found = installed(paths.plugin_index)
    entries = {entry.name for entry in found.entries}
    known = entries | {package.name for package in found.packages}
    wanted = {_known(name, known | KINDS) for name in names}
    return _change(paths, lambda policy: Policy(policy.blocked | wanted, policy.allowed))


def _known(name: str, known: frozenset[str] | set[str]) -> str:
    if name in {entry.name for entry in OWN} - known:
        raise MemError(f"{name} is a part of the core and can't be blocked (`mem config list`)")
    for candidate in (name, normal(name)):
        if candidate in known:
            return candidate
    raise UnknownName("plugin", name, sorted(known - KINDS))


def unblock(paths: Paths, names: Iterable[str]) -> Policy:
    """Take names off the blocked ones.

    Raises:
        UnknownName: a name is not blocked.
    """
    blocked = read_policy(paths.plugin_policy).blocked
    wanted = {_blocked(paths, name, blocked) for name in names}
    return _change(paths, lambda policy: Policy(policy.blocked - wanted, policy.allowed))


def _blocked(paths: Paths, name: str, blocked: frozenset[str]) -> str:
    from claude_mem_core.settings import SettingsSource

    for candidate in (name, normal(name)):
        if candidate in blocked:
            return candidate
    key = "CLAUDE_MEM_PLUGINS_BLOCKED"
    if name in SettingsSource(paths).current()[key]:
        raise MemError(f"{name} is blocked in the settings: `mem config set {key} ...`")
    raise UnknownName("blocked plugin", name, sorted(blocked))


def allow(paths: Paths, names: Iterable[str]) -> Policy:
    """Pin distributions with the version and RECORD they have now.

    Raises:
        UnknownName: no distribution with plugins has such a name.
        MemError: it has no RECORD, so nothing could be compared later.
    """
    packages = {p.name: p for p in installed(paths.plugin_index).packages}
    pins = dict(_pin(_distribution(paths, name, packages)) for name in names)
    return _change(paths, lambda policy: Policy(policy.blocked, {**policy.allowed, **pins}))


def _distribution(paths: Paths, name: str, packages: dict[str, Package]) -> Package:
    """The distribution of this name, or the one that offers a plugin of this name."""
    entries = installed(paths.plugin_index).entries
    named = {normal(name)} | {e.package for e in entries if e.name == name}
    found = [packages[package] for package in sorted(named & packages.keys())]
    if len(found) != 1:
        raise UnknownName("distribution with plugins", name, sorted(packages))
    return found[0]


def _pin(package: Package) -> tuple[str, Pin]:
    if not package.record:
        source = f"{package.name} ({package.origin})"
        raise MemError(f"{source} has no RECORD to pin; install it with pip")
    if package.origin.startswith("editable"):
        emit(f"{package.name} is editable: changes in its sources will not be noticed")
    return package.name, Pin(package.version, package.record)


def _change(paths: Paths, change: Callable[[Policy], Policy]) -> Policy:
    """Read, change and write the policy, one process at a time.

    Raises:
        MemError: the file is damaged; it is left as it is.
    """
    secure_dir(paths.data)
    with locked(paths.plugin_policy.with_suffix(".lock")):
        policy = read_policy(paths.plugin_policy)
        if policy.broken:
            raise MemError(policy.broken)
        changed = change(policy)
        write_private(paths.plugin_policy, policy_bytes(changed))
    return changed
