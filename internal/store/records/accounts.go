package records

import (
	"context"
	"errors"
	"strings"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

var (
	users = tableOf("users", func(_ *string, u *store.User) []any {
		return []any{&u.ID, &u.Name, &u.Role, &u.Password, &u.BreakGlass, &u.Disabled, &u.Created, &u.LastLogin}
	})
	sessions = tableOf("sessions", func(_ *string, s *store.Session) []any {
		return []any{&s.ID, &s.Hash, &s.Subject, &s.Name, &s.Role, &s.Method, &s.From, &s.Created, &s.Used, &s.Expires, &s.Stale,
			&s.FormerHash, &s.Former, &s.Groups, &s.Seal}
	})
	tokens = tableOf("tokens", func(_ *string, t *store.Token) []any {
		return []any{&t.ID, &t.Hash, &t.Name, &t.Role, &t.Owner, &t.Created, &t.Expires, &t.Used, &t.Revoked, &t.Clusters, &t.OwnerRole,
			&t.OwnerGroups}
	})
)

var (
	errNoUser    = fault.New(fault.NotFound, "There is no such user.")
	errNoSession = fault.New(fault.NotFound, "There is no such session; it may have ended.")
	errNoToken   = fault.New(fault.NotFound, "There is no such token.")
)

// or replaces ErrNone by a sentence.
func or(err, none error) error {
	if errors.Is(err, ErrNone) {
		return none
	}
	return err
}

// found is none for a change that found no row.
func found(n int64, err, none error) error {
	if err == nil && n == 0 {
		return none
	}
	return err
}

// CreateUser adds an account.
func (r Records) CreateUser(ctx context.Context, u store.User, e store.AuditEntry) error {
	return r.db.Audited(ctx, e, func(ctx context.Context, tx Tx) error { return createUser(ctx, tx, u) })
}

// CreateFirstUser adds an account if there is none. Two replicas cannot both do so: their audit entries conflict,
// and the later one then sees the account.
func (r Records) CreateFirstUser(ctx context.Context, u store.User, e store.AuditEntry) error {
	return r.db.Audited(ctx, e, func(ctx context.Context, tx Tx) error {
		others := users.is("break_glass", false)
		if err := missing(ctx, tx, users, others, "Users exist already, so the first admin cannot be created."); err != nil {
			return err
		}
		return createUser(ctx, tx, u)
	})
}

func createUser(ctx context.Context, tx Tx, u store.User) error {
	taken, err := exists(ctx, tx, users, users.is("name", u.Name))
	if err == nil && taken {
		err = fault.New(fault.Conflict, "The user %s already exists. Accounts are never removed, so names cannot be reused.", u.Name)
	}
	if err == nil && u.BreakGlass {
		err = missing(ctx, tx, users, users.is("break_glass", true), "A break-glass account already exists; set its password instead.")
	}
	if err != nil {
		return err
	}
	return tx.Insert(ctx, users.Table, users.row("", u))
}

// User returns an account by its id.
func (r Records) User(ctx context.Context, id string) (store.User, error) {
	u, err := one(ctx, r.db, users, users.is("id", id))
	return u, or(err, errNoUser)
}

// UserByName returns an account by its name.
func (r Records) UserByName(ctx context.Context, name string) (store.User, error) {
	u, err := one(ctx, r.db, users, users.is("name", name))
	return u, or(err, errNoUser)
}

// Users returns all accounts by name.
func (r Records) Users(ctx context.Context) ([]store.User, error) {
	return list(ctx, r.db, users, nil, 0, "name")
}

// ChangeUser changes an account, ends sessions and records it, all or nothing.
func (r Records) ChangeUser(ctx context.Context, id string, c store.UserChange, e store.AuditEntry) (ended []string, err error) {
	err = r.db.Audited(ctx, e, func(ctx context.Context, tx Tx) error {
		ended, err = changeUser(ctx, tx, id, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	return ended, nil
}

func changeUser(ctx context.Context, tx Tx, id string, c store.UserChange) (ended []string, err error) {
	var set Where
	if c.Role != nil {
		set = users.and(set, "role", "=", *c.Role)
	}
	if c.Password != nil {
		set = users.and(set, "password", "=", *c.Password)
	}
	if c.Disabled != nil {
		set = users.and(set, "disabled", "=", *c.Disabled)
	}
	if len(set) == 0 {
		return nil, errors.New("change user: nothing to change")
	}
	n, err := tx.Update(ctx, users.Table, users.is("id", id), set)
	if err := found(n, err, errNoUser); err != nil {
		return nil, err
	}
	if c.Keep != "" {
		left, err := exists(ctx, tx, users, users.is("role", c.Keep, "disabled", false, "break_glass", false))
		if err == nil && !left {
			err = fault.New(fault.Conflict, "This is the last enabled %s, so nobody could undo the change. Create another one first.", c.Keep)
		}
		if err != nil {
			return nil, err
		}
	}
	if c.End != "" {
		if ended, err = endSessions(ctx, tx, sessions.is("subject", c.End)); err != nil {
			return nil, err
		}
	}
	if c.Instead != nil {
		if err := tx.Insert(ctx, sessions.Table, sessions.row("", newSession(*c.Instead, nil))); err != nil {
			return nil, err
		}
	}
	if c.Revoke != "" {
		revoked := tokens.is("owner", c.Revoke, "revoked", time.Time{})
		if _, err := tx.Update(ctx, tokens.Table, revoked, tokens.is("revoked", c.RevokeAt)); err != nil {
			return nil, err
		}
	}
	if c.Rotate != "" {
		of := sessions.is("subject", c.Rotate)
		stale, err := sessionIDs(ctx, tx, of)
		if err != nil {
			return nil, err
		}
		if _, err := tx.Update(ctx, sessions.Table, of, sessions.is("stale", true)); err != nil {
			return nil, err
		}
		ended = append(ended, stale...)
	}
	return ended, nil
}

// CreateSession stores a new session.
func (r Records) CreateSession(ctx context.Context, s store.Session, replaces string, e store.AuditEntry) error {
	return r.db.Audited(ctx, e, func(ctx context.Context, tx Tx) error {
		if replaces != "" {
			if _, err := tx.Delete(ctx, sessions.Table, sessions.is("id", replaces)); err != nil {
				return err
			}
		}
		if err := tx.Insert(ctx, sessions.Table, sessions.row("", newSession(s, nil))); err != nil {
			return err
		}
		if id, local := strings.CutPrefix(s.Subject, "user:"); local {
			_, err := tx.Update(ctx, users.Table, users.is("id", id), users.is("last_login", s.Created))
			return err
		}
		return nil
	})
}

// newSession is a session that replaced the one of a hash; nil: none.
func newSession(s store.Session, former []byte) store.Session {
	s.FormerHash = former
	return s
}

// RotateSession replaces a session by another. Of many concurrent callers, at any replica, the one that deletes the
// row succeeds.
func (r Records) RotateSession(ctx context.Context, old string, s store.Session, e store.AuditEntry) error {
	return r.db.Audited(ctx, e, func(ctx context.Context, tx Tx) error {
		former, err := one(ctx, tx, sessions, sessions.is("id", old))
		if err != nil {
			return or(err, errNoSession)
		}
		n, err := tx.Delete(ctx, sessions.Table, sessions.is("id", old))
		if err := found(n, err, errNoSession); err != nil {
			return err
		}
		return tx.Insert(ctx, sessions.Table, sessions.row("", newSession(s, former.Hash)))
	})
}

// Session returns a session by its id.
func (r Records) Session(ctx context.Context, id string) (store.Session, error) {
	return r.session(ctx, sessions.is("id", id))
}

// SessionByHash returns the session of a secret.
func (r Records) SessionByHash(ctx context.Context, hash []byte) (store.Session, error) {
	return r.session(ctx, sessions.is("hash", hash))
}

// SessionByFormer returns the session that replaced the one of a secret.
func (r Records) SessionByFormer(ctx context.Context, hash []byte) (store.Session, error) {
	if hash == nil {
		return store.Session{}, errNoSession
	}
	return r.session(ctx, sessions.is("former_hash", hash))
}

func (r Records) session(ctx context.Context, where Where) (store.Session, error) {
	s, err := one(ctx, r.db, sessions, where)
	return s, or(err, errNoSession)
}

// Sessions returns those of a subject, or all.
func (r Records) Sessions(ctx context.Context, subject string) ([]store.Session, error) {
	var where Where
	if subject != "" {
		where = sessions.is("subject", subject)
	}
	return list(ctx, r.db, sessions, where, 0, "-created", "id")
}

// TouchSession stores the time of a use.
func (r Records) TouchSession(ctx context.Context, id string, used time.Time) error {
	return r.db.Change(ctx, func(ctx context.Context, tx Tx) error {
		_, err := tx.Update(ctx, sessions.Table, sessions.is("id", id), sessions.is("used", used))
		return err
	})
}

// EndSession deletes a session.
func (r Records) EndSession(ctx context.Context, id string, e store.AuditEntry) error {
	return r.db.Audited(ctx, e, func(ctx context.Context, tx Tx) error {
		n, err := tx.Delete(ctx, sessions.Table, sessions.is("id", id))
		return found(n, err, errNoSession)
	})
}

// DropSessions deletes expired sessions and those from a time in the future. Any replica may do so.
func (r Records) DropSessions(ctx context.Context, now, idle, ahead time.Time) (ids []string, err error) {
	over := []Where{
		sessions.and(nil, "expires", "<=", now), sessions.and(nil, "used", "<=", idle),
		sessions.and(nil, "used", ">", ahead), sessions.and(nil, "created", ">", ahead),
	}
	// Seldom is there anything to delete, so this is looked at without a transaction first.
	some := false
	for _, where := range over {
		found, err := exists(ctx, r.db, sessions, where)
		if err != nil {
			return nil, err
		}
		some = some || found
	}
	if !some {
		return nil, nil
	}
	err = r.db.Change(ctx, func(ctx context.Context, tx Tx) error {
		ids = nil
		for _, where := range over {
			more, err := endSessions(ctx, tx, where)
			if err != nil {
				return err
			}
			ids = append(ids, more...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return ids, nil
}

// endSessions deletes sessions and returns their ids.
func endSessions(ctx context.Context, tx Tx, where Where) (ids []string, err error) {
	if ids, err = sessionIDs(ctx, tx, where); err != nil {
		return nil, err
	}
	_, err = tx.Delete(ctx, sessions.Table, where)
	return ids, err
}

func sessionIDs(ctx context.Context, tx Tx, where Where) (ids []string, err error) {
	found, err := list(ctx, tx, sessions, where, 0)
	for _, s := range found {
		ids = append(ids, s.ID)
	}
	return ids, err
}

// CreateToken stores an API key.
func (r Records) CreateToken(ctx context.Context, t store.Token, e store.AuditEntry) error {
	return r.db.Audited(ctx, e, func(ctx context.Context, tx Tx) error { return tx.Insert(ctx, tokens.Table, tokens.row("", t)) })
}

// Token returns a token by its id.
func (r Records) Token(ctx context.Context, id string) (store.Token, error) {
	t, err := one(ctx, r.db, tokens, tokens.is("id", id))
	return t, or(err, errNoToken)
}

// TokenByHash returns the token of a secret.
func (r Records) TokenByHash(ctx context.Context, hash []byte) (store.Token, error) {
	t, err := one(ctx, r.db, tokens, tokens.is("hash", hash))
	return t, or(err, errNoToken)
}

// Tokens returns those of an owner, or all.
func (r Records) Tokens(ctx context.Context, owner string) ([]store.Token, error) {
	var where Where
	if owner != "" {
		where = tokens.is("owner", owner)
	}
	return list(ctx, r.db, tokens, where, 0, "-created", "id")
}

// TouchToken stores the time of a use.
func (r Records) TouchToken(ctx context.Context, id string, used time.Time) error {
	return r.db.Change(ctx, func(ctx context.Context, tx Tx) error {
		_, err := tx.Update(ctx, tokens.Table, tokens.is("id", id), tokens.is("used", used))
		return err
	})
}

// RevokeToken permanently ends a token.
func (r Records) RevokeToken(ctx context.Context, id string, at time.Time, e store.AuditEntry) error {
	return r.db.Audited(ctx, e, func(ctx context.Context, tx Tx) error {
		t, err := one(ctx, tx, tokens, tokens.is("id", id))
		switch {
		case err != nil:
			return or(err, errNoToken)
		case !t.Revoked.IsZero():
			return fault.New(fault.Conflict, "This token is already revoked.")
		}
		_, err = tx.Update(ctx, tokens.Table, tokens.is("id", id), tokens.is("revoked", at))
		return err
	})
}
