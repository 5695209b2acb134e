-- What brought memories to a session or an agent: `reasons` by their keys (`12`, `S3`), as
-- JSON, and the words that were asked for, if any. Only the newest are kept.
CREATE TABLE given_log (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ms INTEGER NOT NULL,
  session_db_id INTEGER NOT NULL DEFAULT 0,
  what TEXT NOT NULL,
  query TEXT NOT NULL DEFAULT '',
  reasons TEXT NOT NULL
);
CREATE INDEX idx_given_log_session ON given_log(session_db_id);

-- What people say of memories.
CREATE TABLE feedback (
  memory_id INTEGER PRIMARY KEY,
  useful INTEGER NOT NULL DEFAULT 0,
  outdated INTEGER NOT NULL DEFAULT 0,
  at_ms INTEGER NOT NULL
);
CREATE INDEX idx_feedback_outdated ON feedback(memory_id) WHERE outdated;
