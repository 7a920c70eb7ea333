package clustermap_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

const large = topology.Namespace("yorkie-meta.changes")

// withChunks serves one collection with so many chunks on three shards.
func withChunks(t testing.TB, n int) *webtest.Server {
	t.Helper()
	s := webtest.New(t)
	table := *webtest.CannedTable(1, 6)
	table.Collections = []*topology.Collection{webtest.CannedCollection(large, bson.D{{Key: "doc_id", Value: "hashed"}}, n, 2)}
	table.Zones = nil
	s.Watcher.Publish(&table)
	return s
}

// moveOne publishes the table in which one chunk has moved.
func moveOne(t testing.TB, s *webtest.Server, position int) {
	t.Helper()
	table := *s.Watcher.Value
	c := *table.Collections[0]
	ch := c.Chunks.At(position)
	ch.Shard = map[string]string{"shard-rs-1": "shard-rs-2"}[ch.Shard]
	if ch.Shard == "" {
		ch.Shard = "shard-rs-1"
	}
	ch.Version = topology.Version{Major: c.Highest.Major + 1}
	m, _, err := c.Chunks.Apply([]topology.Chunk{ch})
	must.Do(t, err)
	c.Chunks, c.Highest = m, m.Highest()
	table.Collections, table.Seq = []*topology.Collection{&c}, table.Seq+1
	s.Watcher.Publish(&table)
}

func tileURL(level, index, marks int) string {
	return fmt.Sprintf("/api/v1/map/%s/tile?level=%d&index=%d&marks=%d", large, level, index, marks)
}

func TestTilesHaveAtMostTwoThousandMarksIn64KBOfAMillionChunks(t *testing.T) {
	only.Long(t, "builds a million chunks")
	s := withChunks(t, 1_000_000)
	for _, level := range []int{0, 3, 8, 10, 19} {
		w := s.Do("GET", tileURL(level, 1<<level/2, 2000))
		got := webtest.Decode[api.MapTile](t, w)
		n := len(got.Marks.At)
		expect.That(t, n != 0 && n <= 2000, "level %d: %d marks, want 1 to 2000", level, n)
		var small bytes.Buffer
		z := gzip.NewWriter(&small)
		_, _ = z.Write(w.Body.Bytes())
		_ = z.Close()
		expect.That(t, small.Len() <= 64<<10, "level %d: %d bytes with gzip, at most %d", level, small.Len(), 64<<10)
	}
}

func TestMarksOfATileCoverItsChunksOnce(t *testing.T) {
	s := withChunks(t, 5000)
	for _, q := range []struct{ level, index, marks int }{
		{0, 0, 16}, {0, 0, 512}, {0, 0, 2000}, {3, 5, 100}, {9, 511, 16}, {20, 1 << 19, 16},
	} {
		got := webtest.Decode[api.MapTile](t, s.Do("GET", tileURL(q.level, q.index, q.marks)))
		at := got.From
		for i, from := range got.Marks.At {
			must.That(t, from == at && got.Marks.Chunks[i] >= 1, "%+v: mark %d begins at %d, want %d", q, i, from, at)
			at += got.Marks.Chunks[i]
			if got.Exact && got.Marks.Share[i] != 100 {
				t.Errorf("%+v: mark %d is said to be exact and has %d %%", q, i, got.Marks.Share[i])
			}
		}
		expect.That(t, at == got.To && len(got.Marks.At) <= q.marks,
			"%+v: %d marks up to %d, want at most %d up to %d", q, len(got.Marks.At), at, q.marks, got.To)
	}
}

func TestATileWithRoomHasAMarkForEachChunk(t *testing.T) {
	s := withChunks(t, 100)
	got := webtest.Decode[api.MapTile](t, s.Do("GET", tileURL(0, 0, 512)))
	c := s.Watcher.Value.Collections[0]
	must.That(t, len(got.Marks.At) == 100 && got.Exact, "%d marks, exact %v; want 100, true", len(got.Marks.At), got.Exact)
	for i, ch := range c.Chunks.All() {
		expect.Equal(t, got.Shards[got.Marks.Shard[i]], ch.Shard, "the shard of chunk %d", i)
		expect.Equal(t, got.Marks.Flags[i]&api.MapJumbo != 0, ch.Jumbo, "chunk %d: jumbo", i)
	}
}

func TestAnUnchangedTileCostsAReplyWithoutABody(t *testing.T) {
	s := withChunks(t, 3000)
	first := s.Do("GET", tileURL(2, 1, 100))
	tag := first.Header().Get("ETag")
	quiet := *s.Watcher.Value
	quiet.Seq++ // another collection changed
	s.Watcher.Publish(&quiet)
	expect.Equal(t, s.Do("GET", tileURL(2, 1, 100), webtest.Header("If-None-Match", tag)).Code, http.StatusNotModified, "unchanged band")
	moveOne(t, s, 1000)
	w := s.Do("GET", tileURL(2, 1, 100), webtest.Header("If-None-Match", tag))
	expect.That(t, w.Code == http.StatusOK && w.Header().Get("ETag") != tag,
		"after a move: %d with ETag %s, want 200 with another one", w.Code, w.Header().Get("ETag"))
	before, after := webtest.Decode[api.MapTile](t, first), webtest.Decode[api.MapTile](t, w)
	list := webtest.Decode[api.ClusterMap](t, s.Do("GET", "/api/v1/map"))
	if before.Version == after.Version || list.Bands[0].Version != after.Version {
		t.Errorf("versions: %s before, %s after, %s in the list", before.Version, after.Version, list.Bands[0].Version)
	}
}

func TestTheOtherAnswersOfABandAreClear(t *testing.T) {
	s := webtest.New(t)
	for path, want := range map[string]int{
		"/api/v1/map/no.such/tile": 404, "/api/v1/map/yorkie-meta.projects/tile": 404, "/api/v1/map/nonsense/tile": 400,
		"/api/v1/map/yorkie-meta.changes/tile?level=21": 400, "/api/v1/map/yorkie-meta.changes/tile?level=2&index=4": 400,
		"/api/v1/map/yorkie-meta.changes/tile?marks=15": 400, "/api/v1/map/yorkie-meta.changes/tile?marks=2001": 400,
		"/api/v1/map/yorkie-meta.changes/chunk?position=1200": 400, "/api/v1/map/yorkie-meta.changes/chunk?position=-1": 400,
		"/api/v1/map/yorkie-meta.changes/chunk?position=1199": 200, "/api/v1/map?internal=x": 400,
		"/map?by=color": 400, "/map?ns=no.such": 404, "/map?ns=yorkie-meta.projects": 404, "/map?ns=nonsense": 400,
		"/map?from=0.5&to=0.5": 400, "/map?from=NaN": 400, "/map?from=-1": 400, "/map?to=2": 400, "/map?only=x&by=age": 200,
		"/?by=color&from=9": 200,
	} {
		expect.Equal(t, s.Do("GET", path).Code, want, "%s", path)
	}
}

func TestAChunkTellsItsZoneAndItsPlace(t *testing.T) {
	s := webtest.New(t)
	zoned := webtest.Decode[api.MapChunk](t, s.Do("GET", "/api/v1/map/yorkie-meta.documents/chunk?position=3"))
	expect.That(t, zoned.Zone == "eu" && zoned.Outside == (zoned.Shard != "shard-rs-1") && zoned.URL != "" && zoned.Total == 250,
		"%+v", zoned)
	tile := webtest.Decode[api.MapTile](t, s.Do("GET", "/api/v1/map/yorkie-meta.documents/tile"))
	expect.That(t, len(tile.Zones) == 1 && tile.Zones[0].From == 2 && tile.Zones[0].To == 5 && tile.Zones[0].Name == "eu",
		"zones %+v, want eu from 2 to 5", tile.Zones)
	for i := range 6 {
		c := s.Watcher.Value.Collection("yorkie-meta.documents").Chunks.At(i)
		want := i >= 2 && i < 5 && c.Shard != "shard-rs-1"
		expect.Equal(t, tile.Marks.Flags[i]&api.MapOutside != 0, want, "chunk %d on %s: outside its zone", i, c.Shard)
	}
}
