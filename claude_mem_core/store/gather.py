"""Coroutines' writes, handed to the writer together.

While the writer works and the loop works too, both want the interpreter's lock after
each statement, and taking turns costs more than the work. So the loop first does all
that is ready to be done, and then wakes the writer once, for all that came of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from claude_mem_core.errors import StoreError
from claude_mem_core.store.jobs import Job
from claude_mem_core.store.writer import BATCH


class Gathering:
    """Collects jobs of a loop until it has nothing more to add."""

    def __init__(self, put: Callable[[Job], None]) -> None:
        self._put = put
        self._jobs: dict[asyncio.AbstractEventLoop, list[Job]] = {}

    def add(self, job: Job, loop: asyncio.AbstractEventLoop) -> None:
        """Take a job; it reaches the writer within a turn or two of the loop."""
        jobs = self._jobs.setdefault(loop, [])
        jobs.append(job)
        if len(jobs) == 1:
            loop.call_soon(self._look, loop, 0)

    def _look(self, loop: asyncio.AbstractEventLoop, before: int) -> None:
        """Hand over when no job came since the last look, or enough are there."""
        now = len(self._jobs[loop])
        if before < now < BATCH:
            loop.call_soon(self._look, loop, now)
            return
        for job in self._jobs.pop(loop):
            self._hand_over(job)

    def _hand_over(self, job: Job) -> None:
        try:
            self._put(job)
        except StoreError as error:
            if not job.future.done():
                job.future.set_exception(error)
