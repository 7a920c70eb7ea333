package webtest

import (
	"strings"

	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
)

// WithLocatable has the locator find one document.
func WithLocatable(s *Server) {
	c := s.Watcher.Get().Collection("yorkie-meta.documents")
	s.Locator.Answer = func(q placement.Query) ([]placement.Item, error) {
		if strings.HasPrefix(q.Text, "bad") {
			return nil, fault.New(fault.NotFound, "Nothing is called %q (searched here).", q.Text)
		}
		hash := int64(-4611686018427387905)
		ch := c.Chunks.At(5)
		p := placement.Project{ID: ProjectID(5), Name: HostileName, DB: "yorkie-meta"}
		return []placement.Item{
			{Kind: "document", ID: ProjectID(1).Hex(), Name: q.Text, DB: "yorkie-meta", Project: &p, Places: []placement.Place{
				{
					NS:      c.NS,
					Sharded: true,
					Shards:  []string{"shard-rs-2"},
					Exact:   true,
					Pattern: c.Key,
					Key:     ch.Min,
					Min:     ch.Min,
					Max:     ch.Max,
					Hash:    &hash,
					Exists:  "yes",
					Chunks:  1,
				},
				{NS: "yorkie-meta.changes", Sharded: true, Shards: []string{"shard-rs-1", "shard-rs-2"}, Exists: "would-be", Key: shardkey.Key{}},
				{NS: "yorkie-meta.revisions", Exists: "absent"},
			}},
		}, nil
	}
}
