package lab

import (
	"net/http"

	"shardboard/internal/answer/param"
	"shardboard/internal/answer/trying"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/web/site"
)

func idsOf(_ *site.Site, r *http.Request) (a api.LabIDs, err error) {
	q, err := param.Read[trying.LabIDsQuery](r.URL.Query())
	if err != nil {
		return a, err
	}
	return trying.LabIDs(q)
}

// IDsPage shows on which shards the same inserts land with each kind of id.
func IDsPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	sh := s.Shell(r, s.ViewFor(r), "lab-ids", "Where ids land")
	takes := site.Takes[trying.LabIDsQuery]()
	q, err := param.Read[trying.LabIDsQuery](r.URL.Query())
	if err != nil {
		if fault.Of(err) != fault.Invalid {
			return err
		}
		sh.CSV = ""
		return site.WritePage(w, r, http.StatusBadRequest, idsPage(sh, formOf(r.URL.Query(), takes, s.ProblemText(w, err)), nil))
	}
	a, err := trying.LabIDs(q)
	if err != nil {
		return err
	}
	return site.WritePage(w, r, http.StatusOK, idsPage(sh, formOf(q.Values(), takes, ""), &a))
}
