package simcluster

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/status"
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
	return value.D("firstBatch", rawArray(docs), "id", id, "ns", k.ns), nil
}

// standOnShards notes on which shards an open cursor stands.
func (c *Cluster) standOnShards(ctx context.Context, k *cursor, r *engine.Request, opened time.Time) {
	if k.id == 0 || r.DB == "config" || r.DB == "admin" {
		return
	}
	on := c.shardCursorOf(r, k.ns, opened)
	if on.shards = c.requiredShards(ctx, r); len(on.shards) > 0 {
		c.cursors.mu.Lock()
		defer c.cursors.mu.Unlock()
		k.on = &on
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
	return value.D("cursor", value.D("nextBatch", rawArray(docs), "id", id, "ns", k.ns)), nil
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
	return value.D("cursorsKilled", killed, "cursorsNotFound", missing, "cursorsAlive", bson.A{},
		"cursorsUnknown", bson.A{}), nil
}

// A tailable cursor stays open at the end of a capped collection and goes on with what is inserted. The capped
// collections here are the logs of the config server.

// awaitDefault is how long getMore waits for data without maxTimeMS.
const awaitDefault = time.Second

// tail is the position of a tailable cursor.
type tail struct {
	coll   *engine.Coll
	filter *query.Filter
	last   engine.RecordID
	await  bool
	killed chan struct{} // closed when the cursor is killed while a getMore waits
}

// parseTailable reads the options of a tailable cursor.
func (a *findArgs) parseTailable(r *engine.Request) error {
	a.tailable, a.await = truthy(r.Lookup("tailable")), truthy(r.Lookup("awaitData"))
	switch {
	case a.await && !a.tailable:
		return status.Errorf(status.FailedToParse, "Cannot set 'awaitData' without also setting 'tailable'")
	case !a.tailable:
		return nil
	case a.db != "config" || a.coll != "changelog" && a.coll != "actionlog":
		return status.Errorf(status.BadValue,
			"error processing query: ns=%s.%s tailable cursor requested on non capped collection", a.db, a.coll)
	case truthy(r.Lookup("singleBatch")):
		return status.Errorf(status.FailedToParse, "Cannot use tailable option with the 'singleBatch' option")
	}
	if sort, ok := r.Lookup("sort").DocumentOK(); ok && len(sort) > 5 {
		if n, natural := wholeNumber(sort.Lookup("$natural")); !natural || n != 1 {
			return status.Errorf(status.FailedToParse, "Cannot use tailable option with a sort other than {$natural: 1}")
		}
	}
	return nil
}

// openTail opens a tailable cursor. On an empty collection it is dead from the beginning, as on the server.
func (c *Cluster) openTail(a findArgs) *cursor {
	c.catalog.Mu.RLock()
	defer c.catalog.Mu.RUnlock()
	k := &cursor{ns: a.db + "." + a.coll, keep: a.keep}
	if a.projection != nil {
		k.project = a.projection.Apply
	}
	coll := c.catalog.Config.Coll(a.db, a.coll)
	if coll == nil || coll.Len() == 0 {
		return k
	}
	k.tail = &tail{coll: coll, filter: a.filter, await: a.await, killed: make(chan struct{})}
	k.docs = k.tail.next()
	return k
}

// next are the documents after the position, which moves. The caller holds catalog.Mu.
func (t *tail) next() (out []bson.Raw) {
	for id, doc := range t.coll.After(t.last) {
		t.last = id
		if ok, err := t.filter.Match(doc); ok && err == nil {
			out = append(out, doc)
		}
	}
	return out
}

// follow reads on at the end of a capped collection, and where it awaits data waits until there is some, the cursor is
// killed, or the time is over, which is no error.
func (c *Cluster) follow(ctx context.Context, k *cursor) error {
	t := k.tail
	limit := time.After(awaitDefault)
	if _, given := ctx.Deadline(); given {
		limit = nil
	}
	for {
		c.catalog.Mu.RLock()
		if t.last > 0 && t.coll.Get(t.last) == nil {
			c.catalog.Mu.RUnlock()
			return status.Errorf(status.CappedPositionLost,
				"CollectionScan died due to position in capped collection being deleted. Last seen record id: RecordId(%d)", t.last)
		}
		k.docs = t.next()
		grown := t.coll.Grown()
		c.catalog.Mu.RUnlock()
		if len(k.docs) > 0 || !t.await {
			return nil
		}
		select {
		case <-grown:
		case <-t.killed:
			return status.Errorf(status.CursorKilled, "cursor id %d was killed", k.id)
		case <-limit:
			return nil
		case <-ctx.Done():
			if ctx.Err() == context.DeadlineExceeded {
				return nil
			}
			return ctx.Err()
		}
	}
}
