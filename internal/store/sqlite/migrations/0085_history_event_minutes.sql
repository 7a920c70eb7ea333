-- How many changelog entries of each kind a minute has, so that counting them costs minutes and not entries.
CREATE TABLE history_event_minutes (
  cluster TEXT NOT NULL,
  minute  INTEGER NOT NULL,
  what    TEXT NOT NULL,
  ns      TEXT NOT NULL,
  failed  INTEGER NOT NULL,
  n       INTEGER NOT NULL,
  PRIMARY KEY (cluster, minute, what, ns, failed)
) STRICT, WITHOUT ROWID;
INSERT INTO history_event_minutes
  SELECT cluster, at / 60000, what, ns, failed <> 0, count(*) FROM history_events GROUP BY 1, 2, 3, 4, 5;
