package collections_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer/data"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

func TestPagingGoesOnAfterTheNextChunkWasMergedAway(t *testing.T) {
	s := webtest.New(t)
	path := "/api/v1/collections/yorkie-meta.documents/chunks?limit=10"
	first := webtest.Decode[api.List[api.Chunk]](t, s.Do("GET", path))
	s.Watcher.Publish(webtest.CannedTable(2, 6)) // bounds 6 and up are merged
	second := webtest.Decode[api.List[api.Chunk]](t, s.Do("GET", path+"&cursor="+string(first.Next)))
	expect.That(t, len(second.Items) == 1 && strings.Contains(string(second.Items[0].Max), "maxKey"), "%+v", second)
	gone := strings.Replace(string(first.Next), "01000000", "02000000", 1)
	expect.Equal(t, s.Do("GET", path+"&cursor="+gone).Code, http.StatusConflict, "reference of another life")
}

func TestChunkFilters(t *testing.T) {
	s := webtest.New(t)
	get := func(q url.Values) api.List[api.Chunk] {
		t.Helper()
		q.Set("limit", "1000")
		return webtest.Decode[api.List[api.Chunk]](t, s.Do("GET", "/api/v1/collections/yorkie-meta.documents/chunks?"+q.Encode()))
	}
	n := 0
	for _, shard := range []string{"shard-rs-1", "shard-rs-2", webtest.HostileName} {
		got := get(url.Values{"shard": {shard}})
		for _, c := range got.Items {
			expect.That(t, c.Shard == shard, "%s among those of %s", c.Shard, shard)
		}
		n += len(got.Items)
	}
	expect.Equal(t, n, 250, "chunks on all shards")
	got := get(url.Values{"jumbo": {"true"}})
	expect.That(t, len(got.Items) == 1 && got.Items[0].Jumbo, "jumbo: %d", len(got.Items))
	expect.Equal(t, len(get(url.Values{"zone": {"eu"}}).Items), 3, "zone")
	key := fmt.Sprintf(`{"project_id":{"$oid":%q}}`, webtest.ProjectID(100).Hex())
	got = get(url.Values{"key": {key}})
	expect.That(t, len(got.Items) == 1 && string(got.Items[0].Min) == key, "key: %+v", got.Items)
	got = get(url.Values{"from": {key}})
	expect.That(t, len(got.Items) == 150 && string(got.Items[0].Min) == key, "from: %d", len(got.Items))
	one := webtest.Decode[api.List[api.Chunk]](t, s.Do("GET", "/api/v1/collections/yorkie-meta.documents/chunks?jumbo=true&limit=1"))
	expect.Equal(t, one.Next, "", "a page after the last match")
}

func TestMapTilesPartTheChunks(t *testing.T) {
	s := webtest.New(t)
	for _, ns := range []string{"yorkie-meta.documents", "yorkie-meta.changes"} {
		c := s.Watcher.Get().Collection(topology.Namespace(ns))
		for _, level := range []int{0, 1, 3, 9} {
			at, chunks := 0, 0
			for index := range 1 << level {
				tile := webtest.Decode[api.Tile](t, s.Do("GET", fmt.Sprintf("/api/v1/collections/%s/map?level=%d&index=%d", ns, level, index)))
				must.That(t, tile.From == at && len(tile.Runs) <= data.MaxRuns,
					"%s %d/%d begins at %d, not %d, with %d runs", ns, level, index, tile.From, at, len(tile.Runs))
				at = tile.To
				next := tile.From
				for _, run := range tile.Runs {
					must.That(t, run.From == next && run.Shard != "" && run.Min != nil && run.Max != nil,
						"%s %d/%d: run %+v at %d", ns, level, index, run, next)
					sum := 0
					for _, n := range run.Shards {
						sum += n
					}
					expect.That(t, (run.Shards != nil || c.Chunks.Owner(run.From) == run.Shard) && (run.Shards == nil || sum == run.Chunks),
						"run %+v", run)
					next += run.Chunks
					chunks += run.Chunks
				}
				expect.Equal(t, next, tile.To, "the end of %s %d/%d", ns, level, index)
			}
			expect.That(t, chunks == c.Chunks.Len(), "%s level %d has %d chunks of %d", ns, level, chunks, c.Chunks.Len())
		}
	}
}

func TestTileWithManyRunsIsDividedIntoCells(t *testing.T) {
	c := webtest.CannedCollection("a.b", bsonKey("x"), 3*2000, 9) // a new shard every third chunk
	runs := data.TileRuns(c, 0, c.Chunks.Len())
	must.That(t, len(runs) == data.MaxRuns, "%d runs", len(runs))
	mixed := 0
	for _, r := range runs {
		if len(r.Shards) > 1 {
			mixed++
		}
		for shard, n := range r.Shards {
			expect.That(t, n <= r.Shards[r.Shard], "%s has more than %s in %+v", shard, r.Shard, r)
		}
	}
	expect.That(t, mixed != 0, "no cell holds several shards")
}

func bsonKey(field string) bson.D { return bson.D{{Key: field, Value: 1}} }
