// Package auditing answers what the audit record says, who may see it, whether its chain is whole, and which accounts
// there are.
package auditing

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/api"
	"shardboard/internal/message"
	"shardboard/internal/sanitize"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
)

// AuditTrail is the audit record and what its keeper knows of it.
type AuditTrail interface {
	audit.Reader
	// Append stores an entry and returns its record.
	Append(ctx context.Context, e store.AuditEntry) (store.AuditRecord, error)
	// AuditHeads are at most limit heads in the order of signing, after the first skip.
	AuditHeads(ctx context.Context, skip, limit int) ([]store.AuditHead, error)
	// State is the newest state of the record.
	State() audit.State
	// AuditNames are the present names of accounts, tokens and people who came by OIDC,
	// by principal id.
	AuditNames(ctx context.Context) (map[string]string, error)
	// BoundTokens are the clusters of tokens that are bound to some, by the token's principal id.
	BoundTokens(ctx context.Context) (map[string][]string, error)
}

// Audit is who did what, newest first, and what is known of the chain of records.
func Audit(ctx context.Context, trail AuditTrail, q AuditQuery, scope AuditScope) (api.Audit, error) {
	trail = scopedTrail{trail, scope.Withheld}
	found, err := audit.Newest(ctx, trail, q.Filter, q.Below, answer.PageRows)
	if err != nil {
		return api.Audit{}, err
	}
	names, err := trail.AuditNames(ctx)
	if err != nil {
		return api.Audit{}, err
	}
	for id, hidden := range scope.Hidden {
		if hidden {
			delete(names, id)
		}
	}
	out := auditChain(trail.State())
	for _, r := range found.Records {
		out.Records = append(out.Records, auditRecordShown(r, names, scope))
	}
	if found.More {
		out.Older = found.Next
		if len(found.Records) < answer.PageRows {
			out.Partial = message.New("audit.partial", "Searched down to record {seq}. “Older” continues from there.",
				message.Count("seq", found.Next))
		}
	}
	switch {
	case len(out.Records) > 0:
	case q.Filtered() || q.Below > 0:
		out.State = api.State{Code: "empty", Title: "No record matches the filter", Detail: out.Partial.String()}
		out.Partial = message.Message{}
	default:
		out.State = api.State{Code: "empty", Title: "Nothing is recorded yet",
			Detail: "Sign-ins, refusals, changes of users and tokens, plans and runs appear here."}
	}
	return out, nil
}

// AuditRecords is the record for scripts. A part can be shorter than its limit and
// still have a next: one request reads so many records and no more.
func AuditRecords(ctx context.Context, trail AuditTrail, q AuditListQuery, scope AuditScope,
	now time.Time) (api.List[api.AuditRecord], error) {
	out := api.List[api.AuditRecord]{AsOf: now}
	search := audit.Newest
	if q.order == "oldest" {
		search = audit.Oldest
	}
	found, err := search(ctx, scopedTrail{trail, scope.Withheld}, q.filter, q.from, q.limit)
	if err != nil {
		return out, err
	}
	for _, r := range found.Records {
		out.Items = append(out.Items, AuditRecord(r))
	}
	if found.More {
		out.Next = answer.CursorOf(strconv.FormatInt(found.Next, 10))
	}
	return out, nil
}

// AuditHeads are all signed heads, oldest first.
func AuditHeads(ctx context.Context, trail AuditTrail, q AuditHeadsQuery, now time.Time) (api.List[api.AuditHead], error) {
	out := api.List[api.AuditHead]{AsOf: now}
	heads, err := trail.AuditHeads(ctx, int(q.skip), q.limit+1)
	if err != nil {
		return out, err
	}
	for _, h := range heads[:min(q.limit, len(heads))] {
		out.Items = append(out.Items, AuditHead(h))
	}
	if len(heads) > q.limit {
		out.Next = answer.CursorOf(strconv.FormatInt(q.skip+int64(q.limit), 10))
	}
	return out, nil
}

// AuditRecord has everything that a record's hash covers, so that whoever reads it
// can verify the chain.
func AuditRecord(r store.AuditRecord) api.AuditRecord {
	return api.AuditRecord{Seq: r.Seq, At: r.At.UTC(), By: r.By, Via: r.Via, From: r.From, What: r.What, Subject: r.Subject,
		Outcome: r.Outcome, Cluster: r.Cluster, Details: r.Details, Prev: hex.EncodeToString(r.Prev), Hash: hex.EncodeToString(r.Hash)}
}

// AuditHead is a signed head with its key and signature.
func AuditHead(h store.AuditHead) api.AuditHead {
	return api.AuditHead{Seq: h.Seq, Hash: hex.EncodeToString(h.Hash), At: h.At.UTC(), Fingerprint: audit.Fingerprint(h.Key),
		Key: base64.StdEncoding.EncodeToString(h.Key), Signature: base64.StdEncoding.EncodeToString(h.Signature)}
}

// auditRecordShown adds words and present names to a record. The record itself keeps
// ids, which are never given to somebody else.
func auditRecordShown(r store.AuditRecord, names map[string]string, scope AuditScope) api.AuditRecord {
	out := AuditRecord(r)
	title, base, hasPages := scope.Cluster(r.Cluster)
	link := func(local string) string {
		if local == "" || !hasPages {
			return ""
		}
		return base + local
	}
	out.SubjectURL = link(auditSubjectURL(r.AuditEntry))
	if title != "" {
		out.ClusterTitle, out.ClusterURL = title, link("/")
	}
	out.WhatText = cmp.Or(auditWhat[r.What], r.What)
	switch r.Outcome {
	case "ok":
	case "unknown":
		out.OutcomeText = "outcome unknown"
	default:
		out.OutcomeText = r.Outcome
	}
	name := func(id string) string { return sanitize.Truncate(sanitize.Sentence(names[id]), 80) }
	if out.ByName = name(r.By); out.ByName != "" {
		out.ByIssuerID = issuerID(r.By, names[r.By])
	}
	if r.Subject != r.By {
		out.SubjectName = name(r.Subject)
	}
	for _, detail := range slices.Sorted(maps.Keys(r.Details)) {
		text := r.Details[detail]
		if detail == "examples" {
			text = NamedExamples(text, names)
		}
		to := link(auditDetailURL(detail, text))
		label, text := AuditDetailText(detail, text)
		whole := sanitize.Shorten(text, logbook.ServerTextWhole)
		d := api.AuditDetail{Name: sanitize.Truncate(label, 40), Text: sanitize.Shorten(whole, answer.TextShown), URL: to}
		if d.Text != whole {
			d.Whole = whole
		}
		out.DetailTexts = append(out.DetailTexts, d)
	}
	return out
}

// NamedExamples shows the accounts that strangers tried by their names: the
// counter writes an address and an id, or one of them.
func NamedExamples(text string, names map[string]string) string {
	examples := strings.Split(text, ", ")
	for i, example := range examples {
		parts := strings.Split(example, " ")
		if last := len(parts) - 1; names[parts[last]] != "" {
			parts[last] = names[parts[last]]
			examples[i] = strings.Join(parts, " ")
		}
	}
	return strings.Join(examples, ", ")
}
