package auth

import (
	"context"
	"log/slog"
	"maps"
	"time"

	"shardboard/internal/store"
	"shardboard/internal/store/audit"
)

// Kinds of audit entries for sign-in and accounts.
const (
	auditSignIn         = "login.ok"
	auditRefused        = "login.refused"
	auditLimited        = "login.limited"
	auditSignOut        = "logout"
	auditBreakGlass     = "break-glass.used"
	auditSpoofed        = "proxy.spoofed"
	auditUserCreated    = "user.created"
	auditUserRole       = "user.role"
	auditUserDisabled   = "user.disabled"
	auditUserEnabled    = "user.enabled"
	auditUserPassword   = "user.password"
	auditTokenCreated   = "token.created"
	auditTokenRevoked   = "token.revoked"
	auditSessionRevoked = "session.revoked"
	auditSessionRotated = "session.rotated"
)

// entry is an audit entry for an action of p. pairs are names and values of details in turn.
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

// refused records a refused attempt. Attempts of signed-in users are recorded one by one, because
// the limits allow at most ten a minute. Anonymous ones are counted and summarised, because anybody
// can make any number of them. A failure to record is only logged: the attempt is refused either
// way.
func (s *Service) refused(ctx context.Context, p Principal, what, subject, reason string) {
	e := s.entry(p, what, subject, "refused", "reason", reason)
	if p.ID == "" {
		s.o.Refusals.Add(e)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	s.o.Log.Warn("refused", "what", what, "reason", reason, "by", p.ID, "method", p.Method, "from", p.From)
	if _, err := s.o.Store.Append(ctx, e); err != nil && s.o.Store.Owner() {
		s.o.Log.Error("record a refused attempt", "err", err)
	}
}

// NewRefusals returns a counter of refused attempts that writes summaries to the store's audit
// record. A process that does not own the data only logs them.
func NewRefusals(s store.Store, log *slog.Logger, now func() time.Time) *audit.Refusals {
	o := audit.RefusalOptions{Log: log, Now: now}
	if s.Owner() {
		o.Record = s.Append
	}
	return audit.NewRefusals(o)
}
