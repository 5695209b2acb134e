"""Loading plugins late, and living with those that break.

    registry = open_registry(paths, blocked)
    host = registry.record("mem_hosts", Host, "claude-code")

Asking a hook imports the plugins of its kinds (`kinds.py`) that are not imported yet.
A plugin that fails keeps its fault in `plugins` and costs its own function only, but
for redactor and policy plugins: `recording_fault` then says why nothing is stored.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

from pluggy import HookImpl

from claude_mem_core.errors import PluginError, UnknownName
from claude_mem_core.plugins.calls import Outcome, call_each, describe
from claude_mem_core.plugins.entry import OWN, Entry
from claude_mem_core.plugins.index import installed
from claude_mem_core.plugins.kinds import GUARD_HOOKS, GUARDS, kind_of, kinds_of, loaded_for
from claude_mem_core.plugins.loading import bring, check, hooks_in, manager, register
from claude_mem_core.plugins.offers import Offers
from claude_mem_core.plugins.plugin import Plugin, State
from claude_mem_core.plugins.policy import read_policy, refusals
from claude_mem_core.types import Redactor

if TYPE_CHECKING:
    from claude_mem_core.paths import Paths

__all__ = ["Plugin", "Registry", "State", "open_registry"]

log = logging.getLogger(__name__)
# Without a handler Python prints warnings to the terminal as they are; a plugin's error
# is a stranger's text. Who wants the log sets a handler, as the worker does.
log.addHandler(logging.NullHandler())
R = TypeVar("R")

IMPORT_LIMIT = 10.0


class Registry:
    """The plugins of one process. Blocked and refused ones are never imported.

    `blocked` holds entry-point names, kinds, distributions, or `*`; the core's own
    plugins can't be blocked. `refused` maps distributions to the reason. `data_dir`: for hooks.
    """

    def __init__(
        self,
        entries: Iterable[Entry],
        blocked: Iterable[str] = (),
        *,
        no_plugins: bool = False,
        refused: Mapping[str, str] | None = None,
        offers: Offers | None = None,
        import_limit: float = IMPORT_LIMIT,
        data_dir: str = "",
    ) -> None:
        self.hooks = manager()
        self.plugins: dict[str, Plugin] = {}
        self._offers, self._limit = offers or Offers(), import_limit
        self._facts = {"data_dir": data_dir}
        self._closed: dict[str, str] = {}
        self._guards_asked = False
        self._loading = RLock()
        self._admit(entries, frozenset(blocked))
        self._refuse(refused or {}, no_plugins)

    # Who may load ------------------------------------------------------------

    def _admit(self, entries: Iterable[Entry], blocked: frozenset[str]) -> None:
        """Give each its key in `plugins`: its name, but for the losers of a clash."""
        by_name: dict[str, list[Plugin]] = {}
        for entry in sorted(entries, key=lambda e: (not e.own, e)):
            plugin = Plugin(entry)
            names = {plugin.name, plugin.kind, plugin.package, "*"}
            if names & blocked and not entry.own:
                plugin.state = State.BLOCKED
            by_name.setdefault(entry.name, []).append(plugin)
        for name, group in by_name.items():
            first, *others = sorted(group, key=lambda p: p.state is State.BLOCKED)
            self.plugins[name] = first
            self.plugins.update({f"{p.name} ({p.package})": p for p in others})
            self._entry_clash([p for p in group if p.state is not State.BLOCKED])

    def _entry_clash(self, group: list[Plugin]) -> None:
        """Nobody can tell which one is meant, so none loads but the core's own."""
        if len(group) < 2:
            return
        labels = " and ".join(plugin.label for plugin in group)
        text = f"{labels} use one name; block all but one: `mem plugins block DISTRIBUTION`"
        for plugin in group:
            if not plugin.entry.own:
                plugin.state = State.BROKEN
            guard = self._is_guard(plugin) and not plugin.entry.own
            self._fault(plugin, PluginError(plugin.name, text), guard=guard, advice=False)

    def _refuse(self, refused: Mapping[str, str], no_plugins: bool) -> None:
        for plugin in self.plugins.values():
            reason = "started with --no-plugins" if no_plugins else refused.get(plugin.package)
            if plugin.state is not State.FOUND or plugin.entry.own or not reason:
                continue
            plugin.state = State.REFUSED
            plugin.error = reason
            if self._is_guard(plugin):
                self._close(plugin, reason)

    # Loading -----------------------------------------------------------------

    def load(self, *kinds: str | None) -> None:
        """Import the plugins of these kinds; of all kinds when none, or None, is given."""
        everything = not kinds or None in kinds
        with self._loading:
            for plugin in self.plugins.values():
                if plugin.state is State.FOUND and (everything or plugin.kind in kinds):
                    self._load(plugin)

    def _load(self, plugin: Plugin) -> None:
        try:
            found = bring(plugin.entry, self._limit)
            plugin.hooks = hooks_in(found)
            check(plugin.name, found, plugin.hooks)
            register(self.hooks, plugin.name, found)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            plugin.state = State.BROKEN
            self._fault(plugin, error, guard=self._is_guard(plugin))
        else:
            plugin.state = State.LOADED
            self._offers.remember(plugin.package, plugin.name, plugin.hooks)

    def _is_guard(self, plugin: Plugin) -> bool:
        """Whether it decides what is stored: by its kind, its hooks, or its last good load."""
        known = plugin.hooks | self._offers.of(plugin.package, plugin.name)
        return plugin.kind in GUARDS or bool(known & GUARD_HOOKS)

    # Asking ------------------------------------------------------------------

    def call(self, hook: str, **kwargs: Any) -> Iterator[Outcome]:
        """Call every implementation of `hook`; yield one outcome for each, lazily.

        Faults are noted in `plugins`. `kwargs` are the arguments of the specification.
        """
        self.load(*loaded_for(hook))
        for outcome in call_each(self._impls(hook), {**self._facts, **kwargs}):
            told = _verdict(outcome) if hook == "mem_should_record" else outcome
            if told.error is not None:
                self.fault(told.plugin, told.error, hook)
            yield told

    def _impls(self, hook: str) -> list[HookImpl]:
        kinds = kinds_of(hook)
        impls = getattr(self.hooks.hook, hook).get_hookimpls()
        return sorted((i for i in impls if kind_of(i.plugin_name) in kinds), key=self._rank)

    def _rank(self, impl: HookImpl) -> tuple[int, bool, str]:
        """Core first, then by name: the order must not depend on who loaded first."""
        place = 0 if impl.tryfirst else 2 if impl.trylast else 1
        return place, not self.plugins[impl.plugin_name].entry.own, impl.plugin_name

    def first(self, hook: str, **kwargs: Any) -> Any:
        """The first answer that is not None, else None.

        Raises:
            PluginError: a plugin that guards what is stored failed to answer.
        """
        for outcome in self.call(hook, **kwargs):
            if outcome.error is not None and hook in GUARD_HOOKS:
                raise PluginError(outcome.plugin, describe(outcome.error))
            if outcome.error is None and outcome.value is not None:
                return outcome.value
        return None

    def records(self, hook: str, kind: type[R], **kwargs: Any) -> Iterator[R]:
        """Yield what plugins offer. Of two with one name the first is used, the core's
        own before all, and both plugins get a fault.
        """
        seen: dict[str, str] = {}
        for outcome in self.call(hook, **kwargs):
            for record in self._checked(hook, kind, outcome):
                name = getattr(record, "name", None) or getattr(record, "key", None)
                owner = seen.setdefault(name, outcome.plugin) if name else outcome.plugin
                if owner == outcome.plugin:
                    yield record
                else:
                    self._record_clash(hook, str(name), owner, outcome.plugin)

    def _checked(self, hook: str, kind: type[R], outcome: Outcome) -> Iterator[R]:
        if outcome.error is not None or outcome.value is None:
            return
        try:
            records = tuple(outcome.value)
        except Exception as error:
            self.fault(outcome.plugin, error, hook)
            return
        for record in records:
            if isinstance(record, kind):
                yield record
            else:
                wrong = TypeError(f"{hook} yields {kind.__name__}, not {type(record).__name__}")
                self.fault(outcome.plugin, wrong, hook)

    def record(self, hook: str, kind: type[R], name: str) -> R:
        """The one record of this name.

        Raises:
            UnknownName: no loaded plugin offers it; the text lists the names there are.
        """
        found = {getattr(r, "name", ""): r for r in self.records(hook, kind)}
        if name in found:
            return found[name]
        raise UnknownName(kind.__name__.removesuffix("Record").lower(), name, sorted(found))

    # Faults ------------------------------------------------------------------

    def fault(self, plugin: str, error: BaseException, hook: str = "") -> None:
        """Note that a plugin failed, in a hook or in what it offered there."""
        if plugin in self.plugins:
            self._fault(self.plugins[plugin], error, guard=hook in GUARD_HOOKS)

    def _fault(
        self, plugin: Plugin, error: BaseException, *, guard: bool, advice: bool = True
    ) -> None:
        text = error.reason if isinstance(error, PluginError) else describe(error)
        if plugin.error != text:  # the same fault with every event is told once
            plugin.error = text
            log.warning("plugin %s: %s", plugin.label, text)
            log.debug("plugin %s", plugin.name, exc_info=error)
        if guard:
            self._close(plugin, text, advice=advice)

    def _record_clash(self, hook: str, name: str, *plugins: str) -> None:
        group = [self.plugins[plugin] for plugin in plugins]
        labels = " and ".join(plugin.label for plugin in group)
        text = f"{labels} offer {name!r} to {hook}; block one: `mem plugins block NAME`"
        for plugin in group:
            fault = PluginError(plugin.name, text)
            self._fault(plugin, fault, guard=hook in GUARD_HOOKS, advice=False)

    def _close(self, plugin: Plugin, reason: str, *, advice: bool = True) -> None:
        remedy = f"mend it, or `mem plugins block {plugin.name}`"
        if plugin.entry.own:
            remedy = "`pip install --force-reinstall claude-mem-core`"
        text = f"plugin {plugin.label}: {reason}" + (f" ({remedy})" if advice else "")
        self._closed.setdefault(plugin.name, text)

    def recording_fault(self) -> str | None:
        """Why nothing may be stored, with plugin and command; None when all is well.

        Loads the redactor and policy plugins and asks them once, so that a broken one
        is known before the first event. A fault stays until the process is restarted.
        """
        if not self._guards_asked:
            self._guards_asked = True
            self.load(*GUARDS, *loaded_for("mem_redactors"))
            for _ in self.records("mem_redactors", Redactor):
                pass
        return next(iter(self._closed.values()), None)


def _verdict(outcome: Outcome) -> Outcome:
    """An answer that is no answer must not pass for permission."""
    if outcome.error is not None or isinstance(outcome.value, (bool, str, type(None))):
        return outcome
    answers = "mem_should_record answers None, True, False or a reason"
    wrong = TypeError(f"{answers}, not {type(outcome.value).__name__}")
    return Outcome(outcome.plugin, error=wrong)


def open_registry(
    paths: Paths,
    blocked: Iterable[str] = (),
    no_plugins: bool = False,
    *,
    strict: bool | None = False,
) -> Registry:
    """The registry of the installed plugins, under the user's policy.

    `strict` is the setting CLAUDE_MEM_PLUGINS_STRICT; None, when it can't be read, is
    strict if anything was ever allowed. `mem --no-plugins` is heard through
    CLAUDE_MEM_NO_PLUGINS. Nothing is imported yet.
    """
    policy = read_policy(paths.plugin_policy)
    if strict is None:
        strict = bool(policy.allowed)
    found = installed(paths.plugin_index)
    return Registry(
        [*OWN, *found.entries],
        policy.blocked.union(blocked),
        no_plugins=no_plugins or os.environ.get("CLAUDE_MEM_NO_PLUGINS") == "1",
        refused=refusals(policy, found.packages, strict),
        offers=Offers(paths.plugin_index),
        data_dir=str(paths.data),
    )
