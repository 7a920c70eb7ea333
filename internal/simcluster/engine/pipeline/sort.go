package pipeline

import (
	"math/rand/v2"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func (c *compiler) sort(arg bson.RawValue) (stage, error) {
	if arg.Type != bson.TypeEmbeddedDocument {
		return nil, status.Errorf(15973, "the $sort key specification must be an object")
	}
	order, err := query.ParseSort(arg.Value)
	if err == nil && order == nil {
		err = status.Errorf(15976, "$sort stage must have at least one sort key")
	}
	return sorted(order), err
}

// sorted sorts; documents with equal keys keep their order.
func sorted(order *query.Sort) stage {
	return whole(func(docs []bson.Raw) ([]bson.Raw, error) {
		order.Sort(docs)
		return docs, nil
	})
}

// count reads the argument of $limit or $skip.
func count(name string, arg bson.RawValue) (int64, error) {
	n, ok := value.Long(arg)
	switch {
	case n < 0 || !ok:
		what := "a number"
		if value.IsNumber(arg) {
			what = "a non-negative number"
		}
		code := int32(5107200) // $skip
		if name == "$limit" {
			code = 5107201
		}
		return 0, status.Errorf(code, "invalid argument to %s stage: Expected %s in: %s: %s", name, what, name, expr.Text(arg))
	case n == 0 && name == "$limit":
		return 0, status.Errorf(15958, "the limit must be positive")
	}
	return n, nil
}

func (c *compiler) limit(name string, arg bson.RawValue) (stage, error) {
	n, err := count(name, arg)
	if err != nil {
		return nil, err
	}
	if name == "$skip" {
		return skip(n), nil
	}
	return limit(n), nil
}

// limit stops reading after n documents.
func limit(n int64) stage {
	return func(in Docs) Docs {
		return func(yield func(bson.Raw, error) bool) {
			left := n
			for doc, err := range in {
				left--
				if !yield(doc, err) || err != nil || left == 0 {
					return
				}
			}
		}
	}
}

// skip passes over the first n documents.
func skip(n int64) stage {
	return func(in Docs) Docs {
		left := n
		return each(func(doc bson.Raw, out func(bson.Raw) bool) (bool, error) {
			if left > 0 {
				left--
				return true, nil
			}
			return out(doc), nil
		})(in)
	}
}

func (c *compiler) sample(arg bson.RawValue) (stage, error) {
	size, ok := value.Long(value.Field(arg.Value, "size"))
	if !ok || size < 0 || arg.Type != bson.TypeEmbeddedDocument {
		return nil, status.Errorf(28747, "size argument to $sample must not be negative")
	}
	shuffle := rand.Shuffle
	if c.env.Rand != nil {
		shuffle = c.env.Rand.Shuffle
	}
	return whole(func(docs []bson.Raw) ([]bson.Raw, error) {
		shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
		return docs[:min(size, int64(len(docs)))], nil
	}), nil
}
