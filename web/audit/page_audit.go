package audit

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/store/audit"
	"shardboard/web/site"
)

// pageAudit is who did what, newest first.
func PageAudit(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	trail, err := auditAnswer(s)
	if err != nil {
		return err
	}
	q, err := answer.AuditQueryOf(r.URL.Query())
	if err != nil {
		return err
	}
	found, err := audit.Newest(r.Context(), trail, q.Filter, q.Below, answer.PageRows)
	if err != nil {
		return err
	}
	names, err := trail.AuditNames(r.Context())
	if err != nil {
		return err
	}
	v := s.ViewFor(r)
	m := auditView(q, found, names, trail.State(), v.Now)
	return site.WritePage(w, r, http.StatusOK, AuditPage(s.Shell(r, v, "audit", "Audit"), m))
}
