package lab

import (
	"net/http"
	"net/url"
	"strconv"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/web/site"
)

// idsView is the placement of ids with the form of its inputs.
type idsView struct {
	api.LabIDs
	typed   map[string]string
	problem string
}

func idsOf(_ *site.Site, r *http.Request) (api.LabIDs, error) { return answer.LabIDs(r.URL.Query()) }

// IDsPage shows where ids of different forms go.
func IDsPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	sh := s.Shell(r, s.ViewFor(r), "lab", "Where ids go")
	in, status := r.URL.Query(), http.StatusOK
	a, err := answer.LabIDs(in)
	v := idsView{LabIDs: a, typed: map[string]string{}}
	switch {
	case err == nil:
		in = url.Values{"shards": {strconv.Itoa(a.Inputs.Shards)}, "machines": {strconv.Itoa(a.Inputs.Machines)},
			"hours": {strconv.Itoa(a.Inputs.Hours)}, "each": {strconv.Itoa(a.Inputs.Each)}, "seed": {strconv.FormatUint(a.Inputs.Seed, 10)}}
	case fault.Of(err) == fault.Invalid:
		v.problem, status, sh.CSV = s.ProblemText(w, err), http.StatusBadRequest, ""
	default:
		return err
	}
	for _, name := range []string{"shards", "machines", "hours", "each", "seed"} {
		v.typed[name] = site.Typed(in.Get(name), 40)
	}
	return site.WritePage(w, r, status, idsPage(sh, v))
}

// formNames are the forms of ids in words.
var formNames = map[string]string{"objectId": "ObjectID", "uuid7": "UUID version 7", "uuid4": "UUID version 4",
	"localityDefault": "Locality UUID, default mode", "localitySequential": "Locality UUID, sequential mode"}
