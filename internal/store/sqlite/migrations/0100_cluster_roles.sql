-- JSON; '' for none. What a token is bound to, and what its creator was when it was made.
ALTER TABLE tokens ADD COLUMN clusters TEXT NOT NULL DEFAULT '';
ALTER TABLE tokens ADD COLUMN owner_role TEXT NOT NULL DEFAULT '';
ALTER TABLE tokens ADD COLUMN owner_groups TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN issuer_groups TEXT NOT NULL DEFAULT '';
