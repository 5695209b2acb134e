"""The contract of `mem` subcommands.

class TestMine(CommandContract):
    plugin = "command.mine"
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any, ClassVar

import pytest

from claude_mem_core.cli.main import known
from claude_mem_core.testing.offer import RecordContract
from claude_mem_core.types import Command


class CommandContract(RecordContract[Command]):
    """Inherit, and give a command line that works without a worker, if there is one.

    Attributes:
        works: arguments that give exit code 0.
    """

    hook: ClassVar[str] = "mem_commands"
    kind: ClassVar[type[Any]] = Command
    works: ClassVar[Sequence[str] | None] = None

    def _parser(self, record: Command) -> ArgumentParser:
        parser = ArgumentParser(prog=f"mem {record.name}")
        if record.arguments is not None:
            record.arguments(parser)
        return parser

    def test_hides_no_command_of_the_core(self, record: Command) -> None:
        assert record.name not in known()

    def test_explains_itself(self, record: Command, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit) as caught:
            self._parser(record).parse_args(["--help"])
        assert caught.value.code == 0
        assert record.name in capsys.readouterr().out

    def test_works(self, record: Command) -> None:
        if self.works is not None:
            assert record.run(self._parser(record).parse_args([*self.works])) == 0
