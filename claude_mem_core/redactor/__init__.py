"""Plugin `redactor.secrets`: vendors' keys and tokens, and patterns of the user's own.

Its settings are declared with the core's, because the hook has to know them too.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from claude_mem_core import hookimpl
from claude_mem_core.types import Redactor


@hookimpl
def mem_redactors() -> Iterable[Redactor]:
    """The redactor of credentials; the hook has the same vendor patterns built in."""
    from claude_mem_core.redactor.secrets import open_secrets

    yield Redactor(
        name="secrets",
        summary="Puts <redacted type='NAME'/> in the place of keys, tokens and passwords",
        open=open_secrets,
        at_edge=True,
        order=10,
    )


@hookimpl
def mem_stopped() -> None:
    """End the process that runs the user's own patterns."""
    secrets = sys.modules.get("claude_mem_core.redactor.secrets")
    if secrets is not None:
        secrets.close()


def faults() -> list[str]:
    """What is wrong with the user's own patterns, a sentence each, for the status."""
    secrets = sys.modules.get("claude_mem_core.redactor.secrets")
    return secrets.faults() if secrets is not None else []
