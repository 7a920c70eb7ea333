package catalog

import (
	"cmp"
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// runMoveCollection moves an unsharded collection to another shard (8.0). It is
// implemented as a resharding to one chunk: the collection gets a new uuid and stays
// tracked. The error codes are assumed.
func (c *Cluster) runMoveCollection(ctx context.Context, req *engine.Request, ns string) (bson.D, error) {
	to, ok := req.Lookup("toShard").StringValueOK()
	if !ok {
		return nil, missingField(req.Name, "toShard")
	}
	return c.joinResharding(ctx, req, func() (*resharding, error) { return c.beginMoveCollection(ctx, ns, to) })
}

func (c *Cluster) beginMoveCollection(ctx context.Context, ns, to string) (*resharding, error) {
	if c.shard(to) == nil {
		return nil, noShard(to)
	}
	if o := c.reshard; o != nil {
		return o.joinOrRefuse(ns, "moveCollection", to)
	}
	if c.Routing(ns) != nil {
		return nil, status.Errorf(status.NamespaceNotFound, "MoveCollection can only be called on an unsharded collection.")
	}
	r, err := c.track(ns)
	if err != nil || r.chunks[0].Shard == to {
		return nil, err
	}
	return c.toOneShard(ctx, "moveCollection", r, to)
}

// runUnshardCollection moves all documents of a sharded collection to one shard (8.0):
// the given one, or the one with the least data.
func (c *Cluster) runUnshardCollection(ctx context.Context, req *engine.Request, ns string) (bson.D, error) {
	to, _ := req.Lookup("toShard").StringValueOK()
	return c.joinResharding(ctx, req, func() (*resharding, error) { return c.beginUnshard(ctx, ns, to) })
}

func (c *Cluster) beginUnshard(ctx context.Context, ns, to string) (*resharding, error) {
	if to != "" && c.shard(to) == nil {
		return nil, noShard(to)
	}
	if o := c.reshard; o != nil {
		return o.joinOrRefuse(ns, "unshardCollection", to)
	}
	r := c.Routing(ns)
	if c.unsharded(ns) != nil {
		return nil, status.Errorf(status.NamespaceNotSharded,
			"Collection is already unsharded. Call moveCollection to move this collection to a different shard.")
	}
	if r == nil {
		return nil, status.Errorf(status.NamespaceNotSharded, "Namespace must be sharded to perform an unshardCollection command")
	}
	return c.toOneShard(ctx, "unshardCollection", r, cmp.Or(to, c.emptiestShard()))
}

// joinOrRefuse returns the running operation if it is the same, otherwise an error.
func (o *resharding) joinOrRefuse(ns, command, to string) (*resharding, error) {
	if o.NS == ns && o.Command == command && (to == "" || o.To == to) {
		return o, nil
	}
	return nil, status.Errorf(status.ReshardCollectionInProgress, "Only one resharding operation is allowed to be active at a time")
}

func (c *Cluster) toOneShard(ctx context.Context, command string, r *Routing, to string) (*resharding, error) {
	if c.life.Err() != nil {
		return nil, errShutdown()
	}
	o := c.newResharding(command, r, idPattern())
	o.To, o.force = to, true
	o.start(ctx)
	return o, nil
}

// idPattern is the key of every collection that is tracked without being sharded.
func idPattern() pattern {
	p, err := parsePattern(encode(value.D("_id", int32(1))))
	if err != nil {
		panic(err)
	}
	return p
}

// track adds the document and the only chunk of an unsharded collection.
func (c *Cluster) track(ns string) (*Routing, error) {
	if r := c.unsharded(ns); r != nil {
		return r, nil
	}
	db, _, _ := splitNS(ns)
	primary, _ := c.Primary(db)
	coll := c.data(primary, ns)
	if coll == nil {
		return nil, status.Errorf(status.NamespaceNotFound, "Namespace %s not found", ns)
	}
	c.logChange(primary, "createCollection.start", ns, value.D("shardKey", idPattern().raw, "collection", ns,
		"primary", primary))
	at := c.Timestamp()
	r := c.newRouting(ns, idPattern(), coll.UUID, false, c.objectID(configServer), at)
	r.newer.unsplittable = true
	c.tables[r.NS] = r
	c.saveCollection(r)
	r.setChunks([]*Chunk{c.placeChunk(r, r.pattern.min(), r.pattern.max(), primary, bson.Timestamp{T: 1}, at)})
	c.notePlacement(r)
	c.logChange(primary, "createCollection.end", ns, value.D("uuid", uuidValue(r.UUID), c.release.createdVersion(r),
		"empty", coll.Len() == 0, "numChunks", int32(1)))
	return r, nil
}

// runUntrack forgets that an unsharded collection was tracked: it must be on the primary shard of its database
// (db/s/untrack_unsplittable_collection_coordinator.cpp).
func (c *Cluster) runUntrack(_ context.Context, req *engine.Request, ns string) (bson.D, error) {
	if c.Routing(ns) != nil {
		return nil, status.Errorf(status.InvalidNamespace, "Collection %s must not be sharded", ns)
	}
	r := c.unsharded(ns)
	if r == nil {
		return bson.D{}, nil
	}
	db, _, _ := splitNS(ns)
	primary, _ := c.Primary(db)
	if r.chunks[0].Shard != primary {
		return nil, status.Errorf(status.OperationFailed, "In order to untrack the collection it must be located in the primary db")
	}
	c.logChange(primary, "untrackCollection.start", ns, nil)
	c.untrack(ns)
	c.writePlacement(ns, &r.UUID, c.Timestamp())
	c.logChange(primary, "untrackCollection.end", ns, nil)
	return bson.D{}, nil
}

// untrack removes the document of an unsharded collection and keeps its data.
func (c *Cluster) untrack(ns string) {
	if r := c.unsharded(ns); r != nil {
		c.forgetCollection(r, false)
	}
}
