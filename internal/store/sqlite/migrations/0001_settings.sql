CREATE TABLE settings (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL,
  at    INTEGER NOT NULL -- milliseconds since 1970, as every time here
) STRICT;
