package catalog

import (
	"cmp"
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

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
	r := c.table(ns)
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
		scan(coll, func(_ engine.RecordID, doc bson.Raw) bool {
			key, e := p.keyOf(doc)
			if e != nil {
				return true
			}
			a.docs, a.bytes, n = a.docs+1, a.bytes+int64(len(doc)), n+1
			order = append(order, rankedDoc{key: key, inserted: n})
			return true
		})
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
		common = append(common, bson.D{{Key: "value", Value: v.key}, {Key: "frequency", Value: v.count}})
	}
	kind := "not monotonic"
	if !a.hashed && math.Abs(a.correlate) >= monotonicThreshold {
		kind = "monotonic"
	}
	m := bson.D{}
	if !a.hashed {
		m = append(m, bson.E{Key: "recordIdCorrelationCoefficient", Value: a.correlate})
	}
	d := bson.D{
		{Key: "numDocsTotal", Value: a.docs}, {Key: "numOrphanDocs", Value: a.orphans},
		{Key: "avgDocSizeBytes", Value: a.bytes / a.docs}, {Key: "numDocsSampled", Value: a.docs},
		{Key: "isUnique", Value: a.unique}, {Key: "numDistinctValues", Value: a.distinct},
		{Key: "mostCommonValues", Value: common},
		{Key: "monotonicity", Value: append(m, bson.E{Key: "type", Value: kind})},
	}
	if a.orphans > 0 {
		d = append(d, bson.E{Key: "note", Value: orphansNote})
	}
	return d
}
