package web_test

import (
	"fmt"
	"net/http"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

// manyCollections is a server of a cluster with so many collections besides Yorkie's: sharded ones of a thousand
// chunks, and others.
func manyCollections(t testing.TB, shards, sharded, others int) *webtest.Server {
	t.Helper()
	story := webtest.NewStory()
	story.Shards = shards
	return webtest.Scene{View: story.With(func(table *topology.Table) {
		var bounds []bson.D
		for k := range int64(999) {
			bounds = append(bounds, bson.D{{Key: "k", Value: k}})
		}
		for i := range sharded {
			story.Add(table, fmt.Sprintf("sharded%03d", i), bson.D{{Key: "k", Value: 1}}, bounds, 1<<30, 1_000_000)
		}
		for i := range others {
			ns := topology.Namespace(fmt.Sprintf("app.plain%05d", i))
			table.Unsharded = append(table.Unsharded, ns)
			table.Sizes[ns] = topology.Sizes{NS: ns, At: webtest.Epoch, Shards: map[string]topology.Size{story.Shard(0): webtest.Size(1<<20, 1000)}}
		}
		table.Databases = append([]topology.Database{{Name: "app", Primary: story.Shard(0)}}, table.Databases...)
	}).View()}.Serve(t)
}

func TestPagesOfManyCollectionsStaySmall(t *testing.T) {
	s := manyCollections(t, 100, 100, 9_900)
	for _, path := range []string{"/", "/map", "/collections", "/collections?page=3", "/shards", "/shards/shard-rs-2", "/matrix", "/advice"} {
		if w := s.Do("GET", path); w.Code != http.StatusOK || w.Body.Len() > 250<<10 {
			t.Errorf("%s: %d, %d bytes", path, w.Code, w.Body.Len())
		}
	}
}

// Pages of 10,000 collections beside those of 10, on as many shards; problems are judged for each.
func BenchmarkPagesOfTenThousandCollections(b *testing.B) {
	for name, s := range map[string]*webtest.Server{"10": manyCollections(b, 100, 2, 2), "10000": manyCollections(b, 100, 100, 9_900)} {
		for _, path := range []string{"/", "/collections", "/shards", "/shards/shard-rs-2", "/matrix", "/map", "/advice"} {
			b.Run(path+"/"+name, func(b *testing.B) {
				for b.Loop() {
					if w := s.Do("GET", path); w.Code != http.StatusOK {
						b.Fatal(w.Code)
					}
				}
			})
		}
	}
}
