package locate_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

// bounds is a range as the changelog has it.
func bounds(c *topology.Collection, r shardkey.Range) bson.D {
	return bson.D{{Key: "min", Value: webtest.Must(c.Key.Document(r.Min))}, {Key: "max", Value: webtest.Must(c.Key.Document(r.Max))}}
}

// between is a key inside a chunk of changes, whose key is hashed.
func between(c *topology.Collection, ch topology.Chunk) shardkey.Key {
	low := webtest.Must(c.Key.Document(ch.Min)).Lookup("doc_id").Int64()
	return webtest.Must(c.Key.Bound(webtest.MustBSON(bson.D{{Key: "doc_id", Value: low + 1000}})))
}

// replaced is a table in which rows replace chunks of a collection, with an entry in its changelog.
func replaced(t *testing.T, table *topology.Table, c *topology.Collection, entry topology.Event, rows ...topology.Chunk) *topology.Table {
	t.Helper()
	next, changed := *table, *c
	for i := range rows {
		rows[i].Version = topology.Version{Major: c.Highest.Major + 1, Minor: uint32(i)}
	}
	m, _, err := c.Chunks.Apply(rows)
	must.Do(t, err)
	changed.Chunks, changed.Highest = m, m.Highest()
	next.Collections = slices.Clone(table.Collections)
	next.Collections[slices.Index(table.Collections, c)] = &changed
	next.Events, next.Seq = slices.Insert(slices.Clone(table.Events), 0, entry), table.Seq+1
	return &next
}

func TestAFormerChunkSaysWhatBecameOfIt(t *testing.T) {
	x := webtest.NewPastServer(t)
	ns := topology.Namespace("yorkie-meta.changes")
	c := x.Watcher.Get().Collection(ns)
	whole := c.Chunks.At(7)
	key := between(c, whole)
	ref := "/collections/yorkie-meta.changes/chunks/" + answer.ChunkRef(c, key)
	left, right := whole, whole
	left.Max, right.Min = key, key
	event := func(what string, d bson.D) topology.Event {
		return topology.Event{ID: what, Time: x.Now.Add(time.Minute), What: what, NS: string(ns),
			Details: webtest.MustBSON(append(d, bson.E{Key: "owningShard", Value: whole.Shard}))}
	}
	split := event("split", bson.D{{Key: "before", Value: bounds(c, shardkey.Range{Min: whole.Min, Max: whole.Max})},
		{Key: "left", Value: bounds(c, shardkey.Range{Min: left.Min, Max: left.Max})},
		{Key: "right", Value: bounds(c, shardkey.Range{Min: right.Min, Max: right.Max})}})
	x.Show(split.Time, replaced(t, x.Watcher.Get(), c, split, left, right))
	x.Page(t, ref)
	c = x.Watcher.Get().Collection(ns)
	all := shardkey.Range{Min: c.Chunks.At(6).Min, Max: c.Chunks.At(9).Max}
	merge := event("autoMerge", append(bounds(c, all), bson.E{Key: "numChunks", Value: int64(4)}))
	innerChunk := answer.ChunkURL(ns, c.Ref(c.Chunks.At(9).Min))
	one := c.Chunks.At(6)
	one.Max = all.Max
	x.Show(merge.Time, replaced(t, x.Watcher.Get(), c, merge, one))
	c = x.Watcher.Get().Collection(ns)
	x.Now = x.Now.Add(time.Hour)

	page := func(at time.Time, status int) *goquery.Document {
		t.Helper()
		address := ref
		if !at.IsZero() {
			address = answer.WithAt(ref, at)
		}
		return x.PageWith(t, status, address)
	}
	now := page(time.Time{}, http.StatusNotFound)
	want := "At " + answer.FullInstant(merge.Time) + " this chunk and its neighbours were merged (chunks merged into one: 4)."
	expect.Contains(t, now.Find(".lead").Text(), want, "it says")
	coverer := now.Find(".coverers").First().Find("a").First()
	if href := coverer.AttrOr("href", ""); href != answer.ChunkURL(ns, answer.ChunkRef(c, one.Min)) || coverer.Text() != "Chunk 7" {
		t.Errorf("its keys are in %q, %s", coverer.Text(), href)
	}
	// No entry of the changelog has the bound of this one: the recorded history had the chunk.
	inner := x.PageWith(t, http.StatusNotFound, innerChunk)
	expect.Contains(t, inner.Find(".lead").Text(), "chunks merged into one: 4", "a chunk in the middle of a merge")
	expect.ContainsAll(t, now.Find("main").Text(), []string{"Its keys are now in", "Split a chunk in two"}, "the page")
	// Before the split it did not exist, between split and merge it did, and after the merge it is told as it is now.
	before := page(split.Time.Add(-time.Second), http.StatusNotFound)
	want = "It did not exist yet: a split made it at " + answer.FullInstant(split.Time)
	title := before.Find("h1").Text()
	if text := before.Find(".lead").Text(); !strings.Contains(text, want) || !strings.Contains(title, "no such chunk then") {
		t.Errorf("before the split it says %q, want %q", text, want)
	}
	expect.Contains(t, before.Find(".coverers a").First().AttrOr("href", ""), "at=", "the link leads out of the past")
	page(split.Time.Add(time.Second), http.StatusOK)
	text := page(merge.Time.Add(time.Second), http.StatusNotFound).Find(".lead").Text()
	expect.Contains(t, text, "chunks merged into one: 4", "after the merge")
}

// A chunk that was merged long ago has no entry. The bound in an old address leads to the chunk with its first
// key; a hash of a bound that nobody recorded does not tell where that was.
func TestAFormerChunkWithoutAnEntryLeadsToItsFirstKey(t *testing.T) {
	v := webtest.NewStory().View()
	s := webtest.New(t)
	s.Watcher.Value, s.Keeper.Value = v.Table, v.Dir
	c := v.Table.Collection("yorkie-meta.changes")
	key := between(c, c.Chunks.At(1))
	doc := s.PageWith(t, http.StatusNotFound, answer.ChunkURL(c.NS, webtest.Must(c.ExactRef(key))))
	expect.ContainsAll(t, doc.Find("main").Text(), []string{"Its first key is now in", "Chunk 2"}, "the page")
	text := s.PageWith(t, http.StatusNotFound, answer.ChunkURL(c.NS, c.Ref(key))).Find("main").Text()
	expect.Contains(t, text, "What became of it is not known", "a reference that nobody recorded")
	expect.Lacks(t, text, "now in", "a reference that nobody recorded")
}

// movedTwice is a story whose third chunk of changes came from shard-rs-3 over shard-rs-2.
func movedTwice() answer.View {
	return webtest.NewStory().With(func(t *topology.Table) {
		c := t.Collection("yorkie-meta.changes")
		ch := c.Chunks.At(2)
		other := "shard-rs-2"
		if ch.Shard == other {
			other = "shard-rs-1"
		}
		event := func(ago time.Duration, from, to string) topology.Event {
			return topology.Event{ID: from + to, Time: webtest.Epoch.Add(-ago), What: "moveChunk.commit", NS: string(c.NS),
				Details: webtest.Must(bson.Marshal(
					bson.D{{Key: "min", Value: webtest.Must(c.Key.Document(ch.Min))}, {Key: "max", Value: webtest.Must(c.Key.Document(ch.Max))},
						{Key: "from", Value: from}, {Key: "to", Value: to}}))}
		}
		t.Events = []topology.Event{event(time.Hour, other, ch.Shard), event(3*time.Hour, ch.Shard, other),
			{ID: "old", Time: webtest.Epoch.Add(-6 * time.Hour), What: "dropDatabase", NS: "x"}}
	}).View()
}

func TestTheOwnersOfAChunkReachBackAsFarAsTheyAreKnown(t *testing.T) {
	v := movedTwice()
	s := webtest.New(t)
	s.Watcher.Value, s.Keeper.Value = v.Table, v.Dir
	c := v.Table.Collection("yorkie-meta.changes")
	ref := answer.ChunkRef(c, c.Chunks.At(2).Min)
	a := webtest.Decode[api.ChunkAround](t, s.Do("GET", "/api/v1/collections/yorkie-meta.changes/chunks/"+ref+"/around"))
	now := c.Chunks.At(2).Shard
	want := []time.Duration{6*time.Hour + 36*time.Minute, 6 * time.Hour, 3 * time.Hour, time.Hour}
	must.That(t, len(a.Owners.Spans) == len(want), "%+v", a.Owners.Spans)
	end := a.Owners.From
	for i, x := range a.Owners.Spans {
		known := x.Shard != ""
		if !x.From.Equal(webtest.Epoch.Add(-want[i])) || !x.From.Equal(end) || known != (i > 0) || i > 0 && (x.Shard == now) != (i != 2) {
			t.Errorf("span %d: %+v", i, x)
		}
		end = x.To
	}
	expect.That(t, end.Equal(a.Owners.To), "ends at %s", end)
}

// MongoDB 4.4 and 5.0 log the chunks that were merged instead of the merged range.
func TestTheOwnersOfAChunkKnowMergesOfOlderReleases(t *testing.T) {
	v := webtest.NewStory().With(func(t *topology.Table) {
		c := t.Collection("yorkie-meta.changes")
		ch := c.Chunks.At(2)
		part := bson.D{{Key: "min", Value: webtest.Must(c.Key.Document(ch.Min))}, {Key: "max", Value: webtest.Must(c.Key.Document(ch.Max))}}
		t.Events = []topology.Event{
			{ID: "m", Time: webtest.Epoch.Add(-time.Hour), What: "merge", NS: string(c.NS),
				Details: webtest.Must(bson.Marshal(bson.D{{Key: "merged", Value: bson.A{part}}}))},
			{ID: "old", Time: webtest.Epoch.Add(-6 * time.Hour), What: "dropDatabase", NS: "x"},
		}
	}).View()
	s := webtest.New(t)
	s.Watcher.Value, s.Keeper.Value = v.Table, v.Dir
	c := v.Table.Collection("yorkie-meta.changes")
	a := webtest.Decode[api.ChunkAround](t, s.Do("GET", "/api/v1/collections/yorkie-meta.changes/chunks/"+
		answer.ChunkRef(c, c.Chunks.At(2).Min)+"/around"))
	if len(a.Owners.Marks) != 1 || a.Owners.Marks[0].What != "merge" || !a.Owners.Marks[0].At.Equal(webtest.Epoch.Add(-time.Hour)) {
		t.Errorf("%+v", a.Owners.Marks)
	}
}

func TestAChunksPageLeadsToItsNeighboursAndProjects(t *testing.T) {
	v := webtest.NewStory().View()
	s := webtest.New(t)
	s.Watcher.Value, s.Keeper.Value = v.Table, v.Dir
	doc := s.Page(t, webtest.ChunkPath(v, "yorkie-meta.documents", 2))
	for _, rel := range []string{"prev", "next"} {
		href, _ := doc.Find(`.neighbours a[rel="` + rel + `"]`).Attr("href")
		expect.Equal(t, s.Do("GET", href).Code, http.StatusOK, "%s leads to %q", rel, href)
	}
	expect.Equal(t, doc.Find(`.neighbourbars a[aria-current="page"]`).Length(), 1,
		"neighbours that are the chunk itself")
	project, _ := doc.Find(".chunkprojects a").First().Attr("href")
	w := s.Do("GET", project)
	expect.That(t, w.Code == http.StatusOK && strings.Contains(doc.Find(".chunkprojects").Text(), "-"), "project %q: %d", project, w.Code)
	c := v.Table.Collection("yorkie-meta.documents")
	first := s.Page(t, webtest.ChunkPath(v, "yorkie-meta.documents", 0))
	if first.Find(`.neighbours a[rel="prev"]`).Length() != 0 || !strings.Contains(first.Find(".neighbours").Text(), "First chunk") {
		t.Errorf("the first of %d chunks has one before it", c.Chunks.Len())
	}
}

func TestTheCurveSaysOfHowManyChunksItIs(t *testing.T) {
	v := webtest.NewStory().View()
	s := webtest.NewHeatServer(t, v, webtest.SkewedWrites(v), 5*time.Minute, nil)
	c := v.Table.Collection("yorkie-meta.changes")
	some := false
	for i := range c.Chunks.Len() {
		ref := answer.ChunkRef(c, c.Chunks.At(i).Min)
		a := webtest.Decode[api.ChunkAround](t, s.Do("GET", "/api/v1/collections/yorkie-meta.changes/chunks/"+ref+"/around"))
		must.That(t, a.Writes.From != nil && len(a.Writes.Rates) != 0 && a.Writes.Chunks >= 1, "chunk %d: %+v", i, a.Writes)
		for _, x := range a.Writes.Rates {
			some = some || x != nil && *x > 0
		}
	}
	expect.That(t, some, "no chunk took writes")
}
