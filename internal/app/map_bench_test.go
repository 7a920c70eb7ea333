package app

import (
	"context"
	"fmt"
	"math"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/static"
	"shardboard/web/webtest"
)

const manyChunks topology.Namespace = "yorkie-meta.many"

// mapFigures are what a browser measures of the cluster map.
type mapFigures struct {
	Half    float64 // ms of a frame, median
	Most    float64 // ms of a frame, 95 of 100 take less
	Longest float64 // ms of the longest task; 0 if none took 50 ms or more
	Nodes   float64 // elements of the page
	Tiles   float64 // tiles that were read again because of updates
}

// BenchmarkClusterMap measures the cluster map in a browser while two chunks move ten times a second and the
// view zooms and moves in every frame: ms of a frame, the longest task, elements of the page. A million chunks
// are compared with fewer. It needs SHARDBOARD_BROWSER=1.
func BenchmarkClusterMap(b *testing.B) {
	of := map[int]mapFigures{}
	for _, n := range []int{1_000, 10_000, 1_000_000} {
		of[n] = measureMap(b, n)
		b.Logf("%d chunks: %+v", n, of[n])
	}
	b.Run("million", func(b *testing.B) { // measured once, even if the benchmark repeats
		for b.Loop() {
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(of[1_000_000].Half, "frame-ms")
		b.ReportMetric(of[1_000_000].Most, "frame-p95-ms")
		b.ReportMetric(of[1_000_000].Half/of[10_000].Half, "frame-ratio-to-10k")
		b.ReportMetric(of[1_000_000].Nodes/of[1_000].Nodes, "nodes-ratio-to-1k")
		b.ReportMetric(of[1_000_000].Longest, "longest-task-ms")
	})
}

func measureMap(b *testing.B, n int) (out mapFigures) {
	b.Helper()
	s := webtest.New(b)
	table := *s.Watcher.Table()
	table.Collections = append(slices.Clone(table.Collections), collectionOf(b, n)) // by name: it is the last
	s.Watcher.Publish(&table)
	ctx, cancel := context.WithCancel(b.Context())
	server := httptest.NewServer(s.Handler())
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx) }()
	updated := make(chan struct{})
	go func() {
		defer close(updated)
		moveChunks(ctx, s, &table)
	}()
	defer func() {
		cancel()
		<-updated
		server.CloseClientConnections()
		server.Close()
		<-ran
	}()
	o := newTab(b, nil, 1280)
	o.openAt(server.URL + "/map?ns=" + string(manyChunks) + "&from=0.2&to=0.4")
	o.until(mapDrawn)
	out = eval[mapFigures](o, fmt.Sprintf(measureFrames, static.URL("js/map_draw.js"), static.URL("js/map_state.js")))
	return out
}

// measureFrames draws 300 frames, each of another view, and forces each to be finished.
const measureFrames = `(async () => {
	const { frame } = await import(%q), { part, state } = await import(%q);
	let longest = 0;
	new PerformanceObserver((list) => list.getEntries().forEach((e) => (longest = Math.max(longest, e.duration)))).observe({ type: "longtask" });
	performance.clearResourceTimings();
	performance.setResourceTimingBufferSize(5000);
	const canvas = part("canvas").getContext("2d");
	const times = [];
	for (let i = 0; i < 300; i++) {
		const half = 0.5 ** (1 + 9 * Math.abs(Math.sin(i / 60)));
		const middle = half + (1 - 2 * half) * Math.abs(Math.cos(i / 90));
		state.view = { ...state.view, ns: state.view.ns, from: middle - half, to: middle + half };
		const now = await new Promise(requestAnimationFrame);
		const begin = performance.now();
		frame(now);
		canvas.getImageData(0, 0, 1, 1);
		times.push(performance.now() - begin);
	}
	times.sort((a, b) => a - b);
	const tiles = performance.getEntriesByType("resource").filter((e) => e.name.includes("/tile")).length;
	return { half: times[150], most: times[285], longest, nodes: document.querySelectorAll("*").length, tiles };
})()`

// collectionOf has n chunks, in runs of a few on each shard as a balancer leaves them.
func collectionOf(b *testing.B, n int) *topology.Collection {
	b.Helper()
	p := must.Get(shardkey.ParsePattern(webtest.MustBSON(bson.D{{Key: "doc_id", Value: "hashed"}})))
	shards := []string{"shard-rs-1", "shard-rs-2", webtest.HostileName}
	rows := make([]topology.Chunk, n)
	lo := p.Min()
	for i := range rows {
		hi := p.Max()
		if i+1 < n {
			hi = shardkey.HashKey(math.MinInt64 + int64(uint64(i+1)*(math.MaxUint64/uint64(n))))
		}
		rows[i] = topology.Chunk{Min: lo, Max: hi, Shard: shards[i*i/7%3], Version: topology.Version{Major: uint32(i + 1)},
			Since: bson.Timestamp{T: uint32(webtest.Epoch.Unix()) - uint32(i%90_000)}, Jumbo: i%5000 == 7}
		lo = hi
	}
	chunks := must.Get(topology.BuildChunks(p, rows))
	return &topology.Collection{Meta: topology.Meta{NS: manyChunks, Key: p, Incarnation: topology.Incarnation{UUID: [16]byte{9}}},
		Highest: chunks.Highest(), Chunks: chunks}
}

// moveChunks publishes ten tables a second in each of which two chunks have moved.
func moveChunks(ctx context.Context, s *webtest.Server, table *topology.Table) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		next := *table
		last := len(next.Collections) - 1
		c := *next.Collections[last]
		var rows []topology.Chunk
		for k := range 2 {
			ch := c.Chunks.At((i*7919 + k) % c.Chunks.Len())
			ch.Shard = []string{"shard-rs-1", "shard-rs-2"}[i%2]
			ch.Version = topology.Version{Major: c.Highest.Major + 1, Minor: uint32(k)}
			rows = append(rows, ch)
		}
		chunks, _, err := c.Chunks.Apply(rows)
		if err != nil {
			panic(err)
		}
		c.Chunks, c.Highest = chunks, chunks.Highest()
		next.Collections = append(slices.Clone(next.Collections[:last]), &c)
		next.Seq++
		table = &next
		s.Watcher.Publish(table)
	}
}
