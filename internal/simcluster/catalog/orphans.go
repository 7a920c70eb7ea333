package catalog

import (
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
)

// orphanRange is the range of a moved chunk on its donor. The documents are kept for
// running queries and deleted later.
type orphanRange struct {
	ns       string
	uuid     [16]byte
	shard    string
	min, max bson.Raw
	left     time.Time // the chunk's commit
	due      time.Time
	gone     chan struct{} // closed when the documents are deleted
}

// leaveOrphans schedules the deletion of a moved chunk's documents on the donor.
func (c *Cluster) leaveOrphans(r *Routing, shard string, lo, hi bson.Raw, delay time.Duration) *orphanRange {
	now := c.Now()
	o := &orphanRange{
		ns: r.NS, uuid: r.UUID, shard: shard, min: lo, max: hi, left: now, due: now.Add(delay), gone: make(chan struct{}),
	}
	c.orphans = append(c.orphans, o)
	return o
}

// held reports whether an open cursor keeps the shard from deleting the range.
func (c *Cluster) held(o *orphanRange) bool {
	return c.opts.Held != nil && c.opts.Held(o.ns, o.shard, o.left, c.Now())
}

// orphansIn is a pending orphan range on shard that overlaps [lo, hi), or nil.
func (c *Cluster) orphansIn(r *Routing, shard string, lo, hi bson.Raw) *orphanRange {
	for _, o := range c.orphans {
		if o.ns == r.NS && o.shard == shard && o.uuid == r.UUID && compareKeys(o.min, hi) < 0 && compareKeys(lo, o.max) < 0 {
			return o
		}
	}
	return nil
}

// CleanOrphans deletes the orphans that are due. The caller holds Mu for writing.
func (c *Cluster) CleanOrphans() {
	now := c.Now()
	c.orphans = slices.DeleteFunc(c.orphans, func(o *orphanRange) bool {
		if o.due.After(now) || c.held(o) {
			return false
		}
		if r := c.routes[o.ns]; r != nil && r.UUID == o.uuid {
			c.deleteRange(r, o.shard, o.min, o.max)
		}
		close(o.gone)
		return true
	})
}

// forgetOrphans removes the pending ranges of a dropped collection.
func (c *Cluster) forgetOrphans(uuid [16]byte) {
	c.orphans = slices.DeleteFunc(c.orphans, func(o *orphanRange) bool {
		if o.uuid != uuid {
			return false
		}
		close(o.gone)
		return true
	})
}

// Orphans counts the orphaned documents of a namespace on shard. It reads every
// document of the pending ranges. The caller holds Mu.
func (c *Cluster) Orphans(ns, shard string) int {
	r, n := c.routes[ns], 0
	coll := c.data(shard, ns)
	if r == nil || coll == nil {
		return 0
	}
	for _, o := range c.orphans {
		if o.ns == ns && o.shard == shard && o.uuid == r.UUID {
			rangeByKey(coll, r, o.min, o.max, func(engine.RecordID, bson.Raw) bool { n++; return true })
		}
	}
	return n
}

// deleteRange removes a shard's documents in [lo, hi).
func (c *Cluster) deleteRange(r *Routing, shard string, lo, hi bson.Raw) {
	coll := c.data(shard, r.NS)
	if coll == nil {
		return
	}
	var ids []engine.RecordID
	rangeByKey(coll, r, lo, hi, func(id engine.RecordID, _ bson.Raw) bool {
		ids = append(ids, id)
		return true
	})
	for _, id := range ids {
		coll.Delete(id)
	}
}
