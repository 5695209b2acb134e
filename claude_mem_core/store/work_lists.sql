-- The to-do lists that agents keep, one for each goal: `request_id` tells goals of one
-- project apart. `tasks` is JSON, `open` how many of them are not done.
CREATE TABLE work_lists (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project TEXT NOT NULL,
  project_id INTEGER NOT NULL,
  platform_source TEXT NOT NULL,
  request_id TEXT NOT NULL,
  title TEXT NOT NULL,
  tasks TEXT NOT NULL,
  open INTEGER NOT NULL,
  created_at_epoch INTEGER NOT NULL,
  updated_at_epoch INTEGER NOT NULL,
  UNIQUE (project_id, request_id)
);
CREATE INDEX idx_work_lists_project ON work_lists(project_id, updated_at_epoch DESC, id DESC);
CREATE INDEX idx_work_lists_open ON work_lists(project_id, updated_at_epoch DESC, id DESC)
  WHERE open > 0;
