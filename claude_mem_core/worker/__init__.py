"""The worker: one small process that owns the database and answers the hooks."""
