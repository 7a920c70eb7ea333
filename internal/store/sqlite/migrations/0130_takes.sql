CREATE TABLE takes (
  cluster TEXT NOT NULL,
  id      TEXT NOT NULL,
  by      TEXT NOT NULL,
  note    TEXT NOT NULL,
  at      INTEGER NOT NULL,
  PRIMARY KEY (cluster, id)
) STRICT, WITHOUT ROWID;
