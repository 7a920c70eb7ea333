package lab

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/answer/trying"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/web/site"
)

// ofKeys are what a comparison of shard keys follows from.
var ofKeys = site.Described((&trying.LabKeysQuery{LabKeysInputs: trying.DefaultLabKeys(answer.View{}, "")}).Parameters())

// keysRoutes are those of the comparisons of shard keys and of ids.
var keysRoutes = site.Table(
	site.Question[api.LabKeys]{
		Route: site.Route{Pattern: "/lab/keys", Summary: "Which shard key suits the data?", Params: ofKeys},
		Page:  KeysPage, Ask: keysOf, For: "Shard keys compared over rows of a collection, or of a model of one",
	},
	site.Question[api.LabIDs]{
		Route: site.Route{Pattern: "/lab/ids", Summary: "On which shards do new rows land, by kind of id?",
			Params: site.Takes[trying.LabIDsQuery]()},
		Page: IDsPage, Ask: idsOf, For: "Where the same inserts land with each kind of id",
	},
)

// keysOf is the comparison that a request asks for.
func keysOf(s *site.Site, r *http.Request) (a api.LabKeys, err error) {
	q, err := trying.ParseLabKeys(r.URL.Query(), s.ViewFor(r))
	if err != nil {
		return a, err
	}
	return keysAnswer(s, r, q)
}

// keysAnswer computes a comparison. Reading rows costs the cluster, so operators may let them be read.
func keysAnswer(s *site.Site, r *http.Request, q trying.LabKeysQuery) (a api.LabKeys, err error) {
	if q.NS != "" && !auth.From(r.Context()).May(auth.Operator) {
		return a, fault.New(fault.Forbidden, "Reading rows of a collection needs the role operator. A model can be compared without it.")
	}
	return trying.LabKeys(r.Context(), s.ViewFor(r).Computable(), q, s.Deps.Measured.Rows)
}
