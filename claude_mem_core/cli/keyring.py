"""What `mem auth` does: keys into their place and out of it, never onto the screen."""

from __future__ import annotations

import sys
from typing import Any

import attrs

from claude_mem_core import secrets
from claude_mem_core.errors import ProviderError, UsageError
from claude_mem_core.extensions import declared, registry_of
from claude_mem_core.paths import Paths
from claude_mem_core.plugins.registry import Registry
from claude_mem_core.providing.candidates import Candidate, Candidates
from claude_mem_core.providing.choice import CHOICE, chosen
from claude_mem_core.providing.holds import Holds
from claude_mem_core.providing.keybook import KeyBook
from claude_mem_core.providing.keys import PREFIX
from claude_mem_core.providing.origins import is_gateway, may_go, origin_of
from claude_mem_core.settings import SettingsSource
from claude_mem_core.types import Provider

ANSWER_S = 330.0


@attrs.frozen
class Desk:
    """The keys of one data directory, as the worker will find them."""

    paths: Paths
    registry: Registry
    settings: SettingsSource
    candidates: Candidates

    @classmethod
    def open(cls, paths: Paths) -> Desk:
        """Without the shell's own environment, which the worker does not see either."""
        _, registry = registry_of(paths, providers=True)
        settings = SettingsSource(paths, declared(registry), environ={})
        return cls(paths, registry, settings, Candidates(paths, settings, registry))

    def record(self, name: str) -> Provider:
        """An installed provider.

        Raises:
            UnknownName: there is none of that name; the text names the package.
        """
        return self.registry.record("mem_providers", Provider, name)

    def key_name(self, record: Provider, wanted: str, *, pool: bool) -> str:
        """The setting that a key of this provider is kept as.

        Raises:
            UsageError: it takes no key, or none of that name, or no pool.
        """
        if not record.keys:
            login = f"; run: {record.login}" if record.login else ""
            raise UsageError(f"{record.name} takes no key{login}")
        name = wanted or record.keys[0]
        if name not in record.keys:
            known = ", ".join(record.keys)
            raise UsageError(f"{record.name} has no key named {name} (known: {known})")
        if pool and not record.pool:
            raise UsageError(f"{record.name} takes one key only")
        return name + "S" if pool and not name.endswith("S") else name

    # Keeping ------------------------------------------------------------------------

    def store_name(self) -> str:
        """Where new keys go on this machine, in words."""
        if secrets.has_keyring():
            return "the system's keyring"
        return f"{self.paths.data / '.env'} (this machine has no keyring)"

    def place(self, provider: str, wanted: str) -> str:
        """`keyring` or `file`; a file is nobody's choice but the user's.

        Raises:
            UsageError: there is no keyring, and no file was asked for.
        """
        if wanted == "file" or secrets.has_keyring():
            return wanted or "keyring"
        file = self.paths.data / ".env"
        text = f"this machine has no keyring. To keep the key in {file}, readable by you alone"
        if wanted or not sys.stdin.isatty():
            raise UsageError(f"{text}, run: mem auth set {provider} --store file")
        if input(f"{text}, type y: ").strip().lower() not in {"y", "yes"}:
            raise UsageError("nothing was changed")
        return "file"

    def keep(self, record: Provider, name: str, value: str, where: str) -> dict[str, Any]:
        """Keep a key and let it go to where the provider points now.

        Raises:
            UsageError: the key does not belong to that address.
        """
        before = self.candidates.find(record.name)
        self._checked(record, value, before.address)
        kept = secrets.write(self.paths, name, value, where)
        after = self.candidates.find(record.name)
        self._bind(after)
        then = self._chosen(record.name)
        return {
            "name": name, "where": "the system's keyring" if kept == "keyring" else
            str(self.paths.data / ".env"), "then": then or _told(after),
        }  # fmt: skip

    def _checked(self, record: Provider, value: str, address: str) -> None:
        for key in value.split(","):
            if not address or may_go(key, address):
                continue
            if is_gateway(address):
                raise UsageError(f"{record.name} takes keys of cmem.ai only (cm_pro_...)")
            raise UsageError(
                f"keys of cmem.ai go to cmem.ai only, not to {origin_of(address)};"
                " run: mem auth set cmem-pro"
            )

    def _bind(self, candidate: Candidate) -> None:
        """In the running worker, else in its file."""
        from claude_mem_core.cli.client import WorkerClient

        client = WorkerClient(self.paths)
        if client.running():
            client.post(f"/api/providers/{candidate.name}/reset")
            return
        Holds(self.paths.data / "provider-holds.json").drop(candidate.name)
        book, origin = KeyBook(self.paths.data), origin_of(candidate.address)
        for each in candidate.credentials if origin else ():
            if each.key:
                book.bind(candidate.name, each.key, origin)

    def _chosen(self, name: str) -> str:
        """Keeping a key here confirms a provider that the file names already."""
        settings = self.settings.current()
        if chosen(settings, CHOICE) == name:
            return ""
        if settings[CHOICE] == name:
            self.settings.set(CHOICE, name)
            return ""
        return f"to use it: mem config set provider {name}"

    # Looking ------------------------------------------------------------------------

    def rows(self) -> list[dict[str, Any]]:
        """Every installed provider and its keys."""
        return [self._row(name) for name in self.candidates.names()]

    def _row(self, name: str) -> dict[str, Any]:
        picked = chosen(self.settings.current(), CHOICE) == name
        try:
            found = self.candidates.find(name)
        except ProviderError as error:
            return _row(name, picked, 0, "", str(error))
        keys = sum(bool(each.key) for each in found.credentials)
        return _row(name, picked, keys, found.credentials[0].where, found.lacks)

    def test(self, name: str) -> dict[str, Any]:
        """What the worker says after asking the provider."""
        from claude_mem_core.cli.client import ensure_started

        client = ensure_started(self.paths)
        found: dict[str, Any] = client.post(f"/api/providers/{name}/test", timeout=ANSWER_S)
        return found

    def remove(self, record: Provider) -> dict[str, Any]:
        """Forget every key of a provider that we keep; others are named."""
        names = [spelled for name in record.keys for spelled in _spellings(name)]
        removed = [name for name in dict.fromkeys(names) if secrets.delete(self.paths, name)]
        found = self.candidates.find(record.name)
        where = found.credentials[0].where
        left = f"a key is still in {self.paths.settings}; take it out there" if where else ""
        return {"removed": removed, "left": left}


def forget_all(paths: Paths) -> list[str]:
    """Take every key of ours out of the system's keyring; the names of what went.

    Raises:
        StoreError: the keyring does not give one up.
    """
    if not secrets.has_keyring():
        return []
    registry = Desk.open(paths).registry
    names = [n for r in registry.records("mem_providers", Provider) for n in r.keys]
    spelled = dict.fromkeys(one for name in names for one in _spellings(name))
    return [name for name in spelled if secrets.out_of_keyring(name)]


def _spellings(name: str) -> list[str]:
    bare = name.removeprefix(PREFIX)
    return [name, name + "S", bare, bare + "S"]


def _row(name: str, picked: bool, keys: int, where: str, lacks: str) -> dict[str, Any]:
    return {"name": name, "chosen": picked, "keys": keys, "where": where, "lacks": lacks}


def _told(found: Candidate) -> str:
    return f"still missing: {found.lacks}" if found.lacks else ""
