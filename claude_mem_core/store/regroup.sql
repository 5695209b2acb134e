-- What rows say and what people see: a renamed project's rows keep the name they were
-- written with, which is read as the new one.
CREATE TABLE project_names (
  said TEXT PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects(id),
  shown TEXT NOT NULL
) WITHOUT ROWID;

-- What was done to projects, and what is needed to take it back. `before` is JSON.
CREATE TABLE project_changes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ms INTEGER NOT NULL,
  action TEXT NOT NULL,
  project_id INTEGER NOT NULL REFERENCES projects(id),
  said TEXT NOT NULL,
  before TEXT NOT NULL,
  undone_ms INTEGER
);
