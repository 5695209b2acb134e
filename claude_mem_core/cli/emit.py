"""All that `mem` prints goes through here, so that stored text can't drive a terminal."""

from __future__ import annotations

import json
import sys
from typing import Any

from claude_mem_core.render import for_terminal


def emit(text: str = "") -> None:
    """Print text for people; control characters become visible escapes."""
    sys.stdout.write(for_terminal(text) + "\n")


def complain(text: str) -> None:
    """Print one line to standard error."""
    sys.stderr.write(for_terminal(text) + "\n")


def emit_json(value: Any) -> None:
    """Print a value for machines; everything outside ASCII is escaped."""
    sys.stdout.write(json.dumps(value, ensure_ascii=True, indent=2) + "\n")
