CREATE TABLE surveys (
  cluster TEXT NOT NULL,
  id      TEXT NOT NULL,
  at      INTEGER NOT NULL,
  head    BLOB NOT NULL,
  body    BLOB NOT NULL,
  PRIMARY KEY (cluster, id)
) STRICT;
CREATE INDEX surveys_at ON surveys (cluster, at);
