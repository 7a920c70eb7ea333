package simcluster

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/value"
)

// selection says which documents of a target to read.
type selection struct {
	filter  *query.Filter
	sort    *query.Sort
	order   bson.Raw // what sort was compiled from
	skip    int64
	limit   int64 // 0: no limit
	hint    bson.RawValue
	reverse bool // {$natural: -1}
}

// gather reads the selected documents of all sources and merges them: in sort
// order, or source after source. The caller holds catalog.Mu.
func (t target) gather(ctx context.Context, s selection) ([]bson.Raw, error) {
	one := len(t.sources) == 1
	var lists [][]bson.Raw
	for _, src := range t.sources {
		if src.coll == nil {
			continue
		}
		q := engine.Query{Filter: s.filter, Sort: s.order, Hint: s.hint, Owned: src.owned}
		if one && s.reverse {
			q.Sort = backward
		}
		switch {
		case one:
			q.Skip, q.Limit = s.skip, s.limit
		case s.limit > 0 && !s.reverse:
			q.Limit = s.skip + s.limit
		}
		docs, err := drain(ctx, src.coll.Query(q))
		if err != nil {
			return nil, err
		}
		lists = append(lists, docs)
	}
	docs := merge(lists, s.sort)
	if s.reverse && !one {
		for i, j := 0, len(docs)-1; i < j; i, j = i+1, j-1 {
			docs[i], docs[j] = docs[j], docs[i]
		}
	}
	if one {
		return docs, nil
	}
	docs = docs[min(s.skip, int64(len(docs))):]
	if s.limit > 0 && s.limit < int64(len(docs)) {
		docs = docs[:s.limit]
	}
	return docs, nil
}

// backward is the sort of a read against the order of insertion.
var backward = encode(bson.D{{Key: "$natural", Value: int32(-1)}})

// drain reads an engine cursor to its end and checks ctx now and then.
func drain(ctx context.Context, cur *engine.Cursor) ([]bson.Raw, error) {
	var docs []bson.Raw
	for cur.Next() {
		docs = append(docs, cur.Doc())
		if len(docs)%256 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	if err := cur.Err(); err != nil {
		return nil, err
	}
	return docs, ctx.Err()
}

// merge joins lists that are each in sort order; without a sort it appends them.
func merge(lists [][]bson.Raw, by *query.Sort) []bson.Raw {
	switch {
	case len(lists) == 0:
		return nil
	case len(lists) == 1:
		return lists[0]
	}
	total := 0
	for _, l := range lists {
		total += len(l)
	}
	out := make([]bson.Raw, 0, total)
	if by == nil {
		for _, l := range lists {
			out = append(out, l...)
		}
		return out
	}
	heads := make([][]bson.RawValue, len(lists))
	for len(out) < total {
		best := -1
		for i, l := range lists {
			if len(l) == 0 {
				continue
			}
			if heads[i] == nil {
				heads[i] = by.Key(l[0])
			}
			if best < 0 || by.CompareKeys(heads[i], heads[best]) < 0 {
				best = i
			}
		}
		out = append(out, lists[best][0])
		lists[best], heads[best] = lists[best][1:], nil
	}
	return out
}

// hasKey reports whether a document has a field of that name, for arguments that
// only have to be there.
func hasKey(doc bson.Raw, key string) bool { return value.Field(doc, key).Type != 0 }
