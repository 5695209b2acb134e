"""Recall: search, timeline, details, context. Functions on a connection, no state."""
