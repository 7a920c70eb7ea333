package pipeline

import (
	"math"
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
	if value.Len(arg.Value) == 0 {
		return nil, status.Errorf(15976, "$sort stage must have at least one sort key")
	}
	for _, v := range value.Elements(arg.Value) {
		if !value.IsNumber(v) {
			return nil, status.Errorf(15974,
				"Illegal key in $sort specification: $sort key ordering must be specified using a number or {$meta: 'textScore'}")
		}
		if f := value.Float(v); f != 1 && f != -1 {
			return nil, status.Errorf(15975, "$sort key ordering must be 1 (for ascending) or -1 (for descending)")
		}
	}
	order, err := query.ParseSort(arg.Value)
	if err != nil {
		return nil, err
	}
	return sorted(order), nil
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
	bad := func(why string) error {
		code := int32(5107200) // $skip
		if name == "$limit" {
			code = 5107201
		}
		return status.Errorf(code, "invalid argument to %s stage: %s: %s: %s", name, why, name, expr.Text(arg))
	}
	if !value.IsNumber(arg) {
		return 0, bad("Expected a number in")
	}
	n, ok := value.Long(arg)
	f := value.Float(arg)
	switch {
	case !ok && !(f == math.Trunc(f) && !math.IsInf(f, 0)):
		return 0, bad("Expected an integer")
	case !ok:
		return 0, bad("Cannot represent as a 64-bit integer")
	case n < 0:
		return 0, bad("Expected a non-negative number in")
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
	if arg.Type != bson.TypeEmbeddedDocument {
		return nil, status.Errorf(28745, "the $sample stage specification must be an object")
	}
	size := int64(-1)
	for k, v := range value.Elements(arg.Value) {
		if k != "size" {
			return nil, status.Errorf(28748, "unrecognized option to $sample: %s", k)
		}
		if !value.IsNumber(v) {
			return nil, status.Errorf(28746, "size argument to $sample must be a number")
		}
		f := value.Float(v)
		if f < 0 {
			return nil, status.Errorf(28747, "size argument to $sample must not be negative")
		}
		size = int64(f)
	}
	if size < 0 {
		return nil, status.Errorf(28749, "$sample stage must specify a size")
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
