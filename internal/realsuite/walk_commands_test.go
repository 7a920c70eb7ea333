package realsuite_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// walkStep is one command, or the reading of a whole config collection.
type walkStep struct {
	note string
	db   string // of a dump: the collection, such as config.chunks
	cmd  bson.D // nil for a dump
}

// walker chooses the commands of a seeded walk. It knows the chunks that one cluster has, because a
// command names them; the other cluster is to have the same.
type walker struct {
	rng    *rand.Rand
	db     string
	shards []string
	next   int32 // _id of the next document
	chunks func(ns string) []chunk
}

// walkCollections are those of the walk by their shard keys.
var walkCollections = []struct {
	name string
	key  bson.D
}{
	{"ranged", bson.D{{Key: "p", Value: int32(1)}}},
	{"hashed", bson.D{{Key: "k", Value: "hashed"}}},
	{"mixed", bson.D{{Key: "p", Value: int32(1)}, {Key: "k", Value: "hashed"}}},
	{"pair", bson.D{{Key: "p", Value: int32(1)}, {Key: "k", Value: int32(1)}}},
}

// walkZones are the zones of the walk.
var walkZones = []string{"za", "zb"}

// dumpEvery is how many commands there are between two dumps.
const dumpEvery = 40

func (w *walker) begin() []walkStep {
	steps := []walkStep{
		{"balancerStop", "admin", bson.D{{Key: "balancerStop", Value: 1}}},
		{"enableSharding", "admin", bson.D{{Key: "enableSharding", Value: w.db}, {Key: "primaryShard", Value: w.shard()}}},
	}
	for _, c := range walkCollections {
		if c.name == "hashed" {
			// Of an empty collection the server would make a chunk for each shard, in a random order.
			steps = append(steps,
				w.insert(c.name, 200),
				walkStep{"createIndexes hashed", w.db, bson.D{{Key: "createIndexes", Value: c.name}, {Key: "indexes", Value: bson.A{
					bson.D{{Key: "key", Value: c.key}, {Key: "name", Value: "k_hashed"}}}}}},
				walkStep{"shardCollection hashed", "admin", bson.D{{Key: "shardCollection", Value: w.ns(c.name)}, {Key: "key", Value: c.key}}})
			continue
		}
		steps = append(steps,
			walkStep{"shardCollection " + c.name, "admin", bson.D{{Key: "shardCollection", Value: w.ns(c.name)}, {Key: "key", Value: c.key}}},
			w.insert(c.name, 200))
	}
	return steps
}

func (w *walker) end() (steps []walkStep) {
	for _, c := range walkCollections {
		steps = append(steps, walkStep{"find all " + c.name, w.db, bson.D{{Key: "find", Value: c.name},
			{Key: "projection", Value: bson.D{{Key: "p", Value: 1}, {Key: "k", Value: 1}}}, {Key: "sort", Value: bson.D{{Key: "_id", Value: 1}}},
			{Key: "limit", Value: 1000}, {Key: "batchSize", Value: 1000}}})
	}
	steps = append(steps, dumps("end")...)
	steps = append(steps, walkStep{"dropDatabase", w.db, bson.D{{Key: "dropDatabase", Value: 1}}})
	steps = append(steps, dumps("after dropDatabase")...)
	for _, zone := range walkZones {
		for _, s := range w.shards {
			steps = append(steps, walkStep{"removeShardFromZone all", "admin",
				bson.D{{Key: "removeShardFromZone", Value: s}, {Key: "zone", Value: zone}}})
		}
	}
	return steps
}

func dumps(note string) (steps []walkStep) {
	for _, name := range []string{"shards", "databases", "collections", "chunks", "tags", "changelog"} {
		steps = append(steps, walkStep{note: note, db: "config." + name})
	}
	return steps
}

func (w *walker) ns(name string) string { return w.db + "." + name }
func (w *walker) shard() string         { return w.shards[w.rng.IntN(len(w.shards))] }

// project and key are values of the two fields: few projects, keys of four types.
func (w *walker) project() bson.ObjectID {
	n := w.rng.IntN(20)
	return bson.ObjectID{0x66, 0, byte(n / 2), byte(n * 37), byte(n * 91), byte(n * 53), 1, 2, 3, 4, 5, byte(n)}
}

func (w *walker) key() any {
	n := w.rng.IntN(1000)
	switch w.rng.IntN(5) {
	case 0:
		return int32(n)
	case 1:
		return int64(n)
	case 2:
		return float64(n) + 0.5
	case 3:
		return bson.ObjectID{0x66, 0x4a, byte(n >> 8), byte(n), 7, 7, 7, 7, 7, 7, 7, 7}
	}
	return fmt.Sprintf("key-%03d", n)
}

func (w *walker) insert(name string, n int) walkStep {
	docs := bson.A{}
	for range n {
		w.next++
		docs = append(docs, bson.D{{Key: "_id", Value: w.next}, {Key: "p", Value: w.project()}, {Key: "k", Value: w.key()},
			{Key: "pad", Value: strings.Repeat("0", w.rng.IntN(200)) + fmt.Sprint(w.next)}})
	}
	return walkStep{"insert " + name, w.db, bson.D{{Key: "insert", Value: name}, {Key: "documents", Value: docs}}}
}

// equality is a filter by all fields of a shard key.
func (w *walker) equality(key bson.D) (filter bson.D) {
	for _, f := range key {
		if f.Key == "p" {
			filter = append(filter, bson.E{Key: "p", Value: w.project()})
		} else {
			filter = append(filter, bson.E{Key: "k", Value: w.key()})
		}
	}
	return filter
}

// splitKey is a value of a shard key, hashed fields as their hash.
func (w *walker) splitKey(key bson.D) (at bson.D) {
	for _, f := range w.equality(key) {
		if slices.ContainsFunc(key, func(k bson.E) bool { return k.Key == f.Key && k.Value == "hashed" }) {
			f.Value = int64(w.rng.Uint64())
		}
		at = append(at, f)
	}
	return at
}

func (w *walker) step() walkStep {
	c := walkCollections[w.rng.IntN(len(walkCollections))]
	ns := w.ns(c.name)
	all := w.chunks(ns)
	at := w.rng.IntN(len(all))
	ch := all[at]
	admin := func(note string, cmd bson.D) walkStep { return walkStep{note + " " + c.name, "admin", cmd} }
	explain := func(note string, filter bson.D) walkStep {
		find := bson.D{{Key: "find", Value: c.name}, {Key: "filter", Value: filter}}
		return walkStep{note + " " + c.name, w.db, bson.D{{Key: "explain", Value: find},
			{Key: "verbosity", Value: "queryPlanner"}}}
	}
	project := bson.D{{Key: "p", Value: w.project()}}
	bounds := bson.A{ch.Min, ch.Max}
	switch w.rng.IntN(22) {
	case 0, 1:
		return w.insert(c.name, 40)
	case 2, 3, 4:
		return admin("split middle", bson.D{{Key: "split", Value: ns}, {Key: "middle", Value: w.splitKey(c.key)}})
	case 5:
		return admin("split bounds", bson.D{{Key: "split", Value: ns}, {Key: "bounds", Value: bounds}})
	case 6:
		return admin("split find", bson.D{{Key: "split", Value: ns}, {Key: "find", Value: w.equality(c.key)}})
	case 7, 8, 9:
		return admin("moveChunk bounds", bson.D{{Key: "moveChunk", Value: ns}, {Key: "bounds", Value: bounds}, {Key: "to", Value: w.shard()},
			{Key: "_waitForDelete", Value: true}})
	case 10:
		return admin("moveChunk find", bson.D{{Key: "moveChunk", Value: ns}, {Key: "find", Value: w.equality(c.key)},
			{Key: "to", Value: w.shard()}, {Key: "_waitForDelete", Value: true}})
	case 11, 12, 13:
		last := all[min(at+1+w.rng.IntN(2), len(all)-1)]
		return admin("mergeChunks", bson.D{{Key: "mergeChunks", Value: ns}, {Key: "bounds", Value: bson.A{ch.Min, last.Max}}})
	case 14:
		return w.zone(c.name, c.key, ch)
	case 15:
		return explain("explain equality", w.equality(c.key))
	case 16:
		return explain("explain range", bson.D{{Key: "p", Value: bson.D{{Key: "$gte", Value: w.project()}, {Key: "$lt", Value: w.project()}}}})
	case 17:
		return explain("explain $in", bson.D{{Key: "k", Value: bson.D{{Key: "$in", Value: bson.A{w.key(), w.key(), w.key()}}}}})
	case 18:
		return walkStep{"count " + c.name, w.db, bson.D{{Key: "count", Value: c.name}, {Key: "query", Value: project}}}
	case 19:
		return walkStep{"distinct " + c.name, w.db, bson.D{{Key: "distinct", Value: c.name}, {Key: "key", Value: "p"},
			{Key: "query", Value: bson.D{{Key: "p", Value: bson.D{{Key: "$lte", Value: w.project()}}}}}}}
	case 20:
		return w.write(c.name, c.key)
	}
	return w.mistake(c.name, ch)
}

func (w *walker) zone(name string, key bson.D, ch chunk) walkStep {
	zone := walkZones[w.rng.IntN(len(walkZones))]
	switch w.rng.IntN(4) {
	case 0:
		return walkStep{"addShardToZone", "admin", bson.D{{Key: "addShardToZone", Value: w.shard()}, {Key: "zone", Value: zone}}}
	case 1:
		return walkStep{"removeShardFromZone", "admin", bson.D{{Key: "removeShardFromZone", Value: w.shard()}, {Key: "zone", Value: zone}}}
	case 2:
		return walkStep{"balancerCollectionStatus " + name, "admin", bson.D{{Key: "balancerCollectionStatus", Value: w.ns(name)}}}
	}
	return walkStep{"updateZoneKeyRange " + name, "admin", bson.D{{Key: "updateZoneKeyRange", Value: w.ns(name)}, {Key: "min", Value: ch.Min},
		{Key: "max", Value: ch.Max}, {Key: "zone", Value: zone}}}
}

func (w *walker) write(name string, key bson.D) walkStep {
	q := w.equality(key)
	if w.rng.IntN(2) == 0 {
		return walkStep{"update " + name, w.db, bson.D{{Key: "update", Value: name}, {Key: "updates", Value: bson.A{bson.D{{Key: "q", Value: q},
			{Key: "u", Value: bson.D{{Key: "$set", Value: bson.D{{Key: "touched", Value: w.next}}}}}, {Key: "multi", Value: true}}}}}}
	}
	return walkStep{"delete " + name, w.db, bson.D{{Key: "delete", Value: name}, {Key: "deletes", Value: bson.A{bson.D{{Key: "q", Value: q},
		{Key: "limit", Value: 0}}}}}}
}

// mistake is a command that is refused.
func (w *walker) mistake(name string, ch chunk) walkStep {
	ns, bounds := w.ns(name), bson.A{ch.Min, ch.Max}
	list := []walkStep{
		{"mistake: split with no way", "admin", bson.D{{Key: "split", Value: ns}}},
		{"mistake: moveChunk to no shard", "admin", bson.D{{Key: "moveChunk", Value: ns}, {Key: "bounds", Value: bounds},
			{Key: "to", Value: "nope"}}},
		{"mistake: moveChunk by half bounds", "admin", bson.D{{Key: "moveChunk", Value: ns}, {Key: "bounds", Value: bson.A{ch.Min}},
			{Key: "to", Value: w.shards[0]}}},
		{"mistake: zone range of no zone", "admin", bson.D{{Key: "updateZoneKeyRange", Value: ns}, {Key: "min", Value: ch.Min},
			{Key: "max", Value: ch.Max}, {Key: "zone", Value: "zc"}}},
		{"mistake: mergeChunks reversed", "admin", bson.D{{Key: "mergeChunks", Value: ns}, {Key: "bounds", Value: bson.A{ch.Max, ch.Min}}}},
		{"mistake: shardCollection twice, other key", "admin", bson.D{{Key: "shardCollection", Value: ns},
			{Key: "key", Value: bson.D{{Key: "other", Value: 1}}}}},
		{"mistake: unknown operator", w.db, bson.D{{Key: "find", Value: name},
			{Key: "filter", Value: bson.D{{Key: "p", Value: bson.D{{Key: "$like", Value: "x"}}}}}}},
		{"mistake: split in no collection", "admin", bson.D{{Key: "split", Value: w.db + ".none"},
			{Key: "middle", Value: bson.D{{Key: "p", Value: 1}}}}},
	}
	return list[w.rng.IntN(len(list))]
}
