package clustermap_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

// moves is a recorded past of documents with the changelog's entry of each move.
type moves struct {
	*webtest.PastServer
	t *testing.T
}

// move moves a chunk a minute later, with its entry in the changelog.
func (m moves) move(i int, to string) {
	m.t.Helper()
	table := m.Watcher.Get()
	c := table.Collection(webtest.DocumentsNS)
	ch := c.Chunks.At(i)
	lower, err1 := c.Key.Document(ch.Min)
	upper, err2 := c.Key.Document(ch.Max)
	if err1 != nil || err2 != nil || ch.Shard == to {
		m.t.Fatal(err1, err2, ch.Shard, to)
	}
	at := m.Now.Add(time.Minute)
	entry := topology.Event{ID: at.String(), Time: at, What: "moveChunk.commit", NS: string(webtest.DocumentsNS), Shard: ch.Shard,
		Details: webtest.MustBSON(bson.D{{Key: "min", Value: lower}, {Key: "max", Value: upper}, {Key: "from", Value: ch.Shard},
			{Key: "to", Value: to}})}
	next := webtest.WithMoved(table, webtest.DocumentsNS, i, to)
	next.Events = slices.Insert(slices.Clone(next.Events), 0, entry)
	m.Show(at, next)
}

// owner is which shard had a key at a time: the one that has it now, with every later move undone.
func (m moves) owner(k shardkey.Key, at time.Time) string {
	m.t.Helper()
	table := m.Watcher.Get()
	c := table.Collection(webtest.DocumentsNS)
	_, ch := c.Chunks.Find(k)
	owner := ch.Shard
	for _, e := range table.Events { // newest first
		if e.What != "moveChunk.commit" || e.NS != string(webtest.DocumentsNS) || !e.Time.After(at) {
			continue
		}
		x := answer.ReadEvent(e)
		lower, err1 := c.Key.Bound(x.Min)
		upper, err2 := c.Key.Bound(x.Max)
		if err1 != nil || err2 != nil {
			m.t.Fatal(err1, err2)
		}
		if (shardkey.Range{Min: lower, Max: upper}).Contains(k) {
			owner = x.From
		}
	}
	return owner
}

func TestTheMapOfThePastAgreesWithTheChangelog(t *testing.T) {
	m := moves{webtest.NewPastServer(t), t}
	others := func(i int) []string {
		owner := m.Watcher.Get().Collection(webtest.DocumentsNS).Chunks.Owner(i)
		return slices.DeleteFunc([]string{"shard-rs-1", "shard-rs-2", "shard-rs-3"}, func(s string) bool { return s == owner })
	}
	m.move(4, others(4)[0])
	m.move(5, others(5)[1])
	m.move(4, others(4)[1]) // again
	m.move(100, others(100)[0])
	m.move(249, others(249)[1])
	begin, end := m.Times[0], m.Times[len(m.Times)-1]
	m.Now = end.Add(time.Hour)
	chunks := m.Watcher.Get().Collection(webtest.DocumentsNS).Chunks
	changed := 0
	for at := begin; !at.After(end.Add(time.Minute)); at = at.Add(30 * time.Second) {
		q := "at=" + url.QueryEscape(answer.AtText(at))
		counts := map[string]int{}
		tile := webtest.Decode[api.MapTile](t, m.Do("GET", "/api/v1/map/yorkie-meta.documents/tile?marks=2000&"+q))
		if len(tile.Marks.At) != chunks.Len() || !tile.Exact {
			t.Fatalf("at %s: %d marks, exact %v", at, len(tile.Marks.At), tile.Exact)
		}
		for i, ch := range chunks.All() {
			want := m.owner(ch.Min, at)
			counts[want]++
			if want != ch.Shard {
				changed++
			}
			if got := tile.Shards[tile.Marks.Shard[i]]; got != want {
				t.Errorf("at %s: the tile has chunk %d on %s, the changelog on %s", at, i, got, want)
			}
		}
		one := webtest.Decode[api.MapChunk](t, m.Do("GET", "/api/v1/map/yorkie-meta.documents/chunk?position=4&"+q))
		if want := m.owner(chunks.At(4).Min, at); one.Shard != want {
			t.Errorf("at %s: the chunk is on %s, by the changelog on %s", at, one.Shard, want)
		}
		for _, b := range webtest.Decode[api.ClusterMap](t, m.Do("GET", "/api/v1/map?"+q)).Bands {
			for shard, n := range b.Shards {
				if b.NS == string(webtest.DocumentsNS) && n != counts[shard] {
					t.Errorf("at %s: the list has %d chunks on %s, the changelog %d", at, n, shard, counts[shard])
				}
			}
		}
		for _, address := range []string{"/map?", "/?"} {
			doc := webtest.ParseHTML(t, m.Do("GET", address+q).Body.String())
			label := doc.Find(`.band[data-key="yorkie-meta.documents"] svg`).AttrOr("aria-label", "")
			for shard, n := range counts {
				if want := fmt.Sprintf("%s %d", shard, n); !strings.Contains(label, want) {
					t.Errorf("at %s: %s says %q, want %q", at, address, label, want)
				}
			}
		}
		// The chunks of a part of the band, as the picture without a script has them.
		part := webtest.ParseHTML(t, m.Do("GET", "/map?ns=yorkie-meta.documents&from=0&to=0.04&"+q).Body.String())
		if got, want := part.Find(`.band[data-key="yorkie-meta.documents"] svg`).Text(), m.owner(chunks.At(4).Min, at); !strings.Contains(got, want) {
			t.Errorf("at %s: the picture says %q, want %s", at, got, want)
		}
	}
	if changed < 10 {
		t.Errorf("only %d owners of the past differ from today's", changed)
	}
}
