"""Saving what can be read of a damaged database.

SQLite refuses a file whose pages contradict each other, and our build has no recovery
extension, so pages and records are read by hand here: nothing is written to the
damaged file, and one bad page costs the rows on it, not the rest of its table.
"""
