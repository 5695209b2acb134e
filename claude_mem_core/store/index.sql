-- The word index over observations, summaries and prompts. It holds no text: the tables
-- do. `rowid` is kind * 2^48 + id (observation 0, summary 1, prompt 2), so each kind is a
-- range, newest last. Text is prepared by recall/words.py before it goes in: scripts
-- without spaces become pairs of characters, `idents` holds split identifiers, and
-- `scope` tokens for project, type, host, concepts, date, that no typed word can equal.
CREATE VIRTUAL TABLE memory_index USING fts5(
  title, subtitle, narrative, facts, concepts, files, idents, scope,
  content = '', contentless_delete = 1,
  tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
);

-- Every longer word of the index, and a trigram index over these words (not over the
-- text, which would be larger than the word index itself): for parts of words.
CREATE TABLE memory_words (id INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE);
CREATE VIRTUAL TABLE memory_words_trigram USING fts5(
  word, content = 'memory_words', content_rowid = 'id', tokenize = 'trigram', detail = none
);

-- The documented names of the text indexes; MATCH and rank work on them as before.
CREATE VIEW observations_fts AS
  SELECT o.id AS rowid, o.title, o.subtitle, o.narrative, o.text, o.facts, o.concepts,
    i.memory_index AS observations_fts, i.rank AS rank
  FROM memory_index i JOIN observations o ON o.id = i.rowid;
CREATE VIEW session_summaries_fts AS
  SELECT s.id AS rowid, s.request, s.investigated, s.learned, s.completed, s.next_steps,
    s.notes, i.memory_index AS session_summaries_fts, i.rank AS rank
  FROM memory_index i JOIN session_summaries s ON s.id = i.rowid - 281474976710656;
CREATE VIEW user_prompts_fts AS
  SELECT p.id AS rowid, p.prompt_text, i.memory_index AS user_prompts_fts, i.rank AS rank
  FROM memory_index i JOIN user_prompts p ON p.id = i.rowid - 562949953421312;

-- Context queries: the newest of a project that one host recorded and that still hold.
CREATE INDEX IF NOT EXISTS idx_observations_context
  ON observations(project_id, platform_source, created_at_epoch DESC, id DESC)
  WHERE superseded_by IS NULL AND agent_id IS NULL;
CREATE INDEX IF NOT EXISTS idx_session_summaries_context
  ON session_summaries(project_id, platform_source, created_at_epoch DESC, id DESC)
  WHERE superseded_by IS NULL;
