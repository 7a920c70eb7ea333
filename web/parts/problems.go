package parts

import (
	"net/url"

	"shardboard/internal/answer"
	"shardboard/internal/rules"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// ProblemLinks lead to what a problem is about.
func ProblemLinks(v answer.View, p rules.Problem) (out []templates.Link) {
	link := func(key, address string) {
		out = append(out, templates.Link{Text: words.T(key), URL: address})
	}
	if c := v.Table.Collection(p.NS); c != nil && answer.Sharded(c) {
		if !p.Chunk.IsZero() && c.Key.Hiding() == nil {
			link("advice.to.chunk", answer.ChunkURL(p.NS, answer.ChunkRef(c, p.Chunk)))
		}
		link("advice.to.collection", answer.CollectionURL(p.NS))
	}
	if p.Document != "" {
		link("advice.to.document", "/locate?q="+url.QueryEscape(p.Document))
	}
	if p.Project != "" {
		link("advice.to.project", "/projects/"+url.PathEscape(p.Project))
	}
	if v.Table.Shard(p.Shard) != nil {
		link("advice.to.shard", answer.ShardURL(p.Shard))
	}
	switch p.Rule.Page() {
	case rules.PageZones:
		link("nav.zones", "/zones")
	case rules.PageLayout:
		link("nav.layout", "/layout")
	case rules.PageHeat:
		address := "/heat"
		if p.NS != "" {
			address += "?" + url.Values{"ns": {string(p.NS)}}.Encode()
		}
		link("nav.heat", address)
	case rules.PageFailedMigrations:
		link("nav.activity", "/activity?failed=1")
	case rules.PageRuns:
		link("nav.runs", "/runs")
	}
	return out
}
