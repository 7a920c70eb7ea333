package simcluster

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/value"
)

// expireEvery is how often expired documents are deleted (ttlMonitorSleepSecs).
const expireEvery = time.Minute

// expireRegularly deletes expired documents until ctx ends.
func (c *Cluster) expireRegularly(ctx context.Context) {
	tick := time.NewTicker(expireEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			c.ExpireDocuments()
		}
	}
}

// ExpireDocuments deletes the documents that TTL indexes have let expire by the
// cluster's time, and returns their number. After Start it happens every minute by
// itself, except in a still cluster. Documents that a transaction changes stay until the
// next time.
func (c *Cluster) ExpireDocuments() (n int) {
	c.catalog.Mu.Lock()
	defer c.catalog.Mu.Unlock()
	for _, node := range c.catalog.Shards {
		for _, db := range node.Databases() {
			for _, coll := range node.Colls(db) {
				if c.catalog.CheckPrimaryMove(db, coll.Name) != nil {
					continue
				}
				for _, spec := range coll.Indexes() {
					n += c.expireBy(coll, spec)
				}
			}
		}
	}
	return n
}

// expireBy deletes the documents that expired by one index. Like the server it ignores
// the option on an index of several fields. An array expires with its earliest date.
func (c *Cluster) expireBy(coll *engine.Coll, spec bson.Raw) (n int) {
	seconds := value.Field(spec, "expireAfterSeconds")
	key := bson.Raw(value.Field(spec, "key").Value)
	fields, err := key.Elements()
	if !value.IsNumber(seconds) || err != nil || len(fields) != 1 {
		return 0
	}
	before := c.catalog.Now().Add(-time.Duration(value.Float(seconds) * float64(time.Second)))
	condition := value.D(fields[0].Key(), value.D("$lte", bson.NewDateTimeFromTime(before)))
	if partial, ok := value.Field(spec, "partialFilterExpression").DocumentOK(); ok {
		condition = value.D("$and", bson.A{condition, partial})
	}
	filter, err := query.Parse(encode(condition), nil)
	if err != nil {
		return 0
	}
	found, err := target{sources: []source{{coll: coll}}}.findDocuments(c.life.ctx, engine.Query{Filter: filter})
	if err != nil {
		return 0
	}
	for _, rec := range found {
		if gone, err := c.transactions.write(nil, coll, rec.id, nil); gone && err == nil {
			n++
		}
	}
	return n
}
