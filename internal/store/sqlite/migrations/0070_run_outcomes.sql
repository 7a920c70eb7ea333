CREATE TABLE run_outcomes (
  cluster TEXT NOT NULL,
  run     TEXT NOT NULL,
  at      INTEGER NOT NULL,
  open    INTEGER NOT NULL,
  body    BLOB NOT NULL,
  PRIMARY KEY (cluster, run)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_outcomes_open ON run_outcomes (cluster) WHERE open = 1;
