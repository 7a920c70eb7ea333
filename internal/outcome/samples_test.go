package outcome

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/fixture/must"
	"shardboard/internal/heat"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

const ns = topology.Namespace("app.rows")

var start = time.Date(2026, 3, 1, 10, 30, 20, 0, time.UTC)

// test is one of package testing or of rapid.
type test interface {
	Helper()
	Fatal(args ...any)
}

// collection has chunks that begin at MinKey and at the given numbers; shards are
// their shards in the same order.
func collection(t test, at []int64, shards ...string) *topology.Collection {
	raw := must.Get(bson.Marshal(bson.D{{Key: "p", Value: 1}}))
	p := must.Get(shardkey.ParsePattern(raw))
	bounds := []shardkey.Key{p.Min()}
	for _, n := range at {
		bounds = append(bounds, key(t, p, n))
	}
	bounds = append(bounds, p.Max())
	var rows []topology.Chunk
	for i := range len(bounds) - 1 {
		rows = append(rows, topology.Chunk{Min: bounds[i], Max: bounds[i+1], Shard: shards[i],
			Version: topology.Version{Major: 1, Minor: uint32(i)}})
	}
	m, err := topology.BuildChunks(p, rows)
	must.Do(t, err)
	return &topology.Collection{Meta: topology.Meta{NS: ns, Key: p}, Chunks: m}
}

func key(t test, p shardkey.Pattern, n int64) shardkey.Key {
	k, err := p.Bound(keyAt(n))
	must.Do(t, err)
	return k
}

func keyAt(n int64) bson.Raw {
	raw, err := bson.Marshal(bson.D{{Key: "p", Value: n}})
	if err != nil {
		panic(err)
	}
	return raw
}

func minKey() bson.Raw {
	raw, _ := bson.Marshal(bson.D{{Key: "p", Value: bson.MinKey{}}})
	return raw
}

func maxKey() bson.Raw {
	raw, _ := bson.Marshal(bson.D{{Key: "p", Value: bson.MaxKey{}}})
	return raw
}

// tenSeconds is a sample of ten seconds in which each chunk got the given number of rows.
func tenSeconds(c *topology.Collection, from time.Time, rows ...int64) sample {
	s := heat.Slot{NS: c.NS, From: from, To: from.Add(heat.Tick), Every: 1, Life: c.Incarnation}
	var all int64
	for i, n := range rows {
		if n > 0 {
			s.Pieces = append(s.Pieces, heat.Piece{Min: c.Chunks.At(i).Min, Rows: n})
		}
		all += n
	}
	s.Counts = []heat.Count{{Rows: all}}
	return sample{slot: s, taken: s.To.Add(3 * time.Second), collection: c}
}

// fullWindow is a window filled with samples of ten seconds.
func fullWindow(w Span, c *topology.Collection, rows ...int64) (out []sample) {
	for from := w.From; from.Before(w.To); from = from.Add(heat.Tick) {
		out = append(out, tenSeconds(c, from, rows...))
	}
	return out
}

func endedRun(kind actions.Kind, op operation.Op, lo, hi bson.Raw, to string) engine.Run {
	s := operation.Step{Op: op, NS: ns, Min: lo, Max: hi, Shard: to}
	if op == operation.OpSplitAt {
		s = operation.Step{Op: op, NS: ns, At: keyAt(5), Needs: []operation.Fact{{Kind: operation.FactChunk, NS: ns, Min: lo, Max: hi}}}
	}
	return engine.Run{ID: "r", Kind: kind, State: engine.Succeeded, Started: start, Ended: start.Add(30 * time.Second),
		Steps: []engine.Step{{Step: s, State: engine.Succeeded, Sent: start.Add(time.Second), Ended: start.Add(20 * time.Second)}}}
}

// recordOf is the record of a run with the given samples.
func recordOf(r engine.Run, before, after []sample) *Record {
	b, a := windows(r.Started, r.Ended)
	spans := scopeOf(r).spans[ns]
	return &Record{Run: r.ID, Closed: true, Collections: []CollectionRecord{{NS: ns,
		Before: countWindow(before, b, spans, r.Started), After: countWindow(after, a, spans, time.Time{})}}}
}
