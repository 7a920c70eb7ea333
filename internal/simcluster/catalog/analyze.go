package catalog

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// analyzedRanges is the number of ranges for which queries are counted (analyzeShardKeyNumRanges).
const analyzedRanges = 100

// runAnalyzeShardKey analyzes a shard key candidate (7.0). It counts all documents
// instead of sampling; of queries it has those that configureQueryAnalyzer sampled.
func (c *Cluster) runAnalyzeShardKey(_ context.Context, req *engine.Request, ns string) (bson.D, error) {
	p, err := keyArgument(req)
	if err != nil {
		return nil, err
	}
	wanted := func(name string) bool {
		v := req.Lookup(name)
		return v.Type == 0 || truthy(v)
	}
	if !wanted("keyCharacteristics") && !wanted("readWriteDistribution") {
		return nil, status.Errorf(status.InvalidOptions,
			"Cannot analyze a shard key without analyzing the characteristics of the shard key or the read and write distribution")
	}
	if req.Lookup("sampleRate").Type != 0 && req.Lookup("sampleSize").Type != 0 {
		return nil, status.Errorf(status.InvalidOptions, "Cannot specify both 'sampleRate' and 'sampleSize'")
	}
	a, err := c.analyze(ns, p)
	if err != nil {
		return nil, err
	}
	d := value.When(wanted("keyCharacteristics") && a.supported, "keyCharacteristics", a.document())
	if wanted("readWriteDistribution") {
		if err := tooFewValues(analyzedRanges, a.points); err != nil && c.since(8) {
			e := status.Of(err)
			return nil, status.Errorf(e.Code, "Failed to find split points that partition the data into %d chunks with roughly equal "+
				"number of documents using the shard key being analyzed :: caused by :: %s", analyzedRanges, e.Message)
		}
		var samples []SampledQuery
		if q := c.analyzers[ns]; q != nil && q.uuid == a.uuid {
			samples = q.samples
		}
		reads, writes := distributionOf(samples, a, p)
		d = append(d, value.D("readDistribution", reads, "writeDistribution", writes)...)
	}
	return d, nil
}

// mostCommonValues is how many of the most frequent values analyzeShardKey shows
// (analyzeShardKeyNumMostCommonValues).
const mostCommonValues = 5

// monotonicThreshold is the correlation from which a key counts as monotonic
// (analyzeShardKeyMonotonicityCorrelationCoefficientThreshold).
const monotonicThreshold = 0.7

// analysis holds the statistics of a shard key candidate.
type analysis struct {
	supported bool // an index begins with the key
	hashed    bool
	unique    bool
	uuid      [16]byte // of the collection
	docs      int64
	orphans   int64
	bytes     int64
	values    []valueCount // most common first
	distinct  int64
	correlate float64    // between key order and insertion order
	points    []bson.Raw // between ranges of about as many documents
}

type valueCount struct {
	key   bson.Raw
	count int64
}

// analyze reads every document, orphans too, as the server does. The caller holds Mu.
func (c *Cluster) analyze(ns string, p pattern) (a analysis, err error) {
	db, name, _ := splitNS(ns)
	r := c.tables[ns]
	shards := []string{}
	if r != nil {
		shards = r.ShardsOwning()
	} else if primary, ok := c.Home(db, name); ok {
		shards = append(shards, primary)
	}
	a.hashed = p.hashedPrefix()
	a.uuid, _ = c.uuidOf(ns)
	var order, first []rankedDoc
	found := false
	for _, shard := range shards {
		coll := c.data(shard, ns)
		if coll == nil {
			continue
		}
		found = true
		a.supported = supports(coll, p.raw)
		a.unique = a.unique || uniqueOn(coll, p.raw)
		a.orphans += int64(c.Orphans(ns, shard))
		n := 0.0
		for _, doc := range coll.All() {
			key, e := p.keyOf(doc)
			if e != nil {
				continue
			}
			a.docs, a.bytes, n = a.docs+1, a.bytes+int64(len(doc)), n+1
			order = append(order, rankedDoc{key: key, inserted: n})
		}
		if first == nil { // one shard alone looks at the order of its records
			first = slices.Clone(order)
		}
	}
	switch {
	case !found:
		return a, status.Errorf(status.NamespaceNotFound, "The namespace does not exist")
	case a.docs == 0:
		return a, status.Errorf(status.IllegalOperation, "Cannot analyze the characteristics of a shard key for an empty collection")
	}
	for _, list := range [][]rankedDoc{order, first} {
		slices.SortStableFunc(list, func(x, y rankedDoc) int { return compareKeys(x.key, y.key) })
	}
	keys := make([]bson.Raw, len(order))
	for i, o := range order {
		keys[i] = o.key
	}
	a.points = sampledPoints(keys, analyzedRanges)
	a.count(order)
	a.correlate = correlation(first)
	return a, nil
}

// orphansNote follows the figures of a collection that has orphans.
const orphansNote = "Due to performance reasons, the analyzeShardKey command does not filter out orphan documents when calculating " +
	"metrics about the characteristics of the shard key. Therefore, if \"numOrphanDocs\" is large relative to \"numDocsTotal\", you may " +
	"want to rerun the command at some other time to get more accurate \"numDistinctValues\" and \"mostCommonValues\" metrics."

// rankedDoc is one document's key and its position in insertion order.
type rankedDoc struct {
	key      bson.Raw
	inserted float64
}

// count counts the distinct values among sorted keys.
func (a *analysis) count(order []rankedDoc) {
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && compareKeys(order[i].key, order[j].key) == 0 {
			j++
		}
		a.values = append(a.values, valueCount{order[i].key, int64(j - i)})
		i = j
	}
	a.distinct = int64(len(a.values))
	if a.unique { // a document and its orphan count as two values
		a.distinct = a.docs
		for i := range a.values {
			a.values[i].count = 1
		}
	}
	slices.SortStableFunc(a.values, func(x, y valueCount) int { return cmp.Compare(y.count, x.count) })
	a.values = a.values[:min(len(a.values), mostCommonValues)]
}

// correlation is the Pearson correlation between key order and insertion order; equal
// keys share a rank.
func correlation(order []rankedDoc) float64 {
	n := float64(len(order))
	var sx, sy, sxx, syy, sxy, at float64
	for i, o := range order {
		if i == 0 || compareKeys(order[i-1].key, o.key) != 0 {
			at++
		}
		sx, sy = sx+at, sy+o.inserted
		sxx, syy, sxy = sxx+at*at, syy+o.inserted*o.inserted, sxy+at*o.inserted
	}
	spread := math.Sqrt((n*sxx - sx*sx) * (n*syy - sy*sy))
	if spread == 0 {
		return 0
	}
	return (n*sxy - sx*sy) / spread
}

// uniqueOn reports whether a unique index makes the key unique: the key contains all
// fields of the index.
func uniqueOn(coll *engine.Coll, key bson.Raw) bool {
	for _, spec := range coll.Indexes() {
		name, _ := spec.Lookup("name").StringValueOK()
		index, ok := spec.Lookup("key").DocumentOK()
		if ok && (truthy(spec.Lookup("unique")) || name == "_id_") && isPrefix(index, key) {
			return true
		}
	}
	return false
}

func (a analysis) document() bson.D {
	common := bson.A{}
	for _, v := range a.values {
		common = append(common, value.D("value", v.key, "frequency", v.count))
	}
	kind := "not monotonic"
	if !a.hashed && math.Abs(a.correlate) >= monotonicThreshold {
		kind = "monotonic"
	}
	return value.D("numDocsTotal", a.docs, "numOrphanDocs", a.orphans, "avgDocSizeBytes", a.bytes/a.docs,
		"numDocsSampled", a.docs, "isUnique", a.unique, "numDistinctValues", a.distinct, "mostCommonValues", common,
		"monotonicity", value.D(value.When(!a.hashed, "recordIdCorrelationCoefficient", a.correlate), "type", kind),
		value.When(a.orphans > 0, "note", orphansNote))
}

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
	sizes := value.D("total", t.total)
	for _, name := range t.names {
		sizes = append(sizes, bson.E{Key: name, Value: t.by[name]})
	}
	d := value.D("sampleSize", sizes)
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
