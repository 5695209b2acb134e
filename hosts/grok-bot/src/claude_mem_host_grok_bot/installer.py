"""Puts an empty index into each seat: the sign that the bot may be followed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from claude_mem_core.editing import OwnFile
from claude_mem_core.types import FileChange, HostSetup, HostStatus
from claude_mem_host_grok_bot.index import MARK, page
from claude_mem_host_grok_bot.seats import NAME, root_of, seats_of


class GrokBotInstaller:
    """The installer; `profile.json` and everything else in a seat is left alone."""

    def status(self, setup: HostSetup) -> HostStatus:
        """Detected when there is a seat, installed when one has our index."""
        files = list(_files(setup))
        there = any((file.content() or b"") for file in files)
        return HostStatus(
            detected=bool(files), installed=there, config=str(root_of(setup.env, setup.home))
        )

    def install(self, setup: HostSetup) -> Sequence[FileChange]:
        """An empty index for each seat that has none."""
        empty = page([], "episode").encode()
        return [
            change for file in _files(setup) if file.content() is None
            for change in file.write(empty)
        ]  # fmt: skip

    def uninstall(self, setup: HostSetup) -> Sequence[FileChange]:
        """No index any more; notes in the bots' own logs stay."""
        return [change for file in _files(setup) for change in file.remove()]

    def steps(self, setup: HostSetup) -> Sequence[str]:
        """What is left to the user."""
        if not list(_files(setup)):
            return (f"no seat of Grok Bot below {root_of(setup.env, setup.home)}/agents yet",)
        return ("`mem start`: the worker follows the transcripts while it runs",)


def _files(setup: HostSetup) -> Iterator[OwnFile]:
    for seat in seats_of(root_of(setup.env, setup.home)):
        yield OwnFile(str(seat.log / NAME), MARK)
