-- What a second person said about a plan: asked, approved, …
CREATE TABLE plan_approvals (
  plan    TEXT PRIMARY KEY REFERENCES plans (id),
  cluster TEXT NOT NULL,
  state   TEXT NOT NULL,
  until   INTEGER NOT NULL,
  body    BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX plan_approvals_asked ON plan_approvals (cluster, until) WHERE state = 'asked';
