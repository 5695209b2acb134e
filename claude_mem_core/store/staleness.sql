-- What a memory speaks of, as it was when the memory was made: a digest of the file, or of
-- the symbols in it that the memory names.
CREATE TABLE watched (
  memory_id INTEGER NOT NULL,
  path TEXT NOT NULL,
  symbols TEXT NOT NULL,
  digest TEXT NOT NULL,
  PRIMARY KEY (memory_id, path)
) WITHOUT ROWID;

-- Memories to be verified, and why: what they speak of has changed or is gone.
CREATE TABLE verify_marks (
  memory_id INTEGER PRIMARY KEY,
  reason TEXT NOT NULL,
  at_ms INTEGER NOT NULL
);
