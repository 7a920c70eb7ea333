package webtest

import (
	"net/http"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// Scene is one page in one state, with the state in its name.
type Scene struct {
	Name, Path string
	View       answer.View
	Found      []placement.Item
	Change     func(*site.Deps)      // of the site; nil for none
	Ask        []func(*http.Request) // of the request
}

// ChunkPath is the address of the page of the i-th chunk.
func ChunkPath(v answer.View, ns topology.Namespace, i int) string {
	c := v.Table.Collection(ns)
	return answer.ChunkURL(ns, answer.ChunkRef(c, c.Chunks.At(i).Min))
}

// FoundDocument is the answer of a locator: a Yorkie document with a place in every collection.
func FoundDocument(v answer.View) []placement.Item {
	project := v.Dir.All()[1]
	doc := Must(bson.ObjectIDFromHex("6920b0c1d2e3f40516273849"))
	it := placement.Item{Kind: "document", ID: doc.Hex(), Name: "handbook", DB: project.DB, Project: &project}
	for _, c := range v.Table.Collections {
		p := placement.Place{NS: c.NS, Sharded: true, Exact: true, Pattern: c.Key, Exists: "would-be"}
		i := 2 % c.Chunks.Len()
		ch := c.Chunks.At(i)
		p.Shards, p.Min, p.Max, p.Key, p.Version, p.Since = []string{ch.Shard}, ch.Min, ch.Max, ch.Min, ch.Version, ch.Since
		if c.Key.Hashed() == 0 {
			h := int64(-3048436677993134862)
			p.Hash = &h
		}
		if c.NS.Collection() == "documents" {
			p.Exists = "yes"
		}
		if c.NS.Collection() != "clients" && c.NS.Collection() != "schemas" {
			it.Places = append(it.Places, p)
		}
	}
	it.Places = append(
		it.Places,
		placement.Place{NS: "yorkie-meta.snapshot_bodies", Exact: true, Shards: []string{"shard-rs-1"}, Exists: "unknown"},
	)
	return []placement.Item{it}
}

// Open returns the HTML of the page.
func (sc Scene) Open(t testing.TB) string {
	return sc.Serve(t).Do("GET", sc.Path, sc.Ask...).Body.String()
}

// Serve is a site that shows the scene's cluster.
func (sc Scene) Serve(t testing.TB) *Server {
	s := New(t, func(d *site.Deps) {
		d.Demo, d.Cluster.Target, d.Now = true, "mongodb://127.0.0.1:27117", func() time.Time { return sc.View.Now }
		if sc.Change != nil {
			sc.Change(d)
		}
	})
	s.Watcher.Value, s.Keeper.Value = sc.View.Table, sc.View.Dir
	if sc.Found != nil {
		s.Locator.Answer = func(placement.Query) ([]placement.Item, error) { return sc.Found, nil }
	}
	return s
}

// LargestPage is the largest size of a page in bytes.
const LargestPage = 68 << 10
