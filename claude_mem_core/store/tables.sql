-- Tables of the store. Names and columns of the documented tables are kept, so that
-- people's own SQL goes on working; ours stand after them. Times are milliseconds.

CREATE TABLE schema_versions (
  version INTEGER PRIMARY KEY,
  applied_at TEXT NOT NULL
);

-- Small facts of the installation: fence id, schema facts, counters.
CREATE TABLE meta (k TEXT PRIMARY KEY, v TEXT NOT NULL) WITHOUT ROWID;

-- A project is a place. `key` is that place (real path of the git common directory, or
-- of the folder), `label` the name that people see; `general` is the bucket of home,
-- root and temp directories and is never injected.
CREATE TABLE projects (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  label TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL DEFAULT 'folder'
    CHECK (kind IN ('git', 'folder', 'environment', 'named', 'general')),
  parent_id INTEGER REFERENCES projects(id),
  merged_into INTEGER REFERENCES projects(id),
  remote TEXT,
  created_at_epoch INTEGER NOT NULL
);

-- Labels beside the project's own: one for each worktree or submodule directory.
CREATE TABLE project_labels (
  label TEXT PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects(id),
  place TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE sdk_sessions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  content_session_id TEXT NOT NULL,
  memory_session_id TEXT UNIQUE,
  project TEXT NOT NULL,
  platform_source TEXT NOT NULL DEFAULT 'claude',
  user_prompt TEXT,
  started_at TEXT NOT NULL,
  started_at_epoch INTEGER NOT NULL,
  completed_at TEXT,
  completed_at_epoch INTEGER,
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'completed', 'failed')),
  worker_port INTEGER,
  prompt_counter INTEGER NOT NULL DEFAULT 0,
  custom_title TEXT,
  project_id INTEGER NOT NULL DEFAULT 0,
  cwd TEXT,
  root TEXT,
  -- When the last wholly private prompt was sent (milliseconds); 0 for none.
  suppressed INTEGER NOT NULL DEFAULT 0,
  context_at_epoch INTEGER,
  -- The newest prompt by the time it was sent, which late prompts do not change.
  last_prompt_number INTEGER NOT NULL DEFAULT 0,
  last_prompt_at_epoch INTEGER NOT NULL DEFAULT 0,
  UNIQUE (platform_source, content_session_id)
);
CREATE INDEX idx_sdk_sessions_content ON sdk_sessions(content_session_id);
CREATE INDEX idx_sdk_sessions_project ON sdk_sessions(project_id, started_at_epoch DESC);
CREATE INDEX idx_sdk_sessions_project_label ON sdk_sessions(project);
CREATE INDEX idx_sdk_sessions_started_at ON sdk_sessions(started_at_epoch DESC);
CREATE INDEX idx_sdk_sessions_active ON sdk_sessions(id) WHERE status = 'active';

-- Turns whose prompt was wholly private: events that belong to them are skipped,
-- also when they arrive after the next prompt.
CREATE TABLE private_turns (
  session_db_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  at_ms INTEGER NOT NULL,
  prompt_id TEXT,
  PRIMARY KEY (session_db_id, at_ms)
) WITHOUT ROWID;

-- The journal: every accepted event, its receipt, and the source of memories.
-- `key` is the event key (settled 9). A skipped event keeps neither payload nor cwd.
-- `state`: recorded (nothing to observe), pending, stored, skipped, dead.
CREATE TABLE events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  key TEXT NOT NULL UNIQUE,
  host TEXT NOT NULL,
  kind TEXT NOT NULL,
  session TEXT NOT NULL,
  session_db_id INTEGER REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  prompt_number INTEGER NOT NULL DEFAULT 0,
  agent_id TEXT,
  at_ms INTEGER NOT NULL,
  received_ms INTEGER NOT NULL,
  cwd TEXT,
  payload TEXT,
  trust TEXT NOT NULL DEFAULT 'work',
  state TEXT NOT NULL CHECK (state IN ('recorded', 'pending', 'stored', 'skipped', 'dead')),
  reason TEXT
);
CREATE INDEX idx_events_session ON events(session_db_id, prompt_number);
CREATE INDEX idx_events_state ON events(state, reason);
CREATE INDEX idx_events_host_at ON events(host, received_ms DESC);

-- Delivery keys already answered: a repeated delivery is a duplicate whatever it holds.
-- Keys begin with the time, so the oldest sort first and are pruned after a week.
CREATE TABLE deliveries (
  key TEXT PRIMARY KEY,
  event_id INTEGER,
  received_ms INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE observations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  memory_session_id TEXT NOT NULL
    REFERENCES sdk_sessions(memory_session_id) ON DELETE CASCADE ON UPDATE CASCADE,
  project TEXT NOT NULL,
  text TEXT,
  type TEXT NOT NULL,
  title TEXT,
  subtitle TEXT,
  facts TEXT,
  narrative TEXT,
  concepts TEXT,
  files_read TEXT,
  files_modified TEXT,
  prompt_number INTEGER,
  discovery_tokens INTEGER NOT NULL DEFAULT 0,
  content_hash TEXT,
  created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL,
  merged_into_project TEXT,
  generated_by_model TEXT,
  relevance_count INTEGER NOT NULL DEFAULT 0,
  agent_type TEXT,
  agent_id TEXT,
  metadata TEXT,
  occurrence_count INTEGER NOT NULL DEFAULT 1,
  title_key TEXT,
  synced_at INTEGER,
  origin_device_id TEXT,
  origin_local_id TEXT,
  sync_rev TEXT NOT NULL DEFAULT '1',
  project_id INTEGER NOT NULL DEFAULT 0,
  session_db_id INTEGER,
  platform_source TEXT NOT NULL DEFAULT 'claude',
  trust TEXT NOT NULL DEFAULT 'work',
  superseded_by INTEGER,
  UNIQUE (memory_session_id, content_hash)
);
-- Page and context queries: newest of a project, of all; keyset by (created, id).
CREATE INDEX idx_observations_project ON observations(project_id, created_at_epoch DESC, id DESC);
CREATE INDEX idx_observations_host
  ON observations(project_id, platform_source, created_at_epoch DESC, id DESC);
CREATE INDEX idx_observations_created_at ON observations(created_at_epoch DESC, id DESC);
CREATE INDEX idx_observations_session ON observations(session_db_id, id);
CREATE INDEX idx_observations_project_label ON observations(project);
CREATE INDEX idx_observations_type ON observations(project_id, type, created_at_epoch DESC);
CREATE INDEX idx_observations_merged_into_project ON observations(merged_into_project)
  WHERE merged_into_project IS NOT NULL;

-- Evidence: which events an observation or summary was made from.
CREATE TABLE evidence (
  kind TEXT NOT NULL CHECK (kind IN ('observation', 'summary')),
  memory_id INTEGER NOT NULL,
  event_id INTEGER NOT NULL,
  PRIMARY KEY (kind, memory_id, event_id)
) WITHOUT ROWID;
CREATE INDEX idx_evidence_event ON evidence(event_id);

-- Files of observations and summaries, for search by file; `path` is as shown.
CREATE TABLE memory_files (
  path TEXT NOT NULL,
  kind TEXT NOT NULL,
  memory_id INTEGER NOT NULL,
  project_id INTEGER NOT NULL,
  modified INTEGER NOT NULL DEFAULT 0,
  created_at_epoch INTEGER NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (kind, memory_id, path, modified)
) WITHOUT ROWID;
CREATE INDEX idx_memory_files_name ON memory_files(name, project_id, created_at_epoch DESC);

CREATE TABLE session_summaries (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  memory_session_id TEXT NOT NULL
    REFERENCES sdk_sessions(memory_session_id) ON DELETE CASCADE ON UPDATE CASCADE,
  project TEXT NOT NULL,
  request TEXT,
  investigated TEXT,
  learned TEXT,
  completed TEXT,
  next_steps TEXT,
  notes TEXT,
  files_read TEXT,
  files_edited TEXT,
  prompt_number INTEGER,
  discovery_tokens INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL,
  merged_into_project TEXT,
  generated_by_model TEXT,
  synced_at INTEGER,
  origin_device_id TEXT,
  origin_local_id TEXT,
  sync_rev TEXT NOT NULL DEFAULT '1',
  project_id INTEGER NOT NULL DEFAULT 0,
  session_db_id INTEGER,
  platform_source TEXT NOT NULL DEFAULT 'claude',
  trust TEXT NOT NULL DEFAULT 'work',
  superseded_by INTEGER
);
CREATE INDEX idx_session_summaries_project
  ON session_summaries(project_id, created_at_epoch DESC, id DESC);
CREATE INDEX idx_session_summaries_host
  ON session_summaries(project_id, platform_source, created_at_epoch DESC, id DESC);
CREATE INDEX idx_session_summaries_created_at ON session_summaries(created_at_epoch DESC, id DESC);
CREATE INDEX idx_session_summaries_session ON session_summaries(session_db_id, prompt_number);
CREATE INDEX idx_session_summaries_memory ON session_summaries(memory_session_id);

CREATE TABLE user_prompts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_db_id INTEGER REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  content_session_id TEXT NOT NULL,
  prompt_number INTEGER NOT NULL,
  prompt_text TEXT NOT NULL,
  created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL,
  synced_at INTEGER,
  origin_device_id TEXT,
  origin_local_id TEXT,
  sync_rev TEXT NOT NULL DEFAULT '1',
  project TEXT NOT NULL DEFAULT '',
  project_id INTEGER NOT NULL DEFAULT 0,
  platform_source TEXT NOT NULL DEFAULT 'claude',
  prompt_id TEXT,
  event_id INTEGER,
  UNIQUE (session_db_id, prompt_number)
);
CREATE INDEX idx_user_prompts_content ON user_prompts(content_session_id, prompt_number);
CREATE INDEX idx_user_prompts_project ON user_prompts(project_id, created_at_epoch DESC, id DESC);
CREATE INDEX idx_user_prompts_created_at ON user_prompts(created_at_epoch DESC, id DESC);
CREATE INDEX idx_user_prompts_host
  ON user_prompts(project_id, platform_source, created_at_epoch DESC, id DESC);

-- The raw tool index. Input and output capped at 64 KB each, hash over the original.
CREATE TABLE tool_uses (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  tool_use_id TEXT NOT NULL,
  content_session_id TEXT NOT NULL,
  memory_session_id TEXT,
  session_db_id INTEGER,
  project TEXT NOT NULL,
  platform_source TEXT NOT NULL DEFAULT 'claude',
  tool_name TEXT NOT NULL,
  tool_input TEXT,
  tool_response TEXT,
  cwd TEXT,
  prompt_number INTEGER,
  agent_type TEXT,
  agent_id TEXT,
  observation_id INTEGER,
  or_generation_id TEXT,
  or_session_id TEXT,
  content_hash TEXT,
  created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL,
  project_id INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  event_id INTEGER,
  UNIQUE (platform_source, content_session_id, tool_use_id)
);
CREATE INDEX idx_tool_uses_observation ON tool_uses(observation_id)
  WHERE observation_id IS NOT NULL;
CREATE INDEX idx_tool_uses_event ON tool_uses(event_id);

-- The work queue: one item for each event to observe; an item's id is its event's.
-- A finished item is deleted in the transaction that keeps its result.
CREATE TABLE pending_messages (
  id INTEGER PRIMARY KEY REFERENCES events(id) ON DELETE CASCADE,
  session_db_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  content_session_id TEXT NOT NULL,
  message_type TEXT NOT NULL CHECK (message_type IN ('observation', 'summarize')),
  tool_use_id TEXT,
  prompt_number INTEGER NOT NULL DEFAULT 0,
  status TEXT NOT NULL DEFAULT 'pending'
    CHECK (status IN ('pending', 'processing', 'failed')),
  retry_count INTEGER NOT NULL DEFAULT 0,
  lease_until_epoch INTEGER,
  not_before_epoch INTEGER NOT NULL DEFAULT 0,
  error TEXT,
  agent_type TEXT,
  agent_id TEXT,
  created_at_epoch INTEGER NOT NULL,
  started_processing_at_epoch INTEGER,
  failed_at_epoch INTEGER
);
-- One pass over this index tells which turns are ready.
CREATE INDEX idx_pending_messages_turn ON pending_messages(
  session_db_id, prompt_number, status, message_type, not_before_epoch, created_at_epoch);

-- The change log that search backends follow; op: put or del.
CREATE TABLE changes (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK (kind IN ('observation', 'summary', 'prompt')),
  record_id INTEGER NOT NULL,
  op TEXT NOT NULL CHECK (op IN ('put', 'del'))
);
-- How far each backend has followed.
CREATE TABLE change_readers (
  name TEXT PRIMARY KEY,
  seq INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TRIGGER observations_put AFTER INSERT ON observations BEGIN
  INSERT INTO changes (kind, record_id, op) VALUES ('observation', new.id, 'put');
END;
CREATE TRIGGER observations_changed AFTER UPDATE OF title, subtitle, text, narrative, facts,
  concepts, files_read, files_modified, type, project, project_id, merged_into_project,
  created_at_epoch, platform_source, superseded_by ON observations BEGIN
  INSERT INTO changes (kind, record_id, op) VALUES ('observation', new.id, 'put');
END;
CREATE TRIGGER observations_del AFTER DELETE ON observations BEGIN
  INSERT INTO changes (kind, record_id, op) VALUES ('observation', old.id, 'del');
END;
CREATE TRIGGER session_summaries_put AFTER INSERT ON session_summaries BEGIN
  INSERT INTO changes (kind, record_id, op) VALUES ('summary', new.id, 'put');
END;
CREATE TRIGGER session_summaries_changed AFTER UPDATE OF request, investigated, learned,
  completed, next_steps, notes, project, project_id, merged_into_project, created_at_epoch,
  superseded_by ON session_summaries BEGIN
  INSERT INTO changes (kind, record_id, op) VALUES ('summary', new.id, 'put');
END;
CREATE TRIGGER session_summaries_del AFTER DELETE ON session_summaries BEGIN
  INSERT INTO changes (kind, record_id, op) VALUES ('summary', old.id, 'del');
END;
CREATE TRIGGER user_prompts_put AFTER INSERT ON user_prompts BEGIN
  INSERT INTO changes (kind, record_id, op) VALUES ('prompt', new.id, 'put');
END;
CREATE TRIGGER user_prompts_changed AFTER UPDATE OF prompt_text, project, project_id
  ON user_prompts BEGIN
  INSERT INTO changes (kind, record_id, op) VALUES ('prompt', new.id, 'put');
END;
CREATE TRIGGER user_prompts_del AFTER DELETE ON user_prompts BEGIN
  INSERT INTO changes (kind, record_id, op) VALUES ('prompt', old.id, 'del');
END;

-- Advisor calls, captured only when the user switched it on.
CREATE TABLE advisor_calls (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_db_id INTEGER REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  tool_use_id TEXT,
  model TEXT,
  prompt TEXT,
  advice TEXT,
  created_at_epoch INTEGER NOT NULL,
  UNIQUE (session_db_id, tool_use_id)
);

-- Which file histories a session has been given, and why each context held what it held.
CREATE TABLE context_given (
  session_db_id INTEGER NOT NULL,
  what TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  newest_ms INTEGER NOT NULL DEFAULT 0,
  ids TEXT NOT NULL DEFAULT '[]',
  PRIMARY KEY (session_db_id, what)
) WITHOUT ROWID;

-- Counters by day: accepted, skipped by reason, duplicates, refused.
CREATE TABLE counters (
  day TEXT NOT NULL,
  name TEXT NOT NULL,
  n INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (day, name)
) WITHOUT ROWID;

-- How many rows each project has, so that counting never reads the rows.
CREATE TABLE totals (
  kind TEXT NOT NULL,
  project_id INTEGER NOT NULL,
  n INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (kind, project_id)
) WITHOUT ROWID;

CREATE TRIGGER observations_count_up AFTER INSERT ON observations BEGIN
  INSERT INTO totals (kind, project_id, n) VALUES ('observation', new.project_id, 1)
    ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER observations_count_down AFTER DELETE ON observations BEGIN
  UPDATE totals SET n = n - 1 WHERE kind = 'observation' AND project_id = old.project_id;
END;
CREATE TRIGGER observations_count_move AFTER UPDATE OF project_id ON observations
WHEN old.project_id <> new.project_id BEGIN
  UPDATE totals SET n = n - 1 WHERE kind = 'observation' AND project_id = old.project_id;
  INSERT INTO totals (kind, project_id, n) VALUES ('observation', new.project_id, 1)
    ON CONFLICT DO UPDATE SET n = n + 1;
END;

CREATE TRIGGER session_summaries_count_up AFTER INSERT ON session_summaries BEGIN
  INSERT INTO totals (kind, project_id, n) VALUES ('summary', new.project_id, 1)
    ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER session_summaries_count_down AFTER DELETE ON session_summaries BEGIN
  UPDATE totals SET n = n - 1 WHERE kind = 'summary' AND project_id = old.project_id;
END;
CREATE TRIGGER session_summaries_count_move AFTER UPDATE OF project_id ON session_summaries
WHEN old.project_id <> new.project_id BEGIN
  UPDATE totals SET n = n - 1 WHERE kind = 'summary' AND project_id = old.project_id;
  INSERT INTO totals (kind, project_id, n) VALUES ('summary', new.project_id, 1)
    ON CONFLICT DO UPDATE SET n = n + 1;
END;

CREATE TRIGGER user_prompts_count_up AFTER INSERT ON user_prompts BEGIN
  INSERT INTO totals (kind, project_id, n) VALUES ('prompt', new.project_id, 1)
    ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER user_prompts_count_down AFTER DELETE ON user_prompts BEGIN
  UPDATE totals SET n = n - 1 WHERE kind = 'prompt' AND project_id = old.project_id;
END;
CREATE TRIGGER user_prompts_count_move AFTER UPDATE OF project_id ON user_prompts
WHEN old.project_id <> new.project_id BEGIN
  UPDATE totals SET n = n - 1 WHERE kind = 'prompt' AND project_id = old.project_id;
  INSERT INTO totals (kind, project_id, n) VALUES ('prompt', new.project_id, 1)
    ON CONFLICT DO UPDATE SET n = n + 1;
END;
