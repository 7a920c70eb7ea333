package auditing

import (
	"context"
	"net/url"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
	"shardboard/internal/topology"
)

// AuditScope is what one reader may read of the record, and where its entries lead. Its functions are
// never nil.
type AuditScope struct {
	// Withheld tells whether an entry is about a cluster that its reader may not read of.
	Withheld func(store.AuditEntry) bool
	// Cluster is the cluster with an id: what people call it, "" on a server of one, and the base of its
	// pages. ok is false if it has no pages here for this reader.
	Cluster func(id string) (title, base string, ok bool)
	// Hidden are tokens, by principal id, whose names are not shown: they are bound to a cluster that the reader
	// may not see.
	Hidden map[string]bool
}

// scopedTrail shows a part of the record to somebody. What they may not read keeps its number, time and
// hashes, so that the gap is seen; it matches no filter of what was done, by whom or about what.
type scopedTrail struct {
	AuditTrail
	withheld func(store.AuditEntry) bool
}

func (t scopedTrail) AuditRecords(ctx context.Context, after int64, limit int) ([]store.AuditRecord, error) {
	rows, err := t.AuditTrail.AuditRecords(ctx, after, limit)
	return t.scoped(rows), err
}

func (t scopedTrail) AuditBefore(ctx context.Context, before int64, limit int) ([]store.AuditRecord, error) {
	rows, err := t.AuditTrail.AuditBefore(ctx, before, limit)
	return t.scoped(rows), err
}

func (t scopedTrail) scoped(rows []store.AuditRecord) []store.AuditRecord {
	out := make([]store.AuditRecord, len(rows))
	for i, r := range rows {
		if t.withheld(r.AuditEntry) {
			r.AuditEntry = store.AuditEntry{At: r.At, What: audit.Withheld}
		}
		out[i] = r
	}
	return out
}

// auditSubjectURL is the page within a cluster that an entry is about; "" if there is none.
func auditSubjectURL(e store.AuditEntry) string {
	switch kind, _, _ := strings.Cut(e.What, "."); {
	case kind == "survey" && e.Subject != "":
		return "/surveys/" + url.PathEscape(e.Subject)
	case !store.IsPlanOrRunID(e.Subject):
	case kind == "plan" && (e.Details["undoOf"] == e.Subject || e.Details["finishOf"] == e.Subject):
		return "/runs/" + e.Subject // a plan that was refused has no id yet
	case kind == "plan", e.What == "run.refused":
		return "/plans/" + e.Subject
	case kind == "run":
		return "/runs/" + e.Subject
	}
	return ""
}

// auditDetailURL is the page within a cluster that a detail names; "" if there is none.
func auditDetailURL(name, value string) string {
	switch {
	case name == "ns" && value != "":
		return answer.CollectionURL(topology.Namespace(value))
	case !store.IsPlanOrRunID(value):
	case name == "plan":
		return "/plans/" + value
	case name == "undoOf", name == "finishOf", name == "run":
		return "/runs/" + value
	}
	return ""
}
