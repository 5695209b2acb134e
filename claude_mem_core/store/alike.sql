-- What a memory says of what: `port` is `8080`. A newer one of the same subject and kind of
-- value takes its place.
CREATE TABLE subjects (
  memory_id INTEGER PRIMARY KEY,
  project_id INTEGER NOT NULL,
  subject TEXT NOT NULL,
  kind TEXT NOT NULL,
  value TEXT NOT NULL
);
CREATE INDEX idx_subjects_subject ON subjects(project_id, subject, kind);

-- Pairs of memories that may say the same, for a person to look at.
CREATE TABLE observation_dedup_candidates (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL,
  observation_id INTEGER NOT NULL,
  other_id INTEGER NOT NULL,
  score REAL NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'distinct', 'dismissed')),
  created_at_epoch INTEGER NOT NULL,
  UNIQUE (observation_id, other_id)
);
