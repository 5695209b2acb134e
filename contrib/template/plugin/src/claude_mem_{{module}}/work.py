"""What {{title}} does."""

from __future__ import annotations

import json

GREETING = "hello from {{name}}"


def greeting(*, as_json: bool) -> str:
    """The text that the command prints."""
    return json.dumps({"greeting": GREETING}) if as_json else GREETING
