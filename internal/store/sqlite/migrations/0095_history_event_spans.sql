-- The counts of history_event_minutes by hour and by day, so that counting weeks costs hours and months cost days.
-- part is the number of spans since 1970, span its length in minutes: 60 or 1440.
CREATE TABLE history_event_spans (
  cluster TEXT NOT NULL,
  span    INTEGER NOT NULL,
  part    INTEGER NOT NULL,
  what    TEXT NOT NULL,
  ns      TEXT NOT NULL,
  failed  INTEGER NOT NULL,
  n       INTEGER NOT NULL,
  PRIMARY KEY (cluster, span, part, what, ns, failed)
) STRICT, WITHOUT ROWID;
INSERT INTO history_event_spans
  SELECT cluster, 60, minute / 60, what, ns, failed, sum(n) FROM history_event_minutes GROUP BY 1, 2, 3, 4, 5, 6;
INSERT INTO history_event_spans
  SELECT cluster, 1440, part / 24, what, ns, failed, sum(n) FROM history_event_spans WHERE span = 60 GROUP BY 1, 2, 3, 4, 5, 6;
