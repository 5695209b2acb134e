"""What `mem install --provider` does: who makes the memories, and with which model."""

from __future__ import annotations

import attrs

from claude_mem_core.cli.install.run import answered, terminal
from claude_mem_core.errors import UsageError
from claude_mem_core.extensions import declared, registry_of
from claude_mem_core.paths import Paths
from claude_mem_core.providing.candidates import Candidates
from claude_mem_core.providing.choice import BUILTIN, CHOICE
from claude_mem_core.settings import SettingsSource
from claude_mem_core.types import Provider


@attrs.frozen
class Choice:
    """A provider and its model, looked up but not written yet.

    Attributes:
        record: None for the built-in observer.
        model: empty to leave it as it is.
    """

    source: SettingsSource
    candidates: Candidates
    record: Provider | None = None
    model: str = ""

    def write(self) -> str:
        """Choose it; what to say about it."""
        if self.record is None:
            self.source.update({CHOICE: BUILTIN})
            return "rules make the memories"
        name, model = self.record.name, self.model
        self.source.update({CHOICE: name, **({self.record.model_key: model} if model else {})})
        found = self.candidates.find(name)
        shown = f" ({found.model})" if found.model else ""
        lacks = f"; still missing: {found.lacks}" if found.lacks else ""
        return f"{name}{shown} makes the memories{lacks}"


def looked_up(paths: Paths, name: str, model: str, *, ask: bool) -> Choice:
    """The provider that is named; at a terminal its model is asked for, if it offers some.

    Raises:
        UnknownName: there is none of that name; the text names the package.
        UsageError: it has no setting for a model, or no model of that name was meant.
    """
    _, registry = registry_of(paths, providers=True)
    source = SettingsSource(paths, declared(registry), environ={})
    candidates = Candidates(paths, source, registry)
    if name == BUILTIN:
        if model:
            raise UsageError("the built-in observer has no model")
        return Choice(source, candidates)
    record = registry.record("mem_providers", Provider, name)
    if model and not record.model_key:
        raise UsageError(f"{name} has no setting for a model")
    if not model and record.offers and ask and terminal():
        model = _picked(record)
    return Choice(source, candidates, record, model)


def _picked(record: Provider) -> str:
    """One of the models that it offers, or nothing to leave it as it is.

    Raises:
        UsageError: something else was typed.
    """
    names = ", ".join(record.offers)
    typed = answered(f"model of {record.name} ({names}; Enter leaves it as it is): ")
    if typed and typed not in record.offers:
        raise UsageError(f"{typed!r} is none of {names}; another one: --model NAME")
    return typed
