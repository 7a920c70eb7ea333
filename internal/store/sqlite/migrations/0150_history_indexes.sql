-- Entries of one collection, and failures: rare among millions of entries.
CREATE INDEX history_events_ns ON history_events (cluster, ns, at, id);
CREATE INDEX history_events_failed ON history_events (cluster, at, id) WHERE failed;
-- Problems that lasted until a time, or last: the newest are asked for, by their end, as package sqlite writes it.
CREATE INDEX problems_until ON problems (cluster, coalesce(until, 9223372036854775807));
