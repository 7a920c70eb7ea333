package collections_test

import (
	"net/url"
	"slices"
	"testing"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

func TestKeyPositionTakesIdsNumbersAndDocuments(t *testing.T) {
	v := webtest.NewStory().View()
	changes, docs := v.Table.Collection("yorkie-meta.changes"), v.Table.Collection("yorkie-meta.documents")
	id := v.Dir.All()[7].ID
	for _, c := range []struct {
		coll *topology.Collection
		text string
		ok   bool
	}{
		{changes, id.Hex(), true}, {changes, "-3048436677993134862", true}, {changes, `{"doc_id": {"$oid": "` + id.Hex() + `"}}`, true},
		{changes, `{"doc_id": {"$numberLong": "5"}}`, true}, {changes, "nonsense", false}, {changes, `{"other": 1}`, false}, {changes, "{",
			false},
		{docs, id.Hex(), true}, {docs, `{"project_id": {"$oid": "` + id.Hex() + `"}}`, true}, {docs, "12", true},
	} {
		r, ok := answer.KeyPosition(c.coll.Key, c.text)
		expect.Equal(t, ok, c.ok, "%s %q: ok", c.coll.NS, c.text)
		if !ok {
			continue
		}
		from, to := c.coll.Chunks.Overlap(r)
		expect.That(t, to-from == 1, "%s %q meets %d chunks", c.coll.NS, c.text, to-from)
	}
}

func TestChunkFiltersNarrowTheTable(t *testing.T) {
	v := webtest.NewStory().With(webtest.Troubled).View()
	open := func(query string) api.ChunkList {
		in := must.Get(url.ParseQuery(query))
		q := must.Get(param.Read[data.ChunkQuery](in))
		list, err := data.ChunkPage(v, v.Table.Collection("yorkie-meta.documents"), q)
		must.Do(t, err)
		return list
	}
	all := open("")
	must.That(t, len(all.Items) == 15 && all.Of == 15, "%d chunks", len(all.Items))
	for _, c := range open("shard=shard-rs-2").Items {
		expect.Equal(t, c.Shard, "shard-rs-2", "the shard of chunk %d", c.Number)
	}
	got := open("jumbo=1")
	expect.That(t, len(got.Items) == 2 && got.Items[0].Jumbo, "%d jumbo chunks", len(got.Items))
	expect.Equal(t, len(open("zone=eu").Items), 4, "chunks in eu")
	got = open("q=" + all.Items[4].From)
	expect.That(t, len(got.Items) == 2, "%d chunks have that bound, want the two that meet there", len(got.Items))
	got = open("key=" + all.Items[4].From)
	expect.That(t, len(got.Items) == 1 && got.Items[0].Number == 5, "%+v holds the key", got.Items)
	got = open("key=rubbish")
	expect.That(t, got.Problem != "" && len(got.Items) == 0, "a key that is none is not told")
	if got := open("pos=0.5"); !slices.ContainsFunc(got.Items, func(c api.Chunk) bool { return c.Marked && c.Number == 8 }) {
		t.Error("the chunk in the middle is not marked")
	}
}
