package pipeline

import (
	"math/rand/v2"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

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
	intn, shuffle := rand.IntN, rand.Shuffle
	if c.env.Rand != nil {
		intn, shuffle = c.env.Rand.IntN, c.env.Rand.Shuffle
	}
	return stageFunc(func(in Docs) Docs {
		return func(yield func(bson.Raw, error) bool) {
			// Reservoir sampling: every document has the same probability, and at most size of
			// them are kept.
			var kept []bson.Raw
			n := 0
			for d, err := range in {
				if err != nil {
					yield(nil, err)
					return
				}
				n++
				if int64(len(kept)) < size {
					kept = append(kept, d)
				} else if i := intn(n); int64(i) < size {
					kept[i] = d
				}
			}
			shuffle(len(kept), func(i, j int) { kept[i], kept[j] = kept[j], kept[i] })
			for _, d := range kept {
				if !yield(d, nil) {
					return
				}
			}
		}
	}), nil
}
