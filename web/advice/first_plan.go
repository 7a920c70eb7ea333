package advice

import (
	"net/http"

	"shardboard/internal/answer/problems"
	"shardboard/internal/auth"
	"shardboard/web/site"
)

// FirstPlan leads to the filled-in form of the plan that helps with a problem; to the problem where
// there is none or this person may not make plans; and to the list where the problem is over. Live
// regions link to it, because they are the same for everybody.
func FirstPlan(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	id, err := site.PathText(r, "id")
	if err != nil {
		return err
	}
	v := s.ViewFor(r)
	to := "/advice"
	if problems.ProblemOpen(problems.Problems(v), id) {
		to = "/advice#" + id
		if url := problems.FirstPlan(v, id, problems.AdviceMay{Plan: s.MayPlan(auth.From(r.Context())), Try: s.Tries(v)}); url != "" {
			to = url
		}
	}
	w.Header().Set("Location", to)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusSeeOther)
	return nil
}
