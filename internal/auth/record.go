package auth

import (
	"context"
	"maps"
	"time"

	"shardboard/internal/store"
)

// What the audit record says of sign-in and accounts.
const (
	auditLogin        = "login.ok"
	auditRefused      = "login.refused"
	auditLimited      = "login.limited"
	auditLogout       = "logout"
	auditBreakGlass   = "break-glass.used"
	auditSpoofed      = "proxy.spoofed"
	auditUserCreated  = "user.created"
	auditUserRole     = "user.role"
	auditUserDisabled = "user.disabled"
	auditUserEnabled  = "user.enabled"
	auditUserPassword = "user.password"
	auditTokenCreated = "token.created"
	auditTokenRevoked = "token.revoked"
	auditSession      = "session.revoked"
	auditRotated      = "session.rotated"
)

// entry is what p did. pairs are names and values of details.
func (s *Service) entry(p Principal, what, subject, outcome string, pairs ...string) store.AuditEntry {
	e := store.AuditEntry{At: s.o.Now(), By: p.ID, Via: string(p.Method), From: p.From, What: what, Subject: subject, Outcome: outcome}
	details := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		details[pairs[i]] = pairs[i+1]
	}
	if len(details) > 0 {
		e.Details = maps.Clone(details)
	}
	return e
}

// refused records an attempt that came to nothing. The asker is not told when
// that fails: they are refused already.
func (s *Service) refused(ctx context.Context, p Principal, what, subject, reason string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	s.o.Log.Warn("sign-in", "what", what, "reason", reason, "subject", subject, "method", p.Method, "from", p.From)
	if _, err := s.o.Store.Append(ctx, s.entry(p, what, subject, "refused", "reason", reason)); err != nil && s.o.Store.Owner() {
		s.o.Log.Error("record a refused sign-in", "err", err)
	}
}
