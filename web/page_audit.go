package web

import (
	"net/http"

	"shardboard/internal/store/audit"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// pageAudit is who did what, newest first.
func (s *Site) pageAudit(w http.ResponseWriter, r *http.Request) error {
	trail, err := s.audit()
	if err != nil {
		return err
	}
	q, err := auditQueryOf(r.URL.Query())
	if err != nil {
		return err
	}
	found, err := audit.Newest(r.Context(), trail, q.Filter, q.Below, pageRows)
	if err != nil {
		return err
	}
	names, err := trail.AuditNames(r.Context())
	if err != nil {
		return err
	}
	v := s.viewFor(r)
	m := auditView(q, found, names, trail.State(), v.Now)
	return writePage(w, r, http.StatusOK, templates.AuditPage(s.shell(r, v, "audit", words.T("nav.audit")), m))
}
