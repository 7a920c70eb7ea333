package audit

import (
	"net/http"
	"strconv"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/internal/store/audit"
	"shardboard/web/site"
)

func auditAnswer(s *site.Site) (answer.AuditTrail, error) {
	if s.Deps.Audit == nil {
		return nil, fault.New(fault.Unavailable, "No audit record is kept here.")
	}
	return s.Deps.Audit, nil
}

// apiAudit lists the record. A part can be shorter than limit and still have a
// next: one request reads so many records and no more.
func ApiAudit(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	trail, err := auditAnswer(s)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	f, err := answer.AuditFilterOf(q)
	if err != nil {
		return err
	}
	limit, err := answer.LimitOf(q)
	if err != nil {
		return err
	}
	from, err := answer.CursorNumber(q)
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
	out := api.List[api.AuditRecord]{AsOf: s.Deps.Now()}
	for _, rec := range found.Records {
		out.Items = append(out.Items, answer.AuditRecord(rec))
	}
	if found.More {
		out.Next = answer.CursorOf(strconv.FormatInt(found.Next, 10))
	}
	return site.WriteJSON(w, http.StatusOK, out)
}

func ApiAuditHeads(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	trail, err := auditAnswer(s)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	limit, err := answer.LimitOf(q)
	if err != nil {
		return err
	}
	skip, err := answer.CursorNumber(q)
	if err != nil {
		return err
	}
	heads, err := trail.AuditHeads(r.Context(), int(skip), limit+1)
	if err != nil {
		return err
	}
	out := api.List[api.AuditHead]{AsOf: s.Deps.Now()}
	for _, h := range heads[:min(limit, len(heads))] {
		out.Items = append(out.Items, answer.AuditHead(h))
	}
	if len(heads) > limit {
		out.Next = answer.CursorOf(strconv.FormatInt(skip+int64(limit), 10))
	}
	return site.WriteJSON(w, http.StatusOK, out)
}

func ApiAuditState(s *site.Site, w http.ResponseWriter, _ *http.Request) error {
	trail, err := auditAnswer(s)
	if err != nil {
		return err
	}
	return site.WriteJSON(w, http.StatusOK, answer.AuditState(trail.State()))
}
