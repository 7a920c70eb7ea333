CREATE TABLE heat_axes (
  cluster TEXT NOT NULL,
  picture TEXT NOT NULL,
  id      INTEGER NOT NULL,
  body    BLOB NOT NULL,
  PRIMARY KEY (cluster, picture, id)
) STRICT;
CREATE TABLE heat_columns (
  cluster TEXT NOT NULL,
  picture TEXT NOT NULL,
  at      INTEGER NOT NULL,
  step    INTEGER NOT NULL,
  axis    INTEGER NOT NULL,
  body    BLOB NOT NULL,
  PRIMARY KEY (cluster, picture, at, step)
) STRICT;
