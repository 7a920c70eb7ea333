CREATE TABLE problems (
  cluster TEXT NOT NULL,
  id      TEXT NOT NULL,
  since   INTEGER NOT NULL,
  until   INTEGER,
  body    BLOB NOT NULL,
  PRIMARY KEY (cluster, id, since)
) STRICT, WITHOUT ROWID;
CREATE INDEX problems_since ON problems (cluster, since);

CREATE TABLE problems_judged (
  cluster TEXT NOT NULL,
  since   INTEGER NOT NULL,
  until   INTEGER NOT NULL,
  body    BLOB NOT NULL,
  PRIMARY KEY (cluster, since)
) STRICT, WITHOUT ROWID;
