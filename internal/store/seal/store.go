package seal

import (
	"context"
	"crypto/hmac"
	"log/slog"
	"slices"
	"sync"
	"time"

	"shardboard/internal/clock"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/internal/store"
)

const (
	setting   = "session-key" // the name of the key that sealed what is stored
	lookEvery = time.Minute
	reported  = 24 * time.Hour // since a row was seen
	most      = 100            // rows reported

	// AuditUnsealed and AuditKeyChanged are entries of the audit record.
	AuditUnsealed   = "store.unsealed"
	AuditKeyChanged = "store.key-changed"
)

// Store is a store whose sessions and approvals are sealed. Safe for concurrent use.
type Store struct {
	store.Store
	key Key
	log *slog.Logger

	mu   sync.Mutex
	seen []store.Unsealed // newest last
}

// sharedStore seals requests too.
type sharedStore struct {
	*Store
	store.Requests
}

// Open seals a store. If another key, or none, sealed what it holds, all sessions and approvals end, once. The second
// result is what the store is to everybody else; it passes requests to the leader if the store does.
func Open(ctx context.Context, s store.Store, key Key, log *slog.Logger) (*Store, store.Store, error) {
	out := &Store{Store: s, key: key, log: log}
	if key.IsZero() {
		return out, s, nil
	}
	if s.Owner() {
		if err := out.reset(ctx); err != nil {
			return nil, nil, err
		}
	}
	if r, ok := s.(store.Requests); ok {
		return out, &sharedStore{out, r}, nil
	}
	return out, out, nil
}

func (s *Store) reset(ctx context.Context) error {
	had, err := s.Setting(ctx, setting)
	if fault.Of(err) == fault.NotFound {
		had, err = "", nil
	}
	if err != nil || had == s.key.Name() {
		return err
	}
	done, err := s.ResetSeals(ctx, store.SealReset{Setting: setting, Value: s.key.Name(),
		Approval: func(a store.ApprovalRecord) ([]byte, bool) { return s.key.approval(a), a.State != store.ApprovalGiven },
		Entry: store.AuditEntry{At: time.Now(), What: AuditKeyChanged, Subject: s.key.Name(), Outcome: "ok",
			Details: map[string]string{"before": had}}})
	switch {
	case done && had == "":
		s.log.Info("sessions and approvals are sealed by the session key from now on; any earlier ones have ended", "key", s.key.Name())
	case done:
		s.log.Warn("the session key is new: everybody signs in again, and approvals have to be given again", "key", s.key.Name(), "before", had)
	}
	return err
}

// CreateSession seals a new session.
func (s *Store) CreateSession(ctx context.Context, row store.Session, replaces string, e store.AuditEntry) error {
	row.Seal = s.key.session(row)
	return s.Store.CreateSession(ctx, row, replaces, e)
}

// RotateSession seals the session that replaces another one.
func (s *Store) RotateSession(ctx context.Context, old string, row store.Session, e store.AuditEntry) error {
	was, err := s.Session(ctx, old)
	if err != nil {
		return err
	}
	row.FormerHash = was.Hash
	row.Seal = s.key.session(row)
	return s.Store.RotateSession(ctx, old, row, e)
}

// Session returns a session by its id.
func (s *Store) Session(ctx context.Context, id string) (store.Session, error) {
	row, err := s.Store.Session(ctx, id)
	return s.session(ctx, row, err)
}

// SessionByHash returns the session of a secret.
func (s *Store) SessionByHash(ctx context.Context, hash []byte) (store.Session, error) {
	row, err := s.Store.SessionByHash(ctx, hash)
	return s.session(ctx, row, err)
}

// SessionByFormer returns the session that replaced the one of a secret.
func (s *Store) SessionByFormer(ctx context.Context, hash []byte) (store.Session, error) {
	row, err := s.Store.SessionByFormer(ctx, hash)
	return s.session(ctx, row, err)
}

// Sessions returns those of a subject, or all.
func (s *Store) Sessions(ctx context.Context, subject string) ([]store.Session, error) {
	rows, err := s.Store.Sessions(ctx, subject)
	return slices.DeleteFunc(rows, func(row store.Session) bool {
		return !s.sealed(ctx, "sessions", row.ID, row.Seal, s.key.session(row))
	}), err
}

func (s *Store) session(ctx context.Context, row store.Session, err error) (store.Session, error) {
	if err != nil || s.sealed(ctx, "sessions", row.ID, row.Seal, s.key.session(row)) {
		return row, err
	}
	return store.Session{}, fault.New(fault.NotFound, "There is no such session; it may have ended.")
}

// AddApproval seals the first record of a plan.
func (s *Store) AddApproval(ctx context.Context, a store.ApprovalRecord) error {
	a.Seal = s.key.approval(a)
	return s.Store.AddApproval(ctx, a)
}

// SaveApproval seals the record of a plan.
func (s *Store) SaveApproval(ctx context.Context, a store.ApprovalRecord) error {
	a.Seal = s.key.approval(a)
	return s.Store.SaveApproval(ctx, a)
}

// Approval returns the record of a plan.
func (s *Store) Approval(ctx context.Context, plan string) (store.ApprovalRecord, error) {
	a, err := s.Store.Approval(ctx, plan)
	if err != nil || s.sealed(ctx, "plan_approvals", a.Plan, a.Seal, s.key.approval(a)) {
		return a, err
	}
	return store.ApprovalRecord{}, fault.New(fault.NotFound, "Nobody was asked to approve this plan.")
}

// ApprovalsAsked returns requests that nobody has answered.
func (s *Store) ApprovalsAsked(ctx context.Context, cluster string, after time.Time, limit int) ([]store.ApprovalRecord, error) {
	rows, err := s.Store.ApprovalsAsked(ctx, cluster, after, limit)
	return slices.DeleteFunc(rows, func(a store.ApprovalRecord) bool {
		return !s.sealed(ctx, "plan_approvals", a.Plan, a.Seal, s.key.approval(a))
	}), err
}

// AddRequest seals a request.
func (s *sharedStore) AddRequest(ctx context.Context, r store.Request) error {
	r.Made = r.Made.UTC().Truncate(time.Millisecond)
	r.Seal = s.key.request(r)
	return s.Requests.AddRequest(ctx, r)
}

// TakeRequest returns the oldest request that a replica wrote. It takes the others, so that nobody does them.
func (s *sharedStore) TakeRequest(ctx context.Context, cluster string) (store.Request, error) {
	for {
		r, err := s.Requests.TakeRequest(ctx, cluster)
		if err != nil || s.sealed(ctx, "requests", r.ID, r.Seal, s.key.request(r)) {
			return r, err
		}
	}
}

// sealed reports whether a row has its seal, and reports one that has not.
func (s *Store) sealed(ctx context.Context, table, id string, has, want []byte) bool {
	if hmac.Equal(has, want) {
		return true
	}
	if s.note(store.Unsealed{Table: table, ID: sanitize.Truncate(id, 60), At: time.Now()}) {
		s.log.Error("a row of the store is not by shardboard, or by one with another session key: it does not count",
			"table", table, "id", sanitize.Truncate(id, 60))
		if s.Leads() {
			_, err := s.Append(context.WithoutCancel(ctx), store.AuditEntry{At: time.Now(), What: AuditUnsealed,
				Subject: sanitize.Truncate(id, 60), Outcome: "refused", Details: map[string]string{"table": table}})
			if err != nil {
				s.log.Error("record a row that does not count", "err", err)
			}
		}
	}
	return false
}

// note keeps a row, and reports whether it is a new one.
func (s *Store) note(u store.Unsealed) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.seen, func(o store.Unsealed) bool { return o.Table == u.Table && o.ID == u.ID })
	if at < 0 && len(s.seen) == most {
		return false
	}
	if at >= 0 {
		s.seen = slices.Delete(s.seen, at, at+1)
	}
	s.seen = append(s.seen, u)
	return at < 0
}

// Unsealed lists the rows without a valid seal that were seen in the last day, at most 100.
func (s *Store) Unsealed() []store.Unsealed {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = slices.DeleteFunc(s.seen, func(u store.Unsealed) bool { return time.Since(u.At) > reported })
	return slices.Clone(s.seen)
}

// Watch looks at all sessions once a minute until ctx ends, so that a row is noticed before somebody uses it.
func (s *Store) Watch(ctx context.Context) error {
	if s.key.IsZero() {
		<-ctx.Done()
		return nil
	}
	for clock.Sleep(ctx, lookEvery) == nil {
		_, _ = s.Sessions(ctx, "") // a store that does not answer is reported elsewhere
	}
	return nil
}
