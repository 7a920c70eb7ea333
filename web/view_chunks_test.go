package web

import (
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"shardboard/internal/answer"
	"shardboard/internal/topology"
	"shardboard/web/collections"
	"shardboard/web/parts"
	"shardboard/web/templates"
)

func TestStripCoversTheKeySpaceOnce(t *testing.T) {
	v := newStory().View()
	for _, c := range v.Table.Collections {
		s, lanes := parts.StripView(c, parts.RefsOf(v.Table), parts.ShardRefs(v.Table))
		at := 0.0
		for _, r := range s.Rects {
			x, w := percent(t, r.X), percent(t, r.W)
			if math.Abs(x-at) > 0.02 {
				t.Errorf("%s: a gap at %.2f %%", c.NS, at)
			}
			at = x + w
		}
		if math.Abs(at-100) > 0.05 {
			t.Errorf("%s: ends at %.2f %%", c.NS, at)
		}
		if len(lanes) != len(c.Chunks.CountByShard()) {
			t.Errorf("%s: %d lanes", c.NS, len(lanes))
		}
	}
}

func percent(t *testing.T, s string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestDenseStripStacksEveryShardsPart(t *testing.T) {
	s := newStory()
	s.chunks = 3000
	v := s.View()
	c := v.Table.Collection("yorkie-meta.changes")
	strip, lanes := parts.StripView(c, parts.RefsOf(v.Table), parts.ShardRefs(v.Table))
	if len(strip.Rects) > 0 || len(strip.Paths) != 3 || len(lanes) != 3 {
		t.Fatalf("%d rects, %d paths, %d lanes", len(strip.Rects), len(strip.Paths), len(lanes))
	}
	if strip.Box != "0 0 200 100" {
		t.Errorf("box %q", strip.Box)
	}
}

func TestKeyPositionTakesIdsNumbersAndDocuments(t *testing.T) {
	v := newStory().View()
	changes, docs := v.Table.Collection("yorkie-meta.changes"), v.Table.Collection("yorkie-meta.documents")
	id := v.Dir.All()[7].ID
	for _, c := range []struct {
		coll *topology.Collection
		text string
		ok   bool
	}{
		{changes, id.Hex(), true}, {changes, "-3048436677993134862", true}, {changes, `{"doc_id": {"$oid": "` + id.Hex() + `"}}`, true},
		{changes, `{"doc_id": {"$numberLong": "5"}}`, true}, {changes, "nonsense", false}, {changes, `{"other": 1}`, false}, {changes, "{", false},
		{docs, id.Hex(), true}, {docs, `{"project_id": {"$oid": "` + id.Hex() + `"}}`, true}, {docs, "12", true},
	} {
		r, ok := answer.KeyPosition(c.coll.Key, c.text)
		if ok != c.ok {
			t.Errorf("%s %q: ok %v", c.coll.NS, c.text, ok)
		}
		if !ok {
			continue
		}
		if from, to := c.coll.Chunks.Overlap(r); to-from != 1 {
			t.Errorf("%s %q meets %d chunks", c.coll.NS, c.text, to-from)
		}
	}
}

func TestChunkFiltersNarrowTheTable(t *testing.T) {
	v := newStory().with(troubled).View()
	open := func(query string) collections.Collection {
		in, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		q, err := answer.ChunkQueryOf(in)
		if err != nil {
			t.Fatal(err)
		}
		m, err := collections.CollectionView(v, "yorkie-meta.documents", q)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	all := open("")
	if len(all.Chunks) != 15 || all.Pager.Of != 15 {
		t.Fatalf("%d chunks", len(all.Chunks))
	}
	for _, c := range open("shard=shard-rs-2").Chunks {
		if c.Shard.Name != "shard-rs-2" {
			t.Errorf("chunk %d is on %s", c.N, c.Shard.Name)
		}
	}
	if got := open("jumbo=1"); len(got.Chunks) != 2 || !got.Chunks[0].Jumbo {
		t.Errorf("%d jumbo chunks", len(got.Chunks))
	}
	if got := open("zone=eu"); len(got.Chunks) != 4 {
		t.Errorf("%d chunks in eu", len(got.Chunks))
	}
	if got := open("q=" + all.Chunks[4].Min.Full); len(got.Chunks) != 2 {
		t.Errorf("%d chunks have that bound, want the two that meet there", len(got.Chunks))
	}
	if got := open("key=" + all.Chunks[4].Min.Full); len(got.Chunks) != 1 || got.Chunks[0].N != 5 {
		t.Errorf("%+v holds the key", got.Chunks)
	}
	if got := open("key=rubbish"); got.Filter.Problem == "" || len(got.Chunks) != 0 {
		t.Error("a key that is none is not told")
	}
	if got := open("pos=0.5"); !slices.ContainsFunc(got.Chunks, func(c templates.ChunkRow) bool { return c.Marked && c.N == 8 }) {
		t.Error("the chunk in the middle is not marked")
	}
}
