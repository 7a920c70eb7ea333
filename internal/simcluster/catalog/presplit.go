package catalog

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// presplitZones splits every zone range of a compound hashed key further by hashes.
func (c *Cluster) presplitZones(s shardSpec, empty bool) ([]initialChunk, error) {
	zones := c.zones[s.ns]
	if !empty || len(zones) == 0 || s.key.ordered() {
		return nil, status.Errorf(31387,
			"'presplitHashedZones' is only supported when the collection is empty, has zones and is sharded by a hashed key")
	}
	if s.key.hashedPrefix() {
		if len(zones) != 1 || compareKeys(zones[0].Min, s.key.min()) != 0 || compareKeys(zones[0].Max, s.key.max()) != 0 {
			return nil, status.Errorf(31412, "For hashed prefix keys 'presplitHashedZones' needs one zone that covers the whole key space")
		}
		shards := c.inZone(zones[0].Name)
		return cutEvenly(s.key, s.key.min(), s.key.max(), hashPoints(c.features.initialPerNode*len(shards)), shards), nil
	}
	for _, z := range zones {
		if err := s.key.presplittable(z); err != nil {
			return nil, err
		}
	}
	whole, err := c.cutByZones(s, zones)
	if err != nil {
		return nil, err
	}
	var cuts []initialChunk
	for _, w := range whole {
		zone := c.zoneOf(s.ns, &Chunk{Min: w.min, Max: w.max})
		if zone == "" {
			cuts = append(cuts, w)
			continue
		}
		shards := c.inZone(zone)
		points := hashPoints(c.features.initialPerNode * len(shards))
		cuts = append(cuts, s.key.cutHashed(w, points, shards)...)
	}
	return cuts, nil
}

// presplittable checks that a range begins at the lowest hash of a prefix value and
// ends at a greater prefix value.
func (p pattern) presplittable(z *Zone) error {
	first := p.fields[0].name
	if t := z.Min.Lookup(first).Type; t == bson.TypeMinKey || t == bson.TypeMaxKey {
		return status.Errorf(31388, "One or more zones have a MinKey or MaxKey prefix in their lower bound %s", text(z.Min))
	}
	for i, f := range p.fields[p.hashed:] {
		if z.Min.Lookup(f.name).Type != bson.TypeMinKey {
			return status.Errorf([]int32{31389, 31391}[min(i, 1)], "The lower bound %s of a zone must have MinKey in field %s", text(z.Min), f.name)
		}
	}
	for _, f := range p.fields[:p.hashed] {
		if value.Compare(z.Min.Lookup(f.name), z.Max.Lookup(f.name)) < 0 {
			return nil
		}
	}
	return status.Errorf(31390, "The prefix of a zone's upper bound %s must be greater than that of its lower bound", text(z.Max))
}

// cutHashed splits a zone's chunk at hashes after the prefix of its lower bound.
func (p pattern) cutHashed(w initialChunk, points []int64, shards []string) []initialChunk {
	n := len(points) + 1
	run := max(n/len(shards), 1)
	var cuts []initialChunk
	lo := w.min
	for i := range n {
		hi := w.max
		if i < len(points) {
			d := newRawDoc(len(w.min) + 16)
			for j, f := range p.fields {
				v := w.min.Lookup(f.name)
				if j == p.hashed {
					v = value.Int64(points[i])
				}
				d = d.add(f.name, v.Type, v.Value)
			}
			hi = d.done()
		}
		cuts = append(cuts, initialChunk{lo, hi, shards[(i/run)%len(shards)]})
		lo = hi
	}
	return cuts
}
