package simcluster

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/value"
)

// firstBatchReply replies with the first batch and registers the cursor if there is
// more.
func (c *Cluster) firstBatchReply(k *cursor, size int64, single bool) (bson.D, error) {
	docs, err := k.batch(size)
	if err != nil {
		return nil, err
	}
	var id int64
	if !single && k.open() {
		id = c.cursors.open(k)
	}
	return bson.D{
		{Key: "firstBatch", Value: rawArray(docs)},
		{Key: "id", Value: id},
		{Key: "ns", Value: k.ns},
	}, nil
}

// standOnShards notes on which shards an open cursor stands.
func (c *Cluster) standOnShards(ctx context.Context, k *cursor, r *engine.Request, opened time.Time) {
	if k.id == 0 || r.DB == "config" || r.DB == "admin" {
		return
	}
	on := c.shardCursorOf(r, k.ns, opened)
	if on.shards = c.requiredShards(ctx, r); len(on.shards) > 0 {
		c.cursors.stand(k, on)
	}
}

func (c *Cluster) getMore(ctx context.Context, r *engine.Request) (bson.D, error) {
	id, ok := r.Lookup("getMore").Int64OK()
	if !ok {
		return nil, wrongType("getMore.getMore", r.Lookup("getMore"), "long")
	}
	coll, ok := r.Lookup("collection").StringValueOK()
	if !ok {
		return nil, wrongType("getMore.collection", r.Lookup("collection"), "string")
	}
	size, given, err := count(r, "batchSize")
	if err != nil {
		return nil, err
	}
	if !given || size == 0 {
		size = -1
	}
	k, err := c.cursors.take(id, r.DB+"."+coll)
	if err != nil {
		return nil, err
	}
	if k.tail != nil && !k.more() {
		if err := c.follow(ctx, k); err != nil {
			c.cursors.end(k)
			return nil, err
		}
	}
	docs, err := k.batch(size)
	if err != nil {
		c.cursors.end(k)
		return nil, err
	}
	if k.open() {
		c.cursors.put(k)
	} else {
		id = 0
	}
	return bson.D{{Key: "cursor", Value: bson.D{
		{Key: "nextBatch", Value: rawArray(docs)},
		{Key: "id", Value: id},
		{Key: "ns", Value: k.ns},
	}}}, nil
}

func (c *Cluster) killCursors(_ context.Context, r *engine.Request) (bson.D, error) {
	coll, _ := r.Lookup("killCursors").StringValueOK()
	list, ok := r.Lookup("cursors").ArrayOK()
	if !ok {
		return nil, wrongType("killCursors.cursors", r.Lookup("cursors"), "array")
	}
	killed, missing := bson.A{}, bson.A{}
	for e := value.Read(bson.Raw(list)); e.Next(); {
		id, ok := e.Value.Int64OK()
		switch {
		case !ok:
			return nil, wrongType("killCursors.cursors", e.Value, "long")
		case c.cursors.kill(id, r.DB+"."+coll):
			killed = append(killed, id)
		default:
			missing = append(missing, id)
		}
	}
	return bson.D{
		{Key: "cursorsKilled", Value: killed},
		{Key: "cursorsNotFound", Value: missing},
		{Key: "cursorsAlive", Value: bson.A{}},
		{Key: "cursorsUnknown", Value: bson.A{}},
	}, nil
}
