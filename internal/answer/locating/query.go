package locating

import (
	"net/url"

	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// ParseLocateQuery reads q=, ns=, key=, near= and in=. Texts are not trimmed: a key may begin with a space.
func ParseLocateQuery(q url.Values) (placement.Query, error) {
	out := placement.Query{Text: q.Get("q"), NS: topology.Namespace(q.Get("ns")), Key: q.Get("key"), In: placement.In(q.Get("in"))}
	if !q.Has("near") {
		return out, nil
	}
	err := param.List{param.Flag(&out.Near, "near", "")}.Read(q)
	return out, err
}

// NearNames are the projects with near names on the wire; nil if none were looked for.
func NearNames(n *placement.Near) *api.NearNames {
	if n == nil {
		return nil
	}
	out := &api.NearNames{Typed: n.Typed, How: string(n.How), More: n.More}
	for _, p := range n.Projects {
		out.Projects = append(out.Projects, api.NearProject{ID: p.ID.Hex(), Name: p.Name, DB: p.DB, IDText: p.IDText()})
	}
	return out
}

func widerOf(w placement.WiderSearch) api.WiderSearch {
	return api.WiderSearch{
		In: string(w.In), Queries: w.Queries, Shards: w.Shards, Projects: w.Projects, Collections: w.Collections, Seconds: w.Time.Seconds(),
		Offer: widerText(w),
	}
}

// widerText says what a search costs before anybody starts it.
func widerText(w placement.WiderSearch) message.Message {
	what, of := "Search this key in all {n} "+message.Plural(w.Projects, "project", "projects"), w.Projects
	if w.In == placement.InCollections {
		what, of = "Look for this _id in all {n} sharded "+message.Plural(w.Collections, "collection", "collections"), w.Collections
	}
	return message.New("locate.wider."+string(w.In), what+" (up to {queries} "+message.Plural(w.Queries, "query", "queries")+" to {shards} "+
		message.Plural(w.Shards, "shard", "shards")+", at most {time})",
		message.Count("n", of), message.Count("queries", w.Queries), message.Count("shards", w.Shards), message.Duration("time", w.Time))
}
