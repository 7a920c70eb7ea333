package webtest

import (
	"context"
	"crypto/ed25519"
	"slices"
	"time"

	"shardboard/internal/store"
	"shardboard/internal/store/audit"
	"shardboard/web/guard"
)

// StubAudit is an audit record in memory.
type StubAudit struct {
	Records []store.AuditRecord
	heads   []store.AuditHead
	Check   audit.State
	Err     error
}

func (a *StubAudit) State() audit.State { return a.Check }

func (a *StubAudit) AuditNames(context.Context) (map[string]string, error) {
	return map[string]string{"user:k3j2": "anna", "token:x": HostileName, "token:bound": "told nobody either", "oidc:ab:sub-1": "Anna",
		"oidc:ab:sub-2": "Anna"}, a.Err
}

func (a *StubAudit) BoundTokens(context.Context) (map[string][]string, error) {
	return map[string][]string{"token:bound": {"other", "own"}}, a.Err
}

func (a *StubAudit) AuditRecords(_ context.Context, after int64, limit int) ([]store.AuditRecord, error) {
	from := min(max(after, 0), int64(len(a.Records)))
	return a.Records[from:min(from+int64(limit), int64(len(a.Records)))], a.Err
}

func (a *StubAudit) AuditBefore(_ context.Context, before int64, limit int) ([]store.AuditRecord, error) {
	part := slices.Clone(a.Records[:min(max(before-1, 0), int64(len(a.Records)))])
	slices.Reverse(part)
	return part[:min(limit, len(part))], a.Err
}

func (a *StubAudit) AuditEnd(context.Context) (int64, []byte, error) {
	return int64(len(a.Records)), nil, a.Err
}

func (a *StubAudit) AuditHeads(_ context.Context, skip, limit int) ([]store.AuditHead, error) {
	return a.heads[min(skip, len(a.heads)):min(skip+limit, len(a.heads))], a.Err
}

func (a *StubAudit) Append(_ context.Context, e store.AuditEntry) (store.AuditRecord, error) {
	if a.Err != nil {
		return store.AuditRecord{}, a.Err
	}
	a.Add(e)
	return a.Records[len(a.Records)-1], nil
}

func (a *StubAudit) Add(e store.AuditEntry) {
	prev := audit.Begin()
	if n := len(a.Records); n > 0 {
		prev = a.Records[n-1].Hash
	}
	r, _, err := audit.Next(e, int64(len(a.Records)), prev)
	if err != nil {
		panic(err)
	}
	a.Records = append(a.Records, r)
}

func (a *StubAudit) end() audit.Point {
	r := a.Records[len(a.Records)-1]
	return audit.Point{Seq: r.Seq, Hash: r.Hash}
}

// CannedAudit has 120 sign-ins, of which every twelfth was refused, and a signed head.
func CannedAudit() *StubAudit {
	a := &StubAudit{}
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	for i := range 120 {
		e := store.AuditEntry{
			At:      Epoch.Add(time.Duration(i-120) * time.Minute),
			By:      "user:k3j2",
			Via:     "password",
			From:    "192.0.2.7",
			What:    "login.ok",
			Subject: "user:k3j2",
			Outcome: "ok",
		}
		if i%12 == 5 {
			e.By, e.Via, e.What, e.Outcome, e.Details = "", "", "login.refused", "refused", map[string]string{"reason": "password"}
		}
		a.Add(e)
	}
	h := audit.Sign(key, a.end(), Epoch.Add(-30*time.Second))
	a.heads = []store.AuditHead{h}
	a.Check = audit.State{
		End:   a.end(),
		At:    Epoch.Add(-20 * time.Second),
		Whole: Epoch.Add(-2 * time.Hour),
		Head:  &h,
		Key:   audit.Fingerprint(h.Key),
	}
	return a
}

// RefusalsOf are the records of refused requests.
func RefusalsOf(a *StubAudit) (out []store.AuditEntry) {
	for _, r := range a.Records {
		if r.What == guard.AuditAccessRefused {
			out = append(out, r.AuditEntry)
		}
	}
	return out
}
