package catalog

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

// runMoveChunk moves the chunk given by a query or by its bounds
// (s/commands/cluster_move_chunk_cmd.cpp).
func (c *Cluster) runMoveChunk(ctx context.Context, req *engine.Request) (bson.D, error) {
	ns, err := namespace(req)
	if err != nil {
		return nil, err
	}
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
	o := MoveOptions{
		Command:       "moveChunk",
		App:           appOf(req),
		ForceJumbo:    truthy(req.Lookup("forceJumbo")),
		WaitForDelete: truthy(req.Lookup("_waitForDelete")) || truthy(req.Lookup("waitForDelete")),
	}
	if err := c.Move(ctx, ns, lo, hi, to, o); err != nil {
		return nil, err
	}
	return bson.D{{Key: "millis", Value: int32(c.Now().Sub(start).Milliseconds())}}, nil
}

// appOf is the application name of the client that sent a command, "" when it has none.
func appOf(req *engine.Request) string {
	if req.Conn == nil {
		return ""
	}
	return req.Conn.App
}

func (c *Cluster) moveTarget(req *engine.Request, ns string) (*Chunk, string, error) {
	r := c.routes[ns]
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
	if c.features.observed8 {
		ch, err := r.chunkToMove(find, lo, hi, bound)
		return ch, to, err
	}
	if (find != nil) == bound {
		return nil, "", status.Plain("need to specify either a find query, or both lower and upper bounds.")
	}
	var ch *Chunk
	if find != nil {
		ch, err = r.chunkOfQuery(find)
	} else {
		ch, err = r.chunkWithBounds(lo, hi)
	}
	return ch, to, err
}

// runSetAllowMigrations forbids or permits all migrations of a collection; the document
// has the field only while they are forbidden.
func (c *Cluster) runSetAllowMigrations(ctx context.Context, req *engine.Request) (bson.D, error) {
	ns, err := namespace(req)
	if err != nil {
		return nil, err
	}
	if req.Lookup("allowMigrations").Type != bson.TypeBoolean {
		return nil, status.Errorf(40414, "BSON field 'setAllowMigrations.allowMigrations' is missing but a required field")
	}
	c.Mu.Lock()
	defer c.Mu.Unlock()
	r := c.routes[ns]
	if r == nil {
		return nil, status.Errorf(status.NamespaceNotSharded, "Collection must be sharded so migrations can be blocked")
	}
	r.Permitted = req.Lookup("allowMigrations").Boolean()
	c.saveCollection(r)
	if c.features.observed8 {
		c.logChange(c.coordinator(ns), "setPermitMigrations", ns, bson.D{{Key: "permitMigrations", Value: r.Permitted}})
	}
	return bson.D{}, nil
}

// runClearJumboFlag clears the flag of a chunk and gives it a new major version
// (db/s/config/sharding_catalog_manager_chunk_operations.cpp, clearJumboFlag).
func (c *Cluster) runClearJumboFlag(_ context.Context, req *engine.Request) (bson.D, error) {
	ns, err := namespace(req)
	if err != nil {
		return nil, err
	}
	c.Mu.Lock()
	defer c.Mu.Unlock()
	r := c.routes[ns]
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
	var ch *Chunk
	if find != nil {
		if ch, err = r.chunkOfQuery(find); err != nil {
			return nil, status.Errorf(51260, "no shard key found in chunk query %s", text(find))
		}
	} else if ch, err = r.chunkWithBounds(lo, hi); err != nil {
		return nil, status.Errorf(51261, "%s", err.Error())
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
	r := c.routes[ns]
	if r == nil {
		return
	}
	if ch := r.chunks[r.indexOf(lo)]; compareKeys(ch.Min, lo) == 0 && !ch.Jumbo {
		ch.Jumbo = true
		c.saveChunk(r, ch)
	}
}
