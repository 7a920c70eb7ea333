package lab

import (
	"net/http"
	"net/url"

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
	f := keysForm{typed: map[string]string{}}
	fill := func(in url.Values) {
		for _, p := range site.Takes[trying.LabIDsQuery]() {
			f.typed[p.Name] = site.Typed(in.Get(p.Name), param.MostText)
		}
	}
	q, err := param.Read[trying.LabIDsQuery](r.URL.Query())
	if err != nil {
		if fault.Of(err) != fault.Invalid {
			return err
		}
		sh.CSV = ""
		fill(r.URL.Query())
		f.problem = s.ProblemText(w, err)
		return site.WritePage(w, r, http.StatusBadRequest, idsPage(sh, f, nil))
	}
	a, err := trying.LabIDs(q)
	if err != nil {
		return err
	}
	fill(q.Values())
	return site.WritePage(w, r, http.StatusOK, idsPage(sh, f, &a))
}
