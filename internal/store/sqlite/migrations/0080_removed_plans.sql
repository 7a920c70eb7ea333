CREATE TABLE removed_plans (
  id   TEXT PRIMARY KEY,
  made INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX removed_plans_made ON removed_plans (made);
CREATE INDEX plans_made ON plans (made);
