-- Memories that belong to the person: they stand first in every project's context, in the
-- order of `place`. Where they were made stays as it is.
CREATE TABLE personal (
  memory_id INTEGER PRIMARY KEY,
  place INTEGER NOT NULL,
  at_ms INTEGER NOT NULL
);
