package rules

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// single tells whether a chunk holds one value of the shard key only, so that no
// split divides it, as far as its bounds show.
func (ev *evaluation) single(c *topology.Collection, ch topology.Chunk) bool {
	if c.Key.Len() != 1 {
		return false
	}
	if c.Key.Fields()[0].Hashed {
		lo, okLo := ch.Min.HashFloor()
		hi, okHi := ch.Max.HashFloor()
		return okLo && okHi && hi == lo+1
	}
	values, err := c.Key.Values(ch.Min)
	if err != nil || len(values) == 0 {
		return false
	}
	id, ok := values[0].ObjectIDOK()
	if !ok {
		return false
	}
	if ch.Max.Compare(ev.after(c, id)) <= 0 {
		return true
	}
	// The chunk holds one project only.
	return ev.projectsIn(c, ch) == 1
}

// after is the bound right behind all keys that begin with an id.
func (ev *evaluation) after(c *topology.Collection, id bson.ObjectID) shardkey.Key {
	k, err := c.Key.PrefixBound(must(bson.D{{Key: c.Key.Fields()[0].Name, Value: following(id)}}))
	if err != nil {
		return c.Key.Min()
	}
	return k
}

func following(id bson.ObjectID) bson.ObjectID {
	for i := len(id) - 1; i >= 0; i-- {
		if id[i]++; id[i] != 0 {
			break
		}
	}
	return id
}

func must(d bson.D) bson.Raw {
	raw, err := bson.Marshal(d)
	if err != nil {
		panic(err) // an ObjectID under a name can be marshalled
	}
	return raw
}
