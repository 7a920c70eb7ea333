package catalog

import (
	"context"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// runRefineCollectionShardKey lengthens the shard key. Versions stay, every bound
// gets MinKey in the new fields (the global maximum MaxKey), jumbo flags go, epoch
// and timestamp are new (db/s/config/sharding_catalog_manager_collection_operations.cpp).
func (c *Cluster) runRefineCollectionShardKey(ctx context.Context, req *engine.Request, ns string) (bson.D, error) {
	p, err := keyArgument(req)
	if err != nil {
		return nil, err
	}
	if c.since(8) {
		return bson.D{}, c.refineByCoordinator(ctx, ns, p)
	}
	if err := c.Quiesce(ctx, ns); err != nil {
		return nil, err
	}
	defer c.Mu.Unlock()
	return bson.D{}, c.checkAndRefine(ns, p)
}

// refineByCoordinator refines as 8.0 does: a coordinator on the primary shard stops the migrations of the collection,
// waits for that which runs, and goes on when its client has given up. The next primary begins again. Both the stop and
// its end raise the newest chunk's version, once the collection is in no critical section.
func (c *Cluster) refineByCoordinator(ctx context.Context, ns string, p pattern) error {
	done := make(chan struct{})
	var result error
	c.work.Go(func() {
		defer close(done)
		if result = c.life.Err(); result != nil {
			return
		}
		bump := func() {
			if r := c.Routing(ns); r != nil {
				c.bumpNewest(r)
			}
		}
		c.Mu.Lock()
		m := c.moves.donating(ns, "")
		stopped := c.changesKey(ns, p) && (m == nil || m.Step < 5)
		downs := c.stepDowns[c.coordinator(ns)]
		if stopped {
			bump()
		}
		c.Mu.Unlock()
		if result = c.Quiesce(c.life, ns); result != nil {
			return
		}
		defer c.Mu.Unlock()
		if !c.changesKey(ns, p) {
			result = c.checkAndRefine(ns, p)
			return
		}
		if !stopped || c.stepDowns[c.coordinator(ns)] != downs {
			bump()
		}
		result = c.checkAndRefine(ns, p)
		bump()
	})
	if err := await(ctx, done); err != nil {
		return err
	}
	return result
}

// changesKey reports whether a collection is there and has a key that the new one continues.
func (c *Cluster) changesKey(ns string, p pattern) bool {
	r := c.Routing(ns)
	return r != nil && value.CompareDocs(r.Key, p.raw) != 0 && isPrefix(r.Key, p.raw)
}

// checkAndRefine refines a key that may be refined. The caller holds Mu.
func (c *Cluster) checkAndRefine(ns string, p pattern) error {
	r := c.Routing(ns)
	if r == nil {
		return status.Errorf(status.NamespaceNotSharded, "refineCollectionShardKey namespace %s is not sharded", ns)
	}
	if value.CompareDocs(r.Key, p.raw) == 0 {
		return nil
	}
	if !isPrefix(r.Key, p.raw) {
		return status.Errorf(status.InvalidOptions,
			"refineCollectionShardKey shard key %s does not extend the current shard key %s", text(p.raw), text(r.Key))
	}
	for _, shard := range r.ShardsOwning() {
		if coll := c.data(shard, ns); coll != nil && !supports(coll, p.raw) {
			if c.since(8) {
				return status.Errorf(status.InvalidOptions, "Failed command { _shardsvrValidateShardKeyCandidate: %q, key: %s } for "+
					"database '%s' on shard '%s' :: caused by :: Please create an index that starts with the proposed shard key before "+
					"refining the collection's shard key. ", ns, text(p.raw), strings.SplitN(ns, ".", 2)[0], shard)
			}
			return status.Errorf(status.InvalidOptions,
				"Please create an index that starts with the proposed shard key before refining the shard key of the collection")
		}
	}
	if err := c.uniqueStays(r, p); err != nil {
		return err
	}
	c.refine(r, p)
	return nil
}

// uniqueStays refuses a key that does not prefix every unique index but that of _id: no
// shard alone could keep the others unique (db/s/shard_key_util.cpp).
func (c *Cluster) uniqueStays(r *Routing, p pattern) error {
	for _, shard := range r.ShardsOwning() {
		coll := c.data(shard, r.NS)
		if coll == nil {
			continue
		}
		for _, spec := range coll.Indexes() {
			index, ok := spec.Lookup("key").DocumentOK()
			if !ok || !truthy(spec.Lookup("unique")) || namesPrefix(p.raw, index) {
				continue
			}
			return status.Errorf(status.InvalidOptions, "can't shard collection '%s' with unique index on %s and proposed shard key %s. "+
				"Uniqueness can't be maintained unless shard key is a prefix", r.NS, text(index), text(p.raw))
		}
	}
	return nil
}

// namesPrefix reports whether the field names of a key are the first of an index, or the
// index begins with _id.
func namesPrefix(key, index bson.Raw) bool {
	first, _ := value.First(index)
	return first == "_id" || sameNames(key, index) == value.Len(key)
}

// coordinator is the server that runs and logs a refine: the config server, in 8.0 the
// database's primary shard.
func (c *Cluster) coordinator(ns string) string {
	db, _, _ := splitNS(ns)
	if d := c.dbs[db]; d != nil && c.since(8) {
		return d.primary
	}
	return configServer
}

func (c *Cluster) refine(r *Routing, p pattern) {
	epoch := c.objectID(configServer)
	c.logChange(c.coordinator(r.NS), "refineCollectionShardKey.start", r.NS, value.D("oldKey", r.Key, "newKey", p.raw,
		"oldEpoch", r.Epoch, "newEpoch", epoch))
	top := r.pattern.max()
	longer := func(key bson.Raw) bson.Raw {
		if compareKeys(key, top) == 0 {
			return p.max()
		}
		long, _ := p.extend(key)
		return long
	}
	r.pattern, r.Key, r.Epoch, r.Timestamp = p, p.raw, epoch, c.Timestamp()
	if c.since(8) {
		r.newer.order = []string{"maxChunkSizeBytes", "enableAutoMerge", "noBalance"} // the whole document is written anew
	}
	c.saveCollection(r)
	for _, ch := range r.chunks {
		ch.Min, ch.Max, ch.Jumbo, ch.flagged = longer(ch.Min), longer(ch.Max), false, false
		c.saveChunk(r, ch)
	}
	for _, z := range c.zones[r.NS] {
		z.Min, z.Max = longer(z.Min), longer(z.Max)
		c.config.update("tags", z.record, zoneDocument(r.NS, z))
	}
	for _, o := range c.orphans {
		if o.uuid == r.UUID {
			o.min, o.max = longer(o.min), longer(o.max)
		}
	}
	c.logChange(c.coordinator(r.NS), "refineCollectionShardKey.end", r.NS, nil)
}
