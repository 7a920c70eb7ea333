package auth

import (
	"context"
	"slices"
	"strings"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/store"
)

// Apart is how long an account that somebody made, or whose password or role they set, may be that person,
// unless the options say otherwise.
const Apart = 24 * time.Hour

// Related says why two people may be one: an account here that the other one made, or whose password or role
// they set, within Options.Apart; also through others, and by the same third person. Zero: they are apart.
// Whoever holds one admin's session could make such an account. People of an issuer or a proxy have no
// account here, so nobody has made them.
func (s *Service) Related(ctx context.Context, a, b string) (message.Message, error) {
	if s.o.Apart <= 0 {
		return message.Message{}, nil
	}
	made, err := s.madeSince(ctx, s.o.Now().Add(-s.o.Apart))
	if err != nil {
		return message.Message{}, err
	}
	one, other := reached(made, a), reached(made, b)
	for _, person := range one {
		if slices.Contains(other, person) {
			return message.New("approval.related", "The accounts were made, or their passwords or roles were set, by the same person within the "+
				"last {apart}.", message.Duration("apart", s.o.Apart)), nil
		}
	}
	return message.Message{}, nil
}

// reached are a person, those who made that person's account, those who made theirs, and so on.
func reached(made map[string][]string, person string) []string {
	out := []string{person}
	for i := 0; i < len(out); i++ {
		for _, by := range made[out[i]] {
			if !slices.Contains(out, by) {
				out = append(out, by)
			}
		}
	}
	return out
}

// madeSince reads the audit record: who made an account, or set its password or role, since a time.
func (s *Service) madeSince(ctx context.Context, since time.Time) (map[string][]string, error) {
	made := map[string][]string{}
	err := s.recordsSince(ctx, since, func(r store.AuditRecord) error {
		if r.What != auditUserCreated && r.What != auditUserPassword && r.What != auditUserRole {
			return nil
		}
		by, err := s.personOf(ctx, r.By)
		if err == nil && by != "" && by != r.Subject && !slices.Contains(made[r.Subject], by) {
			made[r.Subject] = append(made[r.Subject], by)
		}
		return err
	})
	return made, err
}

// Lapsed reports whether an account or a token was disabled, revoked or given another role since a time, also
// if it was given back: what it said before does not count any more.
func (s *Service) Lapsed(ctx context.Context, id string, since time.Time) (lapsed bool, err error) {
	person, err := s.personOf(ctx, id)
	if err != nil {
		return false, err
	}
	err = s.recordsSince(ctx, since, func(r store.AuditRecord) error {
		ends := r.What == auditUserDisabled || r.What == auditUserRole || r.What == auditTokenRevoked
		lapsed = lapsed || ends && (r.Subject == id || r.Subject == person)
		return nil
	})
	return lapsed, err
}

// recordsSince calls f for the records of what succeeded since a time, newest first.
func (s *Service) recordsSince(ctx context.Context, since time.Time, f func(store.AuditRecord) error) error {
	const page = 500
	for before := int64(1) << 62; ; {
		rows, err := s.o.Store.AuditBefore(ctx, before, page)
		if err != nil {
			return err
		}
		recent := false // the times of records may go back, by a clock that was set: a whole page tells
		for _, r := range rows {
			before = r.Seq
			if r.At.Before(since) {
				continue
			}
			recent = true
			if r.Outcome != "ok" {
				continue
			}
			if err := f(r); err != nil {
				return err
			}
		}
		if !recent || len(rows) < page {
			return nil
		}
	}
}

// personOf is the person behind a principal of the audit record: of a token its owner, "" for nobody known.
func (s *Service) personOf(ctx context.Context, id string) (string, error) {
	kind, name, _ := strings.Cut(id, ":")
	switch kind {
	case "user", "oidc", "proxy":
		return id, nil
	case "token":
		t, err := s.o.Store.Token(ctx, name)
		if fault.Of(err) == fault.NotFound {
			return "", nil
		}
		return t.Owner, err
	}
	return "", nil
}
