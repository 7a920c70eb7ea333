-- Entries of one collection, and failures: rare among millions of entries.
CREATE INDEX history_events_ns ON history_events (cluster, ns, at, id);
CREATE INDEX history_events_failed ON history_events (cluster, at, id) WHERE failed;
-- Problems that lasted until a time: the newest are asked for, by their end.
CREATE INDEX problems_until ON problems (cluster, until);
