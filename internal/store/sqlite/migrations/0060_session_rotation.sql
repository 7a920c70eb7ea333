ALTER TABLE sessions ADD COLUMN stale INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN former_hash BLOB; -- of the session that this one replaced
ALTER TABLE sessions ADD COLUMN former_until INTEGER NOT NULL DEFAULT 0; -- 0: never
CREATE UNIQUE INDEX sessions_former ON sessions (former_hash) WHERE former_hash IS NOT NULL;
