"""Forgetting for good: in the tables, in every copy and file of ours, and the proof of it.

`words` knows how a text may be spelled, `rows` erases in a database, `copies` in the files
beside it, `proof` looks for what is left, in a process of its own.
"""

from __future__ import annotations
