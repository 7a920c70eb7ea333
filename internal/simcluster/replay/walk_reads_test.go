package replay

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// query is a filter with its expected result.
type query struct {
	filter bson.D
	key    bson.Raw // binds the whole shard key of some collections
	meets  func(d bson.Raw) bool
}

func (w *walk) randomQuery() query {
	p, k := bson.E{Key: "p", Value: w.randomProject()}, bson.E{Key: "k", Value: w.randomKey()}
	has := func(d bson.Raw, e bson.E) bool { return equalValue(d.Lookup(e.Key), encode(bson.D{e}).Lookup(e.Key)) }
	switch w.rng.IntN(4) {
	case 0:
		return query{bson.D{p, k}, encode(bson.D{p, k}), func(d bson.Raw) bool { return has(d, p) && has(d, k) }}
	case 1:
		return query{bson.D{p}, encode(bson.D{p}), func(d bson.Raw) bool { return has(d, p) }}
	case 2:
		return query{bson.D{k}, encode(bson.D{k}), func(d bson.Raw) bool { return has(d, k) }}
	}
	return query{bson.D{}, nil, func(bson.Raw) bool { return true }}
}

// equalValue compares as a query does: numbers by value, whatever their type.
func equalValue(a, b bson.RawValue) bool {
	x, xok := a.AsFloat64OK()
	y, yok := b.AsFloat64OK()
	if xok || yok {
		return xok && yok && x == y
	}
	return a.Equal(b)
}

func (c *collection) matching(q query) map[int32]bson.Raw {
	out := make(map[int32]bson.Raw)
	for id, d := range c.docs {
		if q.meets(d) {
			out[id] = d
		}
	}
	return out
}

// checkExplain must name exactly the owner when the query binds the full key, and otherwise
// every shard with matching documents.
func (w *walk) checkExplain(c *collection) {
	w.checkChunks(c)
	q := w.randomQuery()
	reply := w.mustRun("w", bson.D{{Key: "explain", Value: bson.D{{Key: "find", Value: c.name}, {Key: "filter", Value: q.filter}}},
		{Key: "verbosity", Value: "queryPlanner"}})
	shards := make(map[string]bool)
	rows, _ := reply.Lookup("queryPlanner", "winningPlan", "shards").Array().Values()
	for _, r := range rows {
		shards[r.Document().Lookup("shardName").StringValue()] = true
	}
	need := make(map[string]bool)
	for _, d := range c.matching(q) {
		need[c.chunkAt(c.shardKey(w.t, d)).shard] = true
	}
	for s := range need {
		if !shards[s] {
			w.t.Fatalf("%s %v: explain asks %v, documents are on %v", c.name, q.filter, slices.Sorted(maps.Keys(shards)), s)
		}
	}
	bound := q.key != nil
	for _, f := range c.pattern.Fields() {
		if bound {
			_, err := q.key.LookupErr(f.Name)
			bound = err == nil
		}
	}
	if !bound {
		return
	}
	if owner := c.chunkAt(c.shardKey(w.t, q.key)).shard; len(shards) != 1 || !shards[owner] {
		w.t.Fatalf("%s %v: explain asks %v, the owner is %s", c.name, q.filter, slices.Sorted(maps.Keys(shards)), owner)
	}
}

// changeDocuments updates or deletes the documents of a query.
func (w *walk) changeDocuments(c *collection) {
	q := w.randomQuery()
	if len(q.filter) == 0 {
		return
	}
	found := c.matching(q)
	if w.rng.IntN(2) == 0 {
		reply := w.mustRun("w", bson.D{{Key: "delete", Value: c.name},
			{Key: "deletes", Value: bson.A{bson.D{{Key: "q", Value: q.filter}, {Key: "limit", Value: 0}}}}})
		if n := reply.Lookup("n").Int32(); int(n) != len(found) {
			w.t.Fatalf("%s: deleted %d, want %d", c.name, n, len(found))
		}
		for id := range found {
			delete(c.docs, id)
		}
		return
	}
	w.next++
	set := bson.E{Key: "touched", Value: w.next}
	reply := w.mustRun("w", bson.D{{Key: "update", Value: c.name}, {Key: "updates", Value: bson.A{bson.D{
		{Key: "q", Value: q.filter}, {Key: "u", Value: bson.D{{Key: "$set", Value: bson.D{set}}}}, {Key: "multi", Value: true},
	}}}})
	if n := reply.Lookup("nModified").Int32(); int(n) != len(found) {
		w.t.Fatalf("%s: changed %d, want %d", c.name, n, len(found))
	}
	for id, d := range found {
		c.docs[id] = encode(append(slices.DeleteFunc(decode(d), func(e bson.E) bool { return e.Key == set.Key }), set))
	}
}

func decode(d bson.Raw) bson.D {
	list, _ := d.Elements()
	var out bson.D
	for _, e := range list {
		out = append(out, bson.E{Key: e.Key(), Value: e.Value()})
	}
	return out
}

// checkReads counts, lists distinct projects and asks for statistics.
func (w *walk) checkReads(c *collection) {
	q := w.randomQuery()
	found := c.matching(q)
	reply := w.mustRun("w", bson.D{{Key: "count", Value: c.name}, {Key: "query", Value: q.filter}})
	if n := reply.Lookup("n").Int32(); int(n) != len(found) {
		w.t.Fatalf("%s %v: count is %d, want %d", c.name, q.filter, n, len(found))
	}
	projects := make(map[string]bool)
	for _, d := range found {
		projects[typedBytes(d.Lookup("p"))] = true
	}
	reply = w.mustRun("w", bson.D{{Key: "distinct", Value: c.name}, {Key: "key", Value: "p"}, {Key: "query", Value: q.filter}})
	values, _ := reply.Lookup("values").Array().Values()
	if len(values) != len(projects) {
		w.t.Fatalf("%s %v: %d distinct projects, want %d", c.name, q.filter, len(values), len(projects))
	}
	reply = w.mustRun("w", bson.D{{Key: "collStats", Value: c.name}})
	bytes := 0
	for _, d := range c.docs {
		bytes += len(d)
	}
	if n, _ := reply.Lookup("count").AsInt64OK(); int(n) != len(c.docs) {
		w.t.Fatalf("%s: collStats counts %d, want %d", c.name, n, len(c.docs))
	}
	if n, _ := reply.Lookup("size").AsInt64OK(); int(n) != bytes {
		w.t.Fatalf("%s: collStats sums %d bytes, want %d", c.name, n, bytes)
	}
}

// checkMistake sends an invalid command, which must not change anything.
func (w *walk) checkMistake(c *collection) {
	w.checkChunks(c)
	ch, version := w.randomChunk(c), c.version
	for _, cmd := range []bson.D{
		{{Key: "split", Value: c.ns()}},
		{{Key: "split", Value: c.ns()}, {Key: "middle", Value: ch.min}},
		{{Key: "split", Value: c.ns()}, {Key: "middle", Value: bson.D{{Key: "other", Value: 1}}}},
		{{Key: "mergeChunks", Value: c.ns()}, {Key: "bounds", Value: bson.A{ch.max, ch.min}}},
		{{Key: "moveChunk", Value: c.ns()}, {Key: "bounds", Value: bson.A{ch.min, ch.max}}, {Key: "to", Value: "nope"}},
		{{Key: "shardCollection", Value: c.ns()}, {Key: "key", Value: bson.D{{Key: "other", Value: 1}}}},
		{{Key: "updateZoneKeyRange", Value: c.ns()}, {Key: "min", Value: ch.min}, {Key: "max", Value: ch.min}, {Key: "zone", Value: "za"}},
	} {
		if reply := w.run("admin", cmd); ok(reply) {
			w.t.Fatalf("%v: %s", cmd, reply)
		}
	}
	if w.checkChunks(c); c.version != version {
		w.t.Fatalf("%s: a refused command changed the version", c.name)
	}
}
