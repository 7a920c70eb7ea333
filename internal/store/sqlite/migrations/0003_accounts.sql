CREATE TABLE users (
  id          TEXT PRIMARY KEY,
  name        TEXT NOT NULL UNIQUE,
  role        TEXT NOT NULL,
  password    TEXT NOT NULL, -- encoded argon2id hash
  break_glass INTEGER NOT NULL,
  disabled    INTEGER NOT NULL,
  created     INTEGER NOT NULL,
  last_login  INTEGER NOT NULL -- 0: never
) STRICT;
CREATE UNIQUE INDEX users_break_glass ON users (break_glass) WHERE break_glass = 1;
CREATE TABLE sessions (
  id      TEXT PRIMARY KEY,
  hash    BLOB NOT NULL UNIQUE, -- SHA-256 of the secret
  subject TEXT NOT NULL,
  name    TEXT NOT NULL,
  role    TEXT NOT NULL,
  method  TEXT NOT NULL,
  origin  TEXT NOT NULL,
  created INTEGER NOT NULL,
  used    INTEGER NOT NULL,
  expires INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_subject ON sessions (subject);
CREATE TABLE tokens (
  id      TEXT PRIMARY KEY,
  hash    BLOB NOT NULL UNIQUE, -- SHA-256 of the secret
  name    TEXT NOT NULL,
  role    TEXT NOT NULL,
  owner   TEXT NOT NULL,
  created INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  used    INTEGER NOT NULL, -- 0: never
  revoked INTEGER NOT NULL  -- 0: it is not
) STRICT;
CREATE INDEX tokens_owner ON tokens (owner);
