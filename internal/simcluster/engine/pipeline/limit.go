package pipeline

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

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
type limit int64

func (n limit) run(in Docs) Docs {
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

// skip passes over the first n documents.
type skip int64

func (n skip) run(in Docs) Docs {
	return func(yield func(bson.Raw, error) bool) {
		left := n
		for doc, err := range in {
			if left > 0 && err == nil {
				left--
				continue
			}
			if !yield(doc, err) || err != nil {
				return
			}
		}
	}
}
