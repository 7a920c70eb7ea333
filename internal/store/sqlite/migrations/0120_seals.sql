-- MACs by a key that is not in the store.
ALTER TABLE sessions ADD COLUMN seal BLOB;
ALTER TABLE plan_approvals ADD COLUMN seal BLOB;
