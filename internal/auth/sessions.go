package auth

import (
	"context"
	"errors"

	"shardboard/internal/fault"
)

// Sessions returns by's own sessions, newest first; all sessions for an admin.
func (s *Service) Sessions(ctx context.Context, by Principal) ([]Session, error) {
	subject, err := s.visibleTo(by)
	if err != nil {
		return nil, err
	}
	rows, err := s.o.Store.Sessions(ctx, subject)
	if err != nil {
		return nil, err
	}
	var out []Session
	for _, row := range rows {
		p, _, err := s.checkSession(ctx, row) // a stale session is still valid: its next request rotates it
		if errors.Is(err, ErrNobody) {
			continue // it has expired
		}
		if err != nil {
			return nil, err
		}
		ends := row.Expires
		if idle := row.Used.Add(s.o.Idle); idle.Before(ends) {
			ends = idle
		}
		out = append(out, Session{ID: row.ID, Subject: row.Subject, Name: row.Name, Role: p.Role, Method: Method(row.Method), From: row.From,
			Created: row.Created, Used: row.Used, Ends: ends, Current: row.ID == by.Session})
	}
	return out, nil
}

// Revoke ends one of the sessions that by can see.
func (s *Service) Revoke(ctx context.Context, by Principal, session string) error {
	subject, err := s.visibleTo(by)
	if err != nil {
		return err
	}
	row, err := s.o.Store.Session(ctx, session)
	if err != nil {
		return err
	}
	if subject != "" && row.Subject != subject {
		return fault.New(fault.NotFound, "There is no such session; it may have ended.")
	}
	err = s.o.Store.EndSession(ctx, session, s.entry(by, auditSessionRevoked, row.Subject, "ok", "session", session, "name", row.Name))
	if err == nil {
		s.endSessions(session)
	}
	return err
}

// visibleTo returns the subject whose sessions and tokens by may see; "" means everybody's. A token
// below admin sees none of its owner's, because it was created with fewer rights.
func (s *Service) visibleTo(by Principal) (string, error) {
	switch {
	case by.ID == "":
		return "", ErrNobody
	case by.May(Admin):
		return "", nil
	}
	return by.ID, nil
}
