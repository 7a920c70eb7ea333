CREATE TABLE audit (
  seq   INTEGER PRIMARY KEY,
  entry BLOB NOT NULL, -- the canonical form that the hash covers
  prev  BLOB NOT NULL,
  hash  BLOB NOT NULL
) STRICT;
CREATE TABLE audit_heads (
  seq       INTEGER NOT NULL,
  hash      BLOB NOT NULL,
  at        INTEGER NOT NULL,
  key       BLOB NOT NULL,
  signature BLOB NOT NULL
) STRICT;
