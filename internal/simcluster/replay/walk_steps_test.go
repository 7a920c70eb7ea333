package replay

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
	"shardboard/internal/shardkey"
)

// tryCommand runs a command that may be refused with one of the codes; 0 means a refusal
// without a code. It reports whether the command succeeded.
func (w *walk) tryCommand(cmd bson.D, codes ...int32) bool {
	w.t.Helper()
	reply := w.run("admin", cmd)
	if ok(reply) {
		return true
	}
	code, _ := reply.Lookup("code").Int32OK()
	must.That(w.t, slices.Contains(codes, code) && reply.Lookup("errmsg").StringValue() != "", "%v: %s", cmd, reply)
	return false
}

func (w *walk) randomChunk(c *collection) chunk {
	if len(c.chunks) == 0 {
		w.checkChunks(c)
	}
	return c.chunks[w.rng.IntN(len(c.chunks))]
}

// randomSplitKey returns a random key document for split.
func (w *walk) randomSplitKey(c *collection) (bson.Raw, shardkey.Key) {
	doc := encode(bson.D{{Key: "p", Value: w.randomProject()}, {Key: "k", Value: w.randomKey()}})
	k := c.shardKey(w.t, doc)
	key, err := c.pattern.Document(k)
	must.Do(w.t, err)
	return key, k
}

func (w *walk) splitChunk(c *collection) {
	w.checkChunks(c)
	before := len(c.chunks)
	cmd := bson.D{{Key: "split", Value: c.ns()}}
	switch w.rng.IntN(3) {
	case 0:
		key, k := w.randomSplitKey(c)
		ch := c.chunkAt(k)
		worked := w.tryCommand(append(cmd, bson.E{Key: "middle", Value: key}), 0)
		if edge := ch.in.Min.Compare(k) == 0; worked == edge {
			w.t.Fatalf("%s: split at %s worked: %v, want not %v", c.name, key, worked, edge)
		}
		before += map[bool]int{true: 1}[worked]
	case 1:
		ch := w.randomChunk(c)
		if w.tryCommand(append(cmd, bson.E{Key: "bounds", Value: bson.A{ch.min, ch.max}}), 72, 87, 96) {
			before++
		}
	case 2:
		find := bson.D{{Key: "p", Value: w.randomProject()}, {Key: "k", Value: w.randomKey()}}
		if w.tryCommand(append(cmd, bson.E{Key: "find", Value: find}), 72, 87, 96) {
			before++
		}
	}
	if w.checkChunks(c); len(c.chunks) != before {
		w.t.Fatalf("%s: %d chunks after a split, want %d", c.name, len(c.chunks), before)
	}
}

func (w *walk) moveChunk(c *collection) {
	ch, to := w.randomChunk(c), w.randomShard()
	worked := w.tryCommand(bson.D{
		{Key: "moveChunk", Value: c.ns()}, {Key: "bounds", Value: bson.A{ch.min, ch.max}}, {Key: "to", Value: to},
		{Key: "_waitForDelete", Value: true},
	}, 20)
	w.checkChunks(c)
	if now := c.chunkAt(ch.in.Min); worked && now.shard != to || !worked && now.shard != ch.shard {
		w.t.Fatalf("%s: the chunk is on %s, moved to %s: %v", c.name, now.shard, to, worked)
	}
}

func (w *walk) mergeChunks(c *collection) {
	w.checkChunks(c)
	i := w.rng.IntN(len(c.chunks))
	j := min(i+w.rng.IntN(3), len(c.chunks)-1)
	alone := !slices.ContainsFunc(c.chunks[i:j+1], func(ch chunk) bool { return ch.shard != c.chunks[i].shard })
	want := len(c.chunks)
	if alone {
		want -= j - i
	}
	if w.tryCommand(bson.D{{Key: "mergeChunks", Value: c.ns()},
		{Key: "bounds", Value: bson.A{c.chunks[i].min, c.chunks[j].max}}}, 20) != alone {
		w.t.Fatalf("%s: chunks %d to %d of one shard: %v", c.name, i, j, alone)
	}
	if w.checkChunks(c); len(c.chunks) != want {
		w.t.Fatalf("%s: %d chunks after a merge, want %d", c.name, len(c.chunks), want)
	}
}

// changeZone adds and removes shards and ranges; a range needs a shard in its zone, and the
// last shard stays while there is one.
func (w *walk) changeZone(c *collection) {
	name, shard := []string{"za", "zb"}[w.rng.IntN(2)], w.randomShard()
	switch w.rng.IntN(3) {
	case 0:
		w.mustRun("admin", bson.D{{Key: "addShardToZone", Value: shard}, {Key: "zone", Value: name}})
		w.zones[name][shard] = true
	case 1:
		if w.tryCommand(bson.D{{Key: "removeShardFromZone", Value: shard}, {Key: "zone", Value: name}}, 163) {
			delete(w.zones[name], shard)
		}
	case 2:
		ch := w.randomChunk(c)
		worked := w.tryCommand(bson.D{{Key: "updateZoneKeyRange", Value: c.ns()}, {Key: "min", Value: ch.min},
			{Key: "max", Value: ch.max}, {Key: "zone", Value: name}}, 177, 178)
		must.That(w.t, !worked || len(w.zones[name]) != 0, "zone %s has a range and no shard", name)
		if worked && w.rng.IntN(3) > 0 {
			w.mustRun("admin", bson.D{{Key: "updateZoneKeyRange", Value: c.ns()}, {Key: "min", Value: ch.min},
				{Key: "max", Value: ch.max}, {Key: "zone", Value: nil}})
		}
	}
}
