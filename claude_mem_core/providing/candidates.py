"""A provider as it is set up here and now: its record, address, keys, and what it lacks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import attrs

from claude_mem_core import secrets
from claude_mem_core.errors import Failure, ProviderError, UnknownName
from claude_mem_core.extensions import declared
from claude_mem_core.paths import Paths
from claude_mem_core.plugins.calls import call_sync, describe
from claude_mem_core.plugins.registry import Registry
from claude_mem_core.providing.keys import Credential, credentials
from claude_mem_core.settings import CORE, SettingsSource
from claude_mem_core.settings.model import Settings
from claude_mem_core.types import Provider, Room

OURS = frozenset(setting.key for setting in CORE)
ROUTES = ("CLAUDE_MEM_HTTP_PROXY", "CLAUDE_MEM_CA_FILE")
# What we write ourselves about a refusal; it mends none.
NOTED = "CLAUDE_MEM_PRO_FALLBACK_"


class Incomplete(ProviderError):
    """A provider that was chosen and not set up; nothing was sent."""


@attrs.frozen(kw_only=True)
class Candidate:
    """One provider, ready to be asked or not.

    Attributes:
        address: where its requests go; empty for one that runs a program.
        lacks: what is missing, with the command to run; empty when it is complete.
        model: the model that its settings name.
        digest: another text when its settings or keys are changed.
        room: how much its model takes at once.
        small: the model that simple work may go to; empty: none.
        filed: settings that `.env` holds, since they are set nowhere else.
    """

    record: Provider
    credentials: tuple[Credential, ...]
    address: str = ""
    lacks: str = ""
    model: str = ""
    digest: str = ""
    room: Room = attrs.field(factory=Room)
    small: str = ""
    filed: Mapping[str, str] = attrs.field(factory=dict)

    @property
    def name(self) -> str:
        return self.record.name

    def incomplete(self) -> Incomplete | None:
        """What a request gets while something is missing."""
        if not self.lacks:
            return None
        return Incomplete(Failure.KEY_REFUSED, self.lacks, provider=self.name)

    @property
    def keyed(self) -> bool:
        """Whether it goes with a key of the user's."""
        return any(each.key for each in self.credentials)


class Candidates:
    """Looks providers up, and again only when settings or keys changed.

    Looking up may ask the keyring, so it blocks.
    """

    def __init__(self, paths: Paths, settings: SettingsSource, registry: Registry) -> None:
        self._paths = paths
        self._settings = settings
        self._registry = registry
        self._known: dict[str, tuple[object, Candidate]] = {}
        self._learned = False

    def find(self, name: str) -> Candidate:
        """A provider as it is set up.

        Raises:
            ProviderError: there is none of that name, or its plugin is broken.
        """
        self._learn()
        settings = self._settings.current()
        seen = (id(settings), settings, secrets.stamp(self._paths))
        known = self._known.get(name)
        if known is None or known[0] != seen:
            self._known[name] = known = (seen, self._look(name, settings))
        return known[1]

    def names(self) -> list[str]:
        """Names of the installed providers."""
        return sorted(r.name for r in self._registry.records("mem_providers", Provider))

    def _learn(self) -> None:
        """Providers load late, and so do their settings; one may be tried before it is chosen."""
        if not self._learned:
            self._registry.load("provider")
            self._settings.learn(declared(self._registry))
            self._learned = True

    def _record(self, name: str) -> Provider:
        try:
            return self._registry.record("mem_providers", Provider, name)
        except UnknownName as error:
            raise ProviderError(Failure.MODEL, str(error), provider=name) from None

    def _look(self, name: str, settings: Settings) -> Candidate:
        record = self._record(name)
        plain = self._plain(settings)
        filed = self._filed(record, plain)
        plain.update(filed)
        address = str(_asked(record, record.address, plain) or record.origin)
        found = credentials(self._paths, settings, record, address)
        values = {**plain, **dict.fromkeys(record.keys, ""), **found[0].values}
        return Candidate(
            record=record,
            credentials=found,
            address=address,
            lacks=_lacks(record, values),
            model=_shown(values.get(record.model_key)),
            digest=_digest(record, values, found, address),
            room=_asked(record, record.room, values) or Room(),
            small=str(_asked(record, record.small, values) or ""),
            filed=filed,
        )

    def _filed(self, record: Provider, values: Mapping[str, Any]) -> dict[str, str]:
        """What `.env` says of settings that are left empty, by the names it may stand in."""
        there = secrets.from_file(self._paths) if record.in_file else {}
        return {
            key: there[name]
            for name, key in record.in_file.items()
            if there.get(name) and not values.get(key)
        }

    def _plain(self, settings: Settings) -> dict[str, Any]:
        hidden = {each.key for each in self._settings.declared if each.type == "secret"}
        return {key: value for key, value in settings.items() if key not in hidden}


def _shown(model: Any) -> str:
    """A model's name; a list of them stands for its first, the others for its failures."""
    return str((model[0] if model else "") if isinstance(model, tuple) else model or "")


def _asked(record: Provider, question: Any, values: dict[str, Any]) -> Any:
    if question is None:
        return None
    outcome = call_sync(record.name, question, values)
    if isinstance(outcome.error, ProviderError):
        raise outcome.error
    if outcome.error is not None:
        text = f"provider {record.name} is broken: {describe(outcome.error)}"
        raise ProviderError(Failure.BAD_REQUEST, text, provider=record.name)
    return outcome.value


def _lacks(record: Provider, values: dict[str, Any]) -> str:
    if record.lacks is not None:
        return str(_asked(record, record.lacks, values) or "")
    if all(values.get(key) for key in record.keys):
        return ""
    return f"{record.name}: API key not configured; run: mem auth set {record.name}"


def _digest(
    record: Provider, values: dict[str, Any], found: tuple[Credential, ...], address: str
) -> str:
    """Of what could mend a refusal: settings of providers, keys, the way out."""
    telling = (*ROUTES, record.model_key)
    own = {
        k: v
        for k, v in values.items()
        if k in telling or not (k in OURS or k.startswith(NOTED))
    }
    parts = [own, address, [each.key for each in found]]
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
