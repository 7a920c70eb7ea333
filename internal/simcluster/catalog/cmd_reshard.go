package catalog

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// runReshardCollection changes a collection's shard key. It answers when the operation
// is finished; a repeated request joins the running operation.
func (c *Cluster) runReshardCollection(ctx context.Context, req *engine.Request) (bson.D, error) {
	ns, err := namespace(req)
	if err != nil {
		return nil, err
	}
	raw, ok := req.Lookup("key").DocumentOK()
	if !ok {
		return nil, status.Errorf(40414, "BSON field 'reshardCollection.key' is missing but a required field")
	}
	p, err := parsePattern(raw)
	if err != nil {
		return nil, err
	}
	if truthy(req.Lookup("unique")) {
		return nil, status.Errorf(status.BadValue, "unique: true is not supported by reshardCollection")
	}
	n, given := asInt64(req.Lookup("numInitialChunks"))
	if !given {
		n = 90 // reshardingNumInitialChunks
	}
	c.Mu.Lock()
	o, err := c.beginReshard(ctx, ns, p, req.Lookup("zones"), n, truthy(req.Lookup("forceRedistribution")))
	o.sentBy(req)
	c.Mu.Unlock()
	return o.result(ctx, err)
}

// beginReshard checks the request and starts the operation, or returns the running one.
// It returns nil when the collection already has that key. The caller holds Mu.
func (c *Cluster) beginReshard(ctx context.Context, ns string, p pattern, zones bson.RawValue, chunks int64, again bool,
) (*resharding, error) {
	if o := c.reshard; o != nil {
		if o.ns == ns && o.command == "reshardCollection" && value.CompareDocs(o.key.raw, p.raw) == 0 {
			return o, nil
		}
		return nil, status.Errorf(status.ReshardCollectionInProgress, "Only one resharding operation is allowed to be active at a time")
	}
	r := c.routes[ns]
	if r == nil {
		return nil, status.Errorf(status.NamespaceNotSharded, "Collection %s is not sharded.", ns)
	}
	if value.CompareDocs(r.Key, p.raw) == 0 && !(again && c.features.unsplittable) {
		return nil, nil
	}
	if len(c.zones[ns]) > 0 && zones.Type != bson.TypeArray {
		return nil, status.Errorf(status.BadValue, "Must specify value for zones field")
	}
	list, err := c.reshardZones(p, zones)
	if err != nil {
		return nil, err
	}
	if c.life.Err() != nil {
		return nil, errShutdown()
	}
	o := c.newResharding("reshardCollection", r, p)
	o.zonesGiven = zones
	o.zones, o.initial, o.force = list, max(chunks, 1), again
	o.start(ctx)
	return o, nil
}

// reshardZones reads the zone ranges that replace the collection's current ones.
func (c *Cluster) reshardZones(p pattern, zones bson.RawValue) ([]*Zone, error) {
	array, ok := zones.ArrayOK()
	if !ok {
		return nil, nil
	}
	values, _ := array.Values()
	var list []*Zone
	for _, v := range values {
		d, ok := v.DocumentOK()
		if !ok {
			return nil, status.Errorf(status.TypeMismatch, "BSON field 'reshardCollection.zones' is the wrong type")
		}
		lo, _ := d.Lookup("min").DocumentOK()
		hi, _ := d.Lookup("max").DocumentOK()
		name, _ := d.Lookup("zone").StringValueOK()
		z := &Zone{Name: name}
		var ok1, ok2 bool
		if z.Min, ok1 = p.extend(lo); ok1 {
			z.Max, ok2 = p.extend(hi)
		}
		if !ok1 || !ok2 || compareKeys(z.Min, z.Max) >= 0 {
			return nil, status.Errorf(status.BadValue, "zone range %s is not valid for shard key pattern %s", rangeText(lo, hi), text(p.raw))
		}
		if !c.zoneExists(name) {
			return nil, status.Errorf(status.ZoneNotFound, "zone %s does not exist", name)
		}
		list = append(list, z)
	}
	return list, nil
}

// runAbortReshardCollection aborts a running resharding, whose client then gets error
// 341.
func (c *Cluster) runAbortReshardCollection(ctx context.Context, req *engine.Request) (bson.D, error) {
	ns, err := namespace(req)
	if err != nil {
		return nil, err
	}
	c.Mu.Lock()
	o, err := c.runningOperation(ns, req.Name)
	if err != nil {
		c.Mu.Unlock()
		return nil, err
	}
	if o.state == "committing" {
		c.Mu.Unlock()
		return nil, status.Errorf(status.ReshardCollectionCommitted, "Can't abort resharding operation after deciding to commit")
	}
	if !o.aborted {
		o.aborted = true
		close(o.abort)
	}
	c.Mu.Unlock()
	return bson.D{}, await(ctx, o.done)
}
