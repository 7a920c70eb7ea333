CREATE TABLE history (
  seq     INTEGER PRIMARY KEY,
  cluster TEXT NOT NULL,
  stream  TEXT NOT NULL,
  at      INTEGER NOT NULL,
  whole   INTEGER NOT NULL,
  body    BLOB NOT NULL
) STRICT;
CREATE INDEX history_stream ON history (cluster, stream, at, seq, whole);
CREATE TABLE history_events (
  cluster TEXT NOT NULL,
  id      TEXT NOT NULL,
  at      INTEGER NOT NULL,
  what    TEXT NOT NULL,
  ns      TEXT NOT NULL,
  shard   TEXT NOT NULL,
  failed  INTEGER NOT NULL,
  details BLOB,
  PRIMARY KEY (cluster, at, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE history_watched (
  cluster TEXT NOT NULL,
  since   INTEGER NOT NULL,
  until   INTEGER NOT NULL,
  PRIMARY KEY (cluster, since)
) STRICT, WITHOUT ROWID;
