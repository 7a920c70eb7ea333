package simcluster

import (
	"context"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// countArgs are the arguments of a count.
type countArgs struct {
	db, coll string
	filter   *query.Filter
	skip     int64
	limit    int64
	hint     bson.RawValue
}

func (c *Cluster) parseCount(r *engine.Request) (a countArgs, err error) {
	p := c.arguments(r)
	a.db, a.coll = p.namespace()
	a.filter = p.filter("query")
	a.skip, _ = p.count("skip")
	if v := r.Lookup("limit"); v.Type != 0 {
		// The server treats a negative limit like a positive one.
		n, ok := wholeNumber(v)
		if !ok {
			p.keep(wrongType("count.limit", v, "long"))
		}
		a.limit = max(n, -n)
	}
	a.hint = r.Lookup("hint")
	return a, p.err
}

// count sums what the shards counted. Without a filter a shard answers from its
// collection's size, orphans included, as a real one does.
func (c *Cluster) count(ctx context.Context, r *engine.Request) (bson.D, error) {
	a, err := c.parseCount(r)
	if err != nil {
		return nil, err
	}
	c.catalog.Mu.RLock()
	defer c.catalog.Mu.RUnlock()
	shards, total := bson.D{}, int64(0)
	t := c.target(a.db, a.coll, a.filter)
	defer c.timed(t, false, time.Now())
	for _, s := range t.sources {
		n, err := s.count(ctx, a)
		if err != nil {
			return nil, err
		}
		shards = append(shards, bson.E{Key: s.shard, Value: number(n)})
		total += n
	}
	total = max(total-a.skip, 0)
	if a.limit > 0 {
		total = min(total, a.limit)
	}
	reply := value.D("n", number(total))
	if len(t.sources) > 0 {
		reply = bson.D{{Key: "shards", Value: shards}, reply[0]}
	}
	return reply, nil
}

func (s source) count(ctx context.Context, a countArgs) (int64, error) {
	if s.coll == nil {
		return 0, nil
	}
	if a.filter.Empty() && a.hint.Type == 0 {
		return int64(s.coll.Len()), nil
	}
	q := engine.Query{Filter: a.filter, Hint: a.hint, Owned: s.owned}
	if a.limit > 0 {
		q.Limit = a.skip + a.limit
	}
	cur := s.coll.Query(ctx, q)
	n := len(drain(cur))
	return int64(n), cur.Err()
}

// distinct returns the distinct values of a field in canonical order: a mongos merges
// the shards' values in a sorted set.
func (c *Cluster) distinct(ctx context.Context, r *engine.Request, db, coll string) (bson.D, error) {
	key, ok := r.Lookup("key").StringValueOK()
	if !ok || key == "" {
		return nil, wrongType("distinct.key", r.Lookup("key"), "string")
	}
	p := c.arguments(r)
	filter := p.filter("query")
	if p.err != nil {
		return nil, p.err
	}
	docs, err := c.read(ctx, db, coll, selection{filter: filter})
	if err != nil {
		return nil, err
	}
	var values []bson.RawValue
	path := strings.Split(key, ".")
	for _, d := range docs {
		value.Walk(d, path, false, func(v bson.RawValue) bool {
			values = distinctValues(values, v)
			return true
		})
	}
	slices.SortStableFunc(values, value.Compare)
	values = slices.CompactFunc(values, value.Equal)
	size := 0
	for _, v := range values {
		if size += len(v.Value) + 8; size > maxDocument {
			return nil, status.Errorf(17217, "distinct too big, 16mb cap")
		}
	}
	return value.D("values", value.Array(values...)), nil
}

// distinctValues adds a value, or the elements of an array.
func distinctValues(list []bson.RawValue, v bson.RawValue) []bson.RawValue {
	switch v.Type {
	case 0:
		return list
	case bson.TypeArray:
	default:
		return append(list, v)
	}
	for item := range value.Items(v) {
		list = append(list, item)
	}
	return list
}

// number is an int32 where it fits, as BSONObjBuilder's appendNumber writes it.
func number(n int64) any {
	if n == int64(int32(n)) {
		return int32(n)
	}
	return n
}
