package site_test

import (
	"strconv"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// BenchmarkAPastPageOf100000Chunks asks for another past time each turn, so
// that nothing is in memory: a day of 2,000 moves lies before it.
func BenchmarkAPastPageOf100000Chunks(b *testing.B) {
	const ns, moves, together = topology.Namespace("yorkie-meta.changes"), 2000, 5
	p := webtest.NewPast(b, webtest.Epoch)
	now := webtest.Epoch
	s := webtest.New(b, func(d *site.Deps) {
		d.Now = func() time.Time { return now }
		p.Into(d)
	})
	table := *webtest.CannedTable(1, 6)
	table.Collections = []*topology.Collection{webtest.CannedCollection(ns, bson.D{{Key: "doc_id", Value: "hashed"}}, 100_000, 2)}
	for i := range moves / together {
		c := *table.Collections[0]
		var rows []topology.Chunk
		for n := range together {
			ch := c.Chunks.At((i*together + n) * 49 % c.Chunks.Len())
			ch.Shard, ch.Version = []string{"shard-rs-1", "shard-rs-2"}[i%2], topology.Version{Major: uint32(1_000_000 + i*together + n)}
			rows = append(rows, ch)
		}
		m, _, err := c.Chunks.Apply(rows)
		if err != nil {
			b.Fatal(err)
		}
		c.Chunks, c.Highest = m, m.Highest()
		table.Collections = []*topology.Collection{&c}
		next := table
		now = now.Add(43 * time.Second)
		p.Note(now, &next)
	}
	p.Watched(table.ClusterID, webtest.Epoch, now)
	s.Watcher.Publish(&table)
	end := now
	now = now.Add(time.Hour)
	for _, page := range []string{"/", "/collections/" + string(ns), "/api/v1/collections/" + string(ns) + "/map",
		"/api/v1/map", "/api/v1/map/" + string(ns) + "/tile"} {
		b.Run(page, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				at := strconv.FormatInt(end.Add(-time.Duration(i)*time.Second-time.Duration(len(page))*time.Millisecond).UnixMilli(), 10)
				if w := s.Do("GET", page+"?at="+at); w.Code != 200 {
					b.Fatalf("%d %s", w.Code, w.Body)
				}
			}
		})
	}
}
