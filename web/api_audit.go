package web

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
)

// AuditTrail is the audit record and what its keeper knows of it.
type AuditTrail interface {
	audit.Reader
	Append(ctx context.Context, e store.AuditEntry) (store.AuditRecord, error)
	AuditHeads(ctx context.Context, skip, limit int) ([]store.AuditHead, error)
	State() audit.State
	// AuditNames are the names of accounts, tokens and people who came by OIDC, by
	// principal id.
	AuditNames(ctx context.Context) (map[string]string, error)
}

func (s *Site) audit() (AuditTrail, error) {
	if s.deps.Audit == nil {
		return nil, fault.New(fault.Unavailable, "No audit record is kept here.")
	}
	return s.deps.Audit, nil
}

// apiAudit lists the record. A part can be shorter than limit and still have a
// next: one request reads so many records and no more.
func (s *Site) apiAudit(w http.ResponseWriter, r *http.Request) error {
	trail, err := s.audit()
	if err != nil {
		return err
	}
	q := r.URL.Query()
	f, err := auditFilterOf(q)
	if err != nil {
		return err
	}
	limit, err := limitOf(q)
	if err != nil {
		return err
	}
	from, err := cursorNumber(q)
	if err != nil {
		return err
	}
	search := audit.Newest
	switch order := q.Get("order"); order {
	case "", "newest":
	case "oldest":
		search = audit.Oldest
	default:
		return fault.New(fault.Invalid, "order is newest or oldest; %q is neither.", sanitize.Truncate(order, 40))
	}
	found, err := search(r.Context(), trail, f, from, limit)
	if err != nil {
		return err
	}
	out := api.List[api.AuditRecord]{AsOf: s.deps.Now()}
	for _, rec := range found.Records {
		out.Items = append(out.Items, AuditRecord(rec))
	}
	if found.More {
		out.Next = cursorOf(strconv.FormatInt(found.Next, 10))
	}
	return writeJSON(w, http.StatusOK, out)
}

func (s *Site) apiAuditHeads(w http.ResponseWriter, r *http.Request) error {
	trail, err := s.audit()
	if err != nil {
		return err
	}
	q := r.URL.Query()
	limit, err := limitOf(q)
	if err != nil {
		return err
	}
	skip, err := cursorNumber(q)
	if err != nil {
		return err
	}
	heads, err := trail.AuditHeads(r.Context(), int(skip), limit+1)
	if err != nil {
		return err
	}
	out := api.List[api.AuditHead]{AsOf: s.deps.Now()}
	for _, h := range heads[:min(limit, len(heads))] {
		out.Items = append(out.Items, AuditHead(h))
	}
	if len(heads) > limit {
		out.Next = cursorOf(strconv.FormatInt(skip+int64(limit), 10))
	}
	return writeJSON(w, http.StatusOK, out)
}

func (s *Site) apiAuditState(w http.ResponseWriter, _ *http.Request) error {
	trail, err := s.audit()
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, auditState(trail.State()))
}

func auditState(st audit.State) api.AuditState {
	var out api.AuditState
	if st.Head != nil {
		h := AuditHead(*st.Head)
		out.Head = &h
	}
	if !st.At.IsZero() {
		out.Verified = &api.AuditVerified{Seq: st.End.Seq, At: st.At.UTC().Truncate(time.Millisecond), Whole: api.Time(st.Whole)}
	}
	if t := st.Trouble(); t != nil {
		out.Problem = &api.AuditProblem{Code: t.Code, Text: t.Text}
		if t.Seq != 0 {
			out.Problem.Seq = &t.Seq
		}
	}
	if st.Key != "" {
		out.Key = &st.Key
	}
	if st.Other != "" {
		out.OtherKey = &st.Other
	}
	return out
}

// AuditRecord is a record on the wire; everything that its hash covers is
// there, so that whoever reads it can verify the chain.
func AuditRecord(r store.AuditRecord) api.AuditRecord {
	return api.AuditRecord{Seq: r.Seq, At: r.At.UTC(), By: r.By, Via: r.Via, From: r.From, What: r.What, Subject: r.Subject,
		Outcome: r.Outcome, Cluster: r.Cluster, Details: r.Details, Prev: hex.EncodeToString(r.Prev), Hash: hex.EncodeToString(r.Hash)}
}

// AuditHead is a signed head on the wire.
func AuditHead(h store.AuditHead) api.AuditHead {
	return api.AuditHead{Seq: h.Seq, Hash: hex.EncodeToString(h.Hash), At: h.At.UTC(), Fingerprint: audit.Fingerprint(h.Key),
		Key: base64.StdEncoding.EncodeToString(h.Key), Signature: base64.StdEncoding.EncodeToString(h.Signature)}
}

// cursorNumber is a cursor that holds a place; 0 when there is none.
func cursorNumber(q url.Values) (int64, error) {
	key, given, err := cursorKey(q)
	if err != nil || !given {
		return 0, err
	}
	n, err := strconv.ParseInt(key, 10, 64)
	if err != nil || n < 1 || n > 1<<53 {
		return 0, fault.New(fault.Invalid, "This cursor was not given out by this list: %q.", sanitize.Truncate(q.Get("cursor"), 80))
	}
	return n, nil
}

func auditFilterOf(q url.Values) (f audit.Filter, err error) {
	f = audit.Filter{By: q.Get("by"), What: q.Get("what"), Subject: q.Get("subject")}
	if f.From, err = pointInTime(q, "from"); err != nil {
		return f, err
	}
	f.To, err = pointInTime(q, "to")
	return f, err
}

// pointInTime reads a time as scripts write it, or as a date field sends it.
func pointInTime(q url.Values, name string) (time.Time, error) {
	text := q.Get(name)
	if text == "" {
		return time.Time{}, nil
	}
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly} {
		if t, err := time.Parse(form, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fault.New(fault.Invalid, "%s is a time like 2026-03-01T12:00:00Z or a date like 2026-03-01; %q is neither.", name, sanitize.Truncate(text, 40))
}
