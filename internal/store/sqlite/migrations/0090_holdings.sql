CREATE TABLE holdings (
  cluster TEXT NOT NULL,
  ns      TEXT NOT NULL,
  at      INTEGER NOT NULL,
  body    BLOB NOT NULL,
  PRIMARY KEY (cluster, ns)
) STRICT;
