package audit

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/web/site"
)

// JSON is the record for scripts.
func JSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	trail, err := trailOf(s)
	if err != nil {
		return err
	}
	out, err := answer.AuditRecords(r.Context(), trail, r.URL.Query(), s.Deps.Now())
	if err != nil {
		return err
	}
	return site.WriteJSON(w, http.StatusOK, out)
}

// HeadsJSON is all signed heads.
func HeadsJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	trail, err := trailOf(s)
	if err != nil {
		return err
	}
	out, err := answer.AuditHeads(r.Context(), trail, r.URL.Query(), s.Deps.Now())
	if err != nil {
		return err
	}
	return site.WriteJSON(w, http.StatusOK, out)
}

// StateJSON is the newest signed head and what is known of the chain.
func StateJSON(s *site.Site, w http.ResponseWriter, _ *http.Request) error {
	trail, err := trailOf(s)
	if err != nil {
		return err
	}
	return site.WriteJSON(w, http.StatusOK, answer.AuditState(trail.State()))
}
