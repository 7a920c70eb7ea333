package catalog

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// runMoveChunk moves the chunk given by a query or by its bounds
// (s/commands/cluster_move_chunk_cmd.cpp).
func (c *Cluster) runMoveChunk(ctx context.Context, req *engine.Request, ns string) (bson.D, error) {
	start := c.Now()
	c.Mu.RLock()
	ch, to, err := c.moveTarget(req, ns)
	var lo, hi bson.Raw
	if err == nil {
		lo, hi = ch.Min, ch.Max
	}
	c.Mu.RUnlock()
	if err != nil {
		return nil, err
	}
	if err := c.Move(ctx, ns, lo, hi, to, moveOptions(req)); err != nil {
		return nil, err
	}
	return value.D("millis", int32(c.Now().Sub(start).Milliseconds())), nil
}

// moveOptions are the options of moveChunk and moveRange.
func moveOptions(req *engine.Request) MoveOptions {
	return MoveOptions{
		Command: req.Name, App: appOf(req), ForceJumbo: truthy(req.Lookup("forceJumbo")),
		WaitForDelete: truthy(req.Lookup("_waitForDelete")) || truthy(req.Lookup("waitForDelete")),
	}
}

// appOf is the application name of the client that sent a command, "" when it has none.
func appOf(req *engine.Request) string {
	if req.Conn == nil {
		return ""
	}
	return req.Conn.App
}

func (c *Cluster) moveTarget(req *engine.Request, ns string) (*Chunk, string, error) {
	r := c.Routing(ns)
	if r == nil {
		return nil, "", c.notSharded(ns)
	}
	to, _ := req.Lookup("to").StringValueOK()
	if to == "" {
		return nil, "", status.Plain("you have to specify where you want to move the chunk")
	}
	if c.shard(to) == nil {
		return nil, "", status.Errorf(status.ShardNotFound, "moveChunk destination shard does not exist")
	}
	find := document(req, "find")
	lo, hi, bound, err := bounds(req)
	if err != nil {
		return nil, "", err
	}
	var codes [3]int32
	if c.since(8) {
		codes = [3]int32{656450, 656451, 656452}
	}
	switch {
	case (find != nil) == bound && !c.since(8):
		return nil, "", status.Plain("need to specify either a find query, or both lower and upper bounds.")
	case find != nil && bound:
		return nil, "", status.Errorf(status.InvalidOptions, "cannot specify bounds and query at the same time")
	case find == nil && !bound:
		return nil, "", status.Errorf(status.InvalidOptions, "need to specify query or bounds")
	}
	ch, err := r.chunkNamed(find, lo, hi, codes)
	return ch, to, err
}

// runSetAllowMigrations forbids or permits all migrations of a collection; the document
// has the field only while they are forbidden.
func (c *Cluster) runSetAllowMigrations(ctx context.Context, req *engine.Request, ns string) (bson.D, error) {
	if req.Lookup("allowMigrations").Type != bson.TypeBoolean {
		return nil, status.Errorf(40414, "BSON field 'setAllowMigrations.allowMigrations' is missing but a required field")
	}
	r := c.Routing(ns)
	if r == nil {
		return nil, status.Errorf(status.NamespaceNotSharded, "Collection must be sharded so migrations can be blocked")
	}
	r.Permitted = req.Lookup("allowMigrations").Boolean()
	c.saveCollection(r)
	if c.since(8) {
		c.logChange(c.coordinator(ns), "setPermitMigrations", ns, value.D("permitMigrations", r.Permitted))
	}
	return bson.D{}, nil
}

// runClearJumboFlag clears the flag of a chunk and gives it a new major version
// (db/s/config/sharding_catalog_manager_chunk_operations.cpp, clearJumboFlag).
func (c *Cluster) runClearJumboFlag(_ context.Context, req *engine.Request, ns string) (bson.D, error) {
	r := c.Routing(ns)
	if r == nil {
		return nil, c.notSharded(ns)
	}
	find := document(req, "find")
	lo, hi, bound, err := bounds(req)
	if err != nil {
		return nil, err
	}
	if find != nil && bound {
		return nil, status.Errorf(status.InvalidOptions, "cannot specify bounds and find at the same time")
	}
	if find == nil && !bound {
		return nil, status.Errorf(status.InvalidOptions, "need to specify find or bounds")
	}
	ch, err := r.chunkNamed(find, lo, hi, [3]int32{51260, 51261, 51261})
	if err != nil {
		return nil, err
	}
	if ch.Jumbo {
		ch.Jumbo, ch.Version = false, r.bumpMajor()
		c.saveChunk(r, ch)
	}
	return bson.D{}, nil
}

// MarkJumbo flags a chunk that is too big to move and cannot be split; no version
// changes. The caller holds Mu for writing.
func (c *Cluster) MarkJumbo(ns string, lo bson.Raw) {
	r := c.Routing(ns)
	if r == nil {
		return
	}
	if ch := r.chunks[r.indexOf(lo)]; compareKeys(ch.Min, lo) == 0 && !ch.Jumbo {
		ch.Jumbo = true
		c.saveChunk(r, ch)
	}
}

// runMoveRange moves a part of one chunk (6.0). If one bound is missing, the server
// chooses it so that about one chunk size moves. Assumed: max alone works in all of
// 6.0, no bound at all is InvalidOptions, a bound that is no full key BadValue.
func (c *Cluster) runMoveRange(ctx context.Context, req *engine.Request, ns string) (bson.D, error) {
	to, ok := req.Lookup("toShard").StringValueOK()
	if !ok {
		return nil, missingField("moveRange", "toShard")
	}
	lo, hi := document(req, "min"), document(req, "max")
	if lo == nil && hi == nil {
		return nil, status.Errorf(status.InvalidOptions, "Missing both the min and the max bound")
	}
	c.Mu.RLock()
	var err error
	missing, stuck := c.shard(to) == nil, c.since(8) && c.crossesChunks(ns, lo, hi)
	if c.since(8) && missing && c.Routing(ns) != nil {
		err = status.Errorf(status.ShardNotFound, "Could not find destination shard :: caused by :: Shard %s not found", to)
	} else if !stuck {
		lo, hi, err = c.rangeToMove(ns, lo, hi)
	}
	c.Mu.RUnlock()
	if err != nil {
		return nil, err
	}
	o := moveOptions(req)
	o.Range = true
	if stuck {
		return bson.D{}, c.moveStuck(ctx, ns, lo, hi, to, o)
	}
	return bson.D{}, c.Move(ctx, ns, lo, hi, to, o)
}

// MoveRange moves at most about one chunk size, beginning at lo, from the chunk that
// contains lo, as the balancer does since 6.0.3. It locks Mu itself.
func (c *Cluster) MoveRange(ctx context.Context, ns string, lo bson.Raw, to string, o MoveOptions) error {
	c.Mu.RLock()
	lo, hi, err := c.rangeToMove(ns, lo, nil)
	c.Mu.RUnlock()
	if err != nil {
		return err
	}
	o.Range = true
	return c.Move(ctx, ns, lo, hi, to, o)
}

// rangeToMove completes and checks the bounds. The caller holds Mu.
func (c *Cluster) rangeToMove(ns string, lo, hi bson.Raw) (bson.Raw, bson.Raw, error) {
	r := c.Routing(ns)
	if r == nil {
		if c.unsharded(ns) != nil {
			return nil, nil, status.Errorf(status.NamespaceNotSharded, "Can't execute moveRange on unsharded collection %s", ns)
		}
		if c.since(8) {
			return nil, nil, status.Errorf(status.NamespaceNotFound, "collection %s not found", ns)
		}
		return nil, nil, c.notSharded(ns)
	}
	for _, b := range []*bson.Raw{&lo, &hi} {
		if *b == nil {
			continue
		}
		full, ok := r.pattern.normalize(*b)
		if !ok && c.since(8) {
			if err := c.busyDonor(r, *b); err != nil {
				return nil, nil, err
			}
		}
		if !ok {
			return nil, nil, status.Errorf(status.BadValue, "The bound %s is not a full shard key of pattern %s", text(*b), text(r.Key))
		}
		*b = full
	}
	switch {
	case hi == nil:
		hi = c.rangeEnd(r, lo)
	case lo == nil:
		lo = c.rangeStart(r, hi)
	}
	if r.chunkAround(lo, hi) == nil {
		return nil, nil, status.Errorf(40165, "Could not find a chunk including bounds %s", rangeText(lo, hi))
	}
	return lo, hi, nil
}

// busyDonor is the error of a shard that takes part in another migration: 8.0 finds the shard of a bound by its values
// alone, and only that shard looks at the names.
func (c *Cluster) busyDonor(r *Routing, bound bson.Raw) error {
	if value.Len(bound) != len(r.pattern.fields) {
		return nil
	}
	if err := c.moves.busy(r.Owner(bound), nil); err != nil {
		return sourceError(err)
	}
	return nil
}

// rangeEnd is the end of a range that begins at lo: after about one chunk size, or at
// the end of its chunk (db/s/auto_split_vector.cpp).
func (c *Cluster) rangeEnd(r *Routing, lo bson.Raw) bson.Raw {
	ch := r.chunks[r.indexOf(lo)]
	coll := c.data(ch.Shard, r.NS)
	if coll == nil || coll.Len() == 0 {
		return ch.Max
	}
	average, size := max(coll.Bytes()/int64(coll.Len()), 1), int64(0)
	var last bson.Raw
	for _, doc := range coll.Range(r.Key, lo, ch.Max) {
		key, err := r.KeyOf(doc)
		if err != nil {
			break
		}
		if size+average > c.chunkSizeOf(r) && last != nil && compareKeys(key, last) != 0 {
			return key
		}
		size, last = size+average, key
	}
	return ch.Max
}

// rangeStart is the start of a range of about one chunk size that ends at hi.
func (c *Cluster) rangeStart(r *Routing, hi bson.Raw) bson.Raw {
	i := r.indexOf(hi)
	if compareKeys(r.chunks[i].Min, hi) == 0 && i > 0 {
		i--
	}
	ch := r.chunks[i]
	coll := c.data(ch.Shard, r.NS)
	if coll == nil || coll.Len() == 0 {
		return ch.Min
	}
	keep := int(c.chunkSizeOf(r) / max(coll.Bytes()/int64(coll.Len()), 1))
	var keys []bson.Raw
	for _, doc := range coll.Range(r.Key, ch.Min, hi) {
		if key, err := r.KeyOf(doc); err == nil {
			keys = append(keys, key)
		}
	}
	if len(keys) <= keep {
		return ch.Min
	}
	// Documents with the same key must stay together, so the range starts at the next
	// different key.
	first := len(keys) - keep
	for first < len(keys) && compareKeys(keys[first], keys[first-1]) == 0 {
		first++
	}
	if first == len(keys) {
		return ch.Min
	}
	return keys[first]
}
