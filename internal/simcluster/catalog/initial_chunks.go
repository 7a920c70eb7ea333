package catalog

import (
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// initialChunk is one of the first chunks of a new sharded collection.
type initialChunk struct {
	min, max bson.Raw
	shard    string
}

// initialChunks chooses the first chunks of an empty collection
// (db/s/config/initial_split_policy.cpp, calculateOptimizationStrategy): by zones if
// there are any, evenly if the key begins with a hash, else one chunk on the primary. A
// collection with documents begins as one chunk too.
func (c *Cluster) initialChunks(s shardSpec, primary string, empty bool) ([]initialChunk, error) {
	zones := c.zones[s.ns]
	switch {
	case !empty || len(zones) == 0 && !s.key.hashedPrefix():
		return []initialChunk{{s.key.min(), s.key.max(), primary}}, nil
	case len(zones) > 0:
		return c.cutByZones(s, zones)
	}
	shards := c.notDraining()
	n := int(s.initial)
	if n == 0 {
		n = 2 * len(shards)
		if c.since(8) {
			n = len(shards)
		}
	}
	if n >= 8192*len(shards) {
		return nil, status.Errorf(status.InvalidOptions, "numInitialChunks must be less than 8192 per shard")
	}
	if order := c.placements[s.ns]; order != nil {
		shards = order
	}
	return cutEvenly(s.key, s.key.min(), s.key.max(), hashPoints(n), shards), nil
}

// PlaceNext sets the order in which shards get the first chunks of a collection that is
// hashed and empty, or resharded. A real 8.0 draws it at random; without a call it is that in which the
// shards were added.
func (c *Cluster) PlaceNext(ns string, shards []string) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.placements[ns] = shards
}

// notDraining lists the shards that are not draining.
func (c *Cluster) notDraining() []string {
	var names []string
	for _, s := range c.shards {
		if !s.draining {
			names = append(names, s.name)
		}
	}
	return names
}

// hashPoints are the n-1 points that split the hash space into n parts, symmetric
// around 0.
func hashPoints(n int) []int64 {
	if n <= 1 {
		return nil
	}
	step := (math.MaxInt64 / int64(n)) * 2
	var points []int64
	at := int64(0)
	if n%2 == 0 {
		points = append(points, 0)
		at = step
	} else {
		at = step / 2
	}
	for range (n - 1) / 2 {
		points = append(points, at, -at)
		at += step
	}
	slices.Sort(points)
	return points
}

// cutEvenly splits [lo, hi) at hashes of a hashed first field and assigns adjacent
// chunks to the same shard.
func cutEvenly(p pattern, lo, hi bson.Raw, points []int64, shards []string) []initialChunk {
	n := len(points) + 1
	run := max(n/len(shards), 1)
	cuts := make([]initialChunk, 0, n)
	for i := range n {
		to := hi
		if i < len(points) {
			to = p.hashKey(points[i])
		}
		cuts = append(cuts, initialChunk{lo, to, shards[(i/run)%len(shards)]})
		lo = to
	}
	return cuts
}

// hashKey is a key with a hash in the first field and MinKey in the others.
func (p pattern) hashKey(h int64) bson.Raw {
	d := value.NewBuilder(16*len(p.fields)).Append(p.fields[0].name, value.Int64(h))
	for _, f := range p.fields[1:] {
		d.Append(f.name, value.MinKey())
	}
	return d.Raw()
}

// cutByZones makes one chunk per zone range, on the zone's shards in turn, and one
// for every gap, on all shards in turn.
func (c *Cluster) cutByZones(s shardSpec, zones []*Zone) ([]initialChunk, error) {
	turn := make(map[string]int)
	shards := c.ShardNames()
	next := func(zone string) (string, error) {
		list := shards
		if zone != "" {
			if list = c.inZone(zone); len(list) == 0 {
				return "", status.Errorf(50973,
					"Cannot shard collection %s due to zone %s which is not assigned to a shard. Please assign this zone to a shard.", s.ns, zone)
			}
		}
		turn[zone]++
		return list[(turn[zone]-1)%len(list)], nil
	}
	var cuts []initialChunk
	at := s.key.min()
	put := func(hi bson.Raw, zone string) error {
		if compareKeys(at, hi) >= 0 {
			return nil
		}
		shard, err := next(zone)
		cuts = append(cuts, initialChunk{at, hi, shard})
		at = hi
		return err
	}
	for _, z := range zones {
		if err := put(z.Min, ""); err != nil {
			return nil, err
		}
		if err := put(z.Max, z.Name); err != nil {
			return nil, err
		}
	}
	return cuts, put(s.key.max(), "")
}

// checkHashed rejects range bounds of a sharded namespace that have anything but a hash
// in the hashed field.
func (c *Cluster) checkHashed(ns string, lo, hi bson.Raw) error {
	r := c.Routing(ns)
	if r == nil {
		return nil
	}
	for _, f := range r.pattern.fields {
		if f.hashed && !(hashValue(lo.Lookup(f.name)) && hashValue(hi.Lookup(f.name))) {
			return status.Errorf(status.InvalidOptions, "there exists a field in the range %s -->> %s not of type NumberLong, "+
				"MinKey, or MaxKey which corresponds to a hashed field in the shard key pattern %s", text(lo), text(hi), text(r.Key))
		}
	}
	return nil
}

// hashValue reports whether a bound may have this value in a hashed field.
func hashValue(v bson.RawValue) bool {
	return v.Type == bson.TypeInt64 || v.Type == bson.TypeMinKey || v.Type == bson.TypeMaxKey
}

// checkSplitHash rejects a split point that has anything but a hash in the hashed field
// (db/s/split_chunk.cpp).
func (r *Routing) checkSplitHash(ch *Chunk, key bson.Raw) error {
	for _, f := range r.pattern.fields {
		v := key.Lookup(f.name)
		if !f.hashed || hashValue(v) {
			continue
		}
		return status.Context("split failed", status.Errorf(status.CannotSplit, "splitChunk cannot split chunk %s, split point %s: "+
			"%sValue of type '%s' is not allowed for hashed fields",
			rangeText(ch.Min, ch.Max), f.name, value.Text(v), expr.TypeName(v)))
	}
	return nil
}
