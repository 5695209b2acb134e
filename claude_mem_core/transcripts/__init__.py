"""Transcripts of hosts: where they lie, how they are opened, what records they hold.

What the records mean is the host's business (`types.transcripts`). Plugins may use this
package; it reads and never writes.
"""

from __future__ import annotations

from claude_mem_core.transcripts.finding import Found, find, find_all
from claude_mem_core.transcripts.places import below, open_below, roots_of
from claude_mem_core.transcripts.reading import Line, ends_of, lines_of, reader_of, records_of

__all__ = [
    "Found",
    "Line",
    "below",
    "ends_of",
    "find",
    "find_all",
    "lines_of",
    "open_below",
    "reader_of",
    "records_of",
    "roots_of",
]
