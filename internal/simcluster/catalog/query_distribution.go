package catalog

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/query"
)

// distributionOf are the figures of analyzeShardKey about sampled queries: how many, and, if there are any, where they
// would go if a collection were cut at the split points of a candidate key.
func distributionOf(samples []SampledQuery, a analysis, p pattern) (reads, writes bson.D) {
	ranges := rangesOf(p, a.points)
	read := newTally("Reads", "find", "aggregate", "count", "distinct")
	write := newTally("Writes", "update", "delete", "findAndModify")
	for _, q := range samples {
		if !read.count(q, ranges) {
			write.count(q, ranges)
		}
	}
	return read.document(len(ranges.chunks)), write.document(len(ranges.chunks))
}

// rangesOf is a table with a shard for each range between split points.
func rangesOf(p pattern, points []bson.Raw) *Routing {
	r := &Routing{Key: p.raw, pattern: p, counts: make(map[string]int)}
	lo := p.min()
	var chunks []*Chunk
	for _, hi := range append(points[:len(points):len(points)], p.max()) {
		chunks = append(chunks, &Chunk{Min: lo, Max: hi, Shard: string(rune(len(chunks)))})
		lo = hi
	}
	r.setChunks(chunks)
	return r
}

// tally counts reads or writes.
type tally struct {
	of                       string // Reads or Writes
	names                    []string
	by                       map[string]int64
	total                    int64
	single, multi, scattered int64
	ranges                   map[string]int64
	keyUpdates, one, many    int64 // writes that change the key; writes of one and of many documents without it
}

func newTally(of string, names ...string) *tally {
	return &tally{of: of, names: names, by: make(map[string]int64), ranges: make(map[string]int64)}
}

// count adds a query; it reports whether it is of this kind.
func (t *tally) count(q SampledQuery, ranges *Routing) bool {
	if !slices.Contains(t.names, q.Command) {
		return false
	}
	t.total++
	t.by[q.Command]++
	targets := ranges.Target(q.Filter)
	exact := ranges.KeyFromFilter(q.Filter) != nil
	switch {
	case exact:
		t.single++
	case bindsFirst(ranges, q.Filter):
		t.multi++
	default:
		t.scattered++
	}
	for _, target := range targets {
		t.ranges[target]++
	}
	for _, f := range ranges.FieldNames() {
		if strings.Contains(q.Changes, ","+f+",") {
			t.keyUpdates++
			break
		}
	}
	if !exact && q.Many {
		t.many++
	} else if !exact {
		t.one++
	}
	return true
}

// bindsFirst reports whether a filter limits the first field of a key that is not hashed.
func bindsFirst(r *Routing, f *query.Filter) bool {
	first := r.pattern.fields[0]
	if f.Empty() || first.hashed {
		return false
	}
	bounds := f.Bounds(first.name)
	return len(bounds) != 1 || bounds[0].Low.Type != bson.TypeMinKey || bounds[0].High.Type != bson.TypeMaxKey
}

func (t *tally) document(ranges int) bson.D {
	sizes := bson.D{{Key: "total", Value: t.total}}
	for _, name := range t.names {
		sizes = append(sizes, bson.E{Key: name, Value: t.by[name]})
	}
	d := bson.D{{Key: "sampleSize", Value: sizes}}
	if t.total == 0 {
		return d
	}
	share := func(name string, n int64) bson.E {
		return bson.E{Key: "percentageOf" + name, Value: 100 * float64(n) / float64(t.total)}
	}
	list := bson.A{}
	for i := range ranges {
		list = append(list, t.ranges[string(rune(i))])
	}
	d = append(d, share("SingleShard"+t.of, t.single), share("MultiShard"+t.of, t.multi), share("ScatterGather"+t.of, t.scattered),
		bson.E{Key: "num" + t.of + "ByRange", Value: list})
	if t.of == "Writes" {
		d = append(d, share("ShardKeyUpdates", t.keyUpdates), share("SingleWritesWithoutShardKey", t.one),
			share("MultiWritesWithoutShardKey", t.many))
	}
	return d
}
