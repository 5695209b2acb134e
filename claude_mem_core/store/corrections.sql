-- What a person did to memories, and what is needed to take it back: `before` is JSON, the
-- old words of an edit, the whole record of a deletion. `undone_ms`: it was taken back.
CREATE TABLE corrections (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ms INTEGER NOT NULL,
  action TEXT NOT NULL
    CHECK (action IN ('edit', 'delete', 'pin', 'unpin', 'wrong', 'right')),
  kind TEXT NOT NULL CHECK (kind IN ('observation', 'summary')),
  record_id INTEGER NOT NULL,
  session_db_id INTEGER,
  before TEXT,
  undone_ms INTEGER
);
CREATE INDEX idx_corrections_record ON corrections(kind, record_id, id);
CREATE INDEX idx_corrections_session ON corrections(session_db_id);
CREATE INDEX idx_corrections_trash ON corrections(at_ms)
  WHERE action = 'delete' AND before IS NOT NULL AND undone_ms IS NULL;

-- Memories that stand in every context of their project.
CREATE TABLE pins (
  kind TEXT NOT NULL CHECK (kind IN ('observation', 'summary')),
  record_id INTEGER NOT NULL,
  project_id INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (kind, record_id)
) WITHOUT ROWID;
CREATE INDEX idx_pins_project ON pins(project_id, at_ms DESC);

-- What no longer holds. `superseded_by` is the id that took its place; 0 is the user's
-- word that it is wrong, with nothing in its place.
CREATE INDEX idx_observations_gone ON observations(created_at_epoch DESC, id DESC)
  WHERE superseded_by IS NOT NULL;
CREATE INDEX idx_session_summaries_gone ON session_summaries(created_at_epoch DESC, id DESC)
  WHERE superseded_by IS NOT NULL;

-- Which result of a session a person has looked at: its newest summary at that time.
CREATE TABLE work_checks (
  session_db_id INTEGER PRIMARY KEY REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  summary_id INTEGER NOT NULL,
  at_ms INTEGER NOT NULL
);
