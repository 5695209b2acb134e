"""The command line's parser: what it repeats of the words it was given can't drive a terminal."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import NoReturn


class Parser(ArgumentParser):
    """As `ArgumentParser`; control characters in its complaints are visible escapes."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and what is wrong, and end with 2."""
        from claude_mem_core.render import for_terminal

        super().error(for_terminal(message))
