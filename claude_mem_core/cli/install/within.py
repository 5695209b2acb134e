"""Programs that run other hosts: what is installed is those hosts, in the homes they get."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from claude_mem_core.cli.install.hosts import Target
from claude_mem_core.errors import HostConfigError, MemError
from claude_mem_core.types import (
    FileChange,
    Host,
    HostSetup,
    HostStatus,
    RunHost,
    RunsHosts,
)


@attrs.frozen
class Inner(Target):
    """A host in a home that another program gives it."""

    outer: Host
    place: RunHost

    @property
    def name(self) -> str:
        return self.outer.name

    @property
    def title(self) -> str:
        return f"{self.outer.title}: {super().title} in {self.place.home}"

    def status(self, setup: HostSetup) -> HostStatus:
        """What the host's installer finds in that home, and what the program says of it."""
        found = super().status(self._there(setup))
        refused = (self.place.refusal,) if self.place.refusal else ()
        said = (*refused, *self.place.problems, *found.problems)
        return attrs.evolve(found, detected=True, problems=said)

    def steps(self, setup: HostSetup) -> Sequence[str]:
        """What an installation leaves to the user. Raises as `Target.steps` does."""
        return super().steps(self._there(setup))

    def plan(self, setup: HostSetup, *, remove: bool) -> Sequence[FileChange]:
        """The changes in that home.

        Raises:
            MemError: nothing can be installed there.
        """
        if self.place.refusal and not remove:
            raise HostConfigError(self.place.refusal)
        return super().plan(self._there(setup), remove=remove)

    def _there(self, setup: HostSetup) -> HostSetup:
        return attrs.evolve(setup, env={**setup.env, **self.place.env})


@attrs.frozen
class Outer(Target):
    """A program that runs hosts, with those that we know."""

    inside: RunsHosts
    known: Sequence[Target]

    def parts(self, setup: HostSetup, *, remove: bool) -> Sequence[Target]:
        """Each host that it runs; the program itself, when it can't say which."""
        try:
            places = self.guarded(lambda: list(self.inside.hosts(setup, remove=remove)))
        except MemError:
            return [self]
        return [self._inner(place) for place in places]

    def status(self, setup: HostSetup) -> HostStatus:
        """Whether our hooks are in every host that it runs."""
        own = super().status(setup)
        inner = [] if own.problems else self.parts(setup, remove=False)
        found = [(part, part.status(setup)) for part in inner if part is not self]
        said = [f"{part.title}: {text}" for part, status in found for text in status.problems]
        return attrs.evolve(
            own,
            installed=bool(found) and all(status.installed for _, status in found),
            problems=(*own.problems, *said),
        )

    def plan(self, setup: HostSetup, *, remove: bool) -> Sequence[FileChange]:
        """Nothing of its own.

        Raises:
            MemError: it can't say which hosts it runs.
        """
        self.guarded(lambda: self.inside.hosts(setup, remove=remove))
        return ()

    def _inner(self, place: RunHost) -> Inner:
        host = next((target for target in self.known if target.name == place.host), None)
        if host is None:
            need = f'pip install "claude-mem-core[{place.host}]", then run `mem install` again'
            place = attrs.evolve(place, refusal=f"{place.host} is not installed here: {need}")
            return Inner(
                attrs.evolve(self.record, title=place.host), self.installer, self.record, place
            )
        return Inner(host.record, host.installer, self.record, place)


def with_outer(plain: Sequence[Target]) -> list[Target]:
    """The targets; those of programs that run others know the others."""
    return [_outer(target, plain) for target in plain]


def _outer(target: Target, plain: Sequence[Target]) -> Target:
    installer = target.installer
    if not isinstance(installer, RunsHosts):
        return target
    return Outer(target.record, installer, installer, plain)
