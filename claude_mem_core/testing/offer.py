"""What every record has to keep: the base of the suites of one kind each."""

from __future__ import annotations

from typing import Any, ClassVar, Generic, TypeVar, cast

import pytest

from claude_mem_core.plugins.registry import Registry
from claude_mem_core.testing.plugin import PluginCase, PluginContract
from claude_mem_core.types import Record

R = TypeVar("R", bound=Record)


class RecordCase(PluginCase, Generic[R]):
    """What suites of one record work with; it has no tests of its own.

    Attributes:
        name: the record's name; left out, what stands after the dot of `plugin`.
        hook, kind: set by the suite of each kind.
    """

    name: str = ""
    hook: ClassVar[str] = ""
    kind: ClassVar[type[Any]] = Record

    @pytest.fixture
    def record(self, registry: Registry) -> R:
        """The record under test."""
        name = self.name or self.plugin.partition(".")[2]
        return cast(R, registry.record(self.hook, self.kind, name))


class RecordContract(RecordCase[R], PluginContract):
    """The suite of one record."""

    def test_is_offered_under_its_name(self, record: R) -> None:
        assert isinstance(record, self.kind)
