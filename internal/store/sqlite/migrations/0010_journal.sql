CREATE TABLE plans (
  id      TEXT PRIMARY KEY,
  cluster TEXT NOT NULL,
  by      TEXT NOT NULL,
  kind    TEXT NOT NULL,
  hash    TEXT NOT NULL,
  made    INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  body    BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE runs (
  seq     INTEGER PRIMARY KEY AUTOINCREMENT,
  id      TEXT NOT NULL UNIQUE,
  plan    TEXT NOT NULL UNIQUE REFERENCES plans (id), -- a plan runs once
  cluster TEXT NOT NULL,
  by      TEXT NOT NULL,
  state   TEXT NOT NULL,
  open    INTEGER NOT NULL,
  started INTEGER NOT NULL,
  ended   INTEGER, -- NULL while open
  body    BLOB NOT NULL
) STRICT;
CREATE INDEX runs_of_cluster ON runs (cluster, seq);
CREATE INDEX runs_open ON runs (cluster, seq) WHERE open = 1;
CREATE TABLE intents (
  run     TEXT NOT NULL REFERENCES runs (id),
  step    INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  db      TEXT NOT NULL,
  command BLOB NOT NULL,
  PRIMARY KEY (run, step) -- a step is sent once
) STRICT, WITHOUT ROWID;
