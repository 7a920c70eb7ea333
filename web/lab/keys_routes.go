package lab

import (
	"net/http"

	"shardboard/internal/answer/trying"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/web/site"
)

// ofKeys are what a comparison of shard keys follows from.
var ofKeys = []site.Param{
	site.Query("ns", "a collection whose rows are read, as database.collection; for operators. Absent: a model"),
	site.Number("rows", "rows that are looked at, at most: 100 to 50000 of a collection (default 2000), to 100000 of a model (default 20000)"),
	site.Query("collection", "of the model: documents (default), clients or changes"),
	site.Number("projects", "of the model: how many, from 1 to 1000000; default 200"),
	site.Number("perProject", "of the model: documents, or clients, of a project on average; default 1000"),
	site.Number("perDocument", "of the model of changes: changes of a document on average; default 100"),
	site.Query("skew", "of the model: how much larger the largest are, from 0 (all alike) to 3; default 1"),
	site.Query("growth", "of the model: how many times as many rows a day at the end as at the beginning, to 1000; default 1"),
	site.Number("days", "of the model: from the first row to the last, to 3650; default 90"),
	site.Number("rowBytes", "of the model: size of a row; default 400, 700 or 900"),
	site.Query("seed", "of all that is by chance; default 1"),
	site.Number("shards", "from 1 to 1024; default those of the cluster"),
	site.Number("chunkMB", "chunk size, from 1 to 1024; default that of the cluster"),
	site.Number("rateMB", "what resharding copies in a second, to 10000; default 20"),
	site.Query("release", "of MongoDB; default that of the cluster"),
	site.Query("today", `shard key of today as JSON, or none; default that of the collection`),
	site.Query("keys", `keys to add as JSON, such as {"project_id":1,"key":1}; at most 8`),
}

// keysRoutes are those of the comparisons of shard keys and of ids.
var keysRoutes = site.Table(
	site.Question[api.LabKeys]{
		Route: site.Route{Pattern: "/lab/keys", Summary: "Which shard key suits the data?", Params: ofKeys},
		Page:  KeysPage, Ask: keysOf, For: "Shard keys compared over rows of a collection, or of a model of one",
	},
	site.Question[api.LabIDs]{
		Route: site.Route{Pattern: "/lab/ids", Summary: "On which shards do new rows land, by kind of id?", Params: ofIDs},
		Page:  IDsPage, Ask: idsOf, For: "Where the same inserts land with each kind of id",
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
