package actions

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// chunkOf finds the chunk that the arguments name, by exact bounds or by its reference. If both are given they must
// name the same chunk.
func (s Situation) chunkOf(c *topology.Collection, kind Kind, a Args) (topology.Chunk, error) {
	switch {
	case a.Bounds[0] == nil && a.Bounds[1] == nil && a.Chunk == "":
		return topology.Chunk{}, missing(kind, "chunk", "the reference of a chunk, or its exact bounds as \"bounds\"")
	case a.Chunk != "":
		ch, err := chunkByReference(c, a.Chunk)
		if err != nil || a.Bounds[0] == nil && a.Bounds[1] == nil {
			return ch, err
		}
		other, err := s.chunkWithBounds(c, kind, a.Bounds)
		if err == nil && other.Min.Compare(ch.Min) != 0 {
			err = fault.New(fault.Invalid, "The arguments \"chunk\" and \"bounds\" name two different chunks.")
		}
		return ch, err
	}
	return s.chunkWithBounds(c, kind, a.Bounds)
}

// chunkWithBounds finds the chunk with exactly these bounds.
func (s Situation) chunkWithBounds(c *topology.Collection, kind Kind, bounds [2]bson.Raw) (topology.Chunk, error) {
	lo, hi, err := s.rangeBounds(c, kind, bounds)
	if err != nil {
		return topology.Chunk{}, err
	}
	_, ch := c.Chunks.Find(lo)
	from, to := c.Chunks.Overlap(shardkey.Range{Min: lo, Max: hi})
	if ch.Min.Compare(lo) == 0 && to-from > 1 && c.Chunks.At(to-1).Max.Compare(hi) == 0 {
		return topology.Chunk{}, fault.New(fault.Conflict, "The argument \"bounds\" is no chunk of %s any more: it was split and is %d "+
			"chunks now. What is written to each is known some seconds after the split; plan for one of them then.", string(c.NS), to-from)
	}
	if ch.Min.Compare(lo) != 0 || ch.Max.Compare(hi) != 0 {
		return topology.Chunk{}, fault.New(fault.NotFound,
			"The argument \"bounds\" is not a chunk: no chunk of %s has exactly these bounds now. "+
				"One that was split just now is known in some seconds.", string(c.NS))
	}
	return ch, nil
}

// rangeBounds reads two bounds, the lower one first.
func (s Situation) rangeBounds(c *topology.Collection, kind Kind, bounds [2]bson.Raw) (lo, hi shardkey.Key, err error) {
	if bounds[0] == nil || bounds[1] == nil {
		return lo, hi, missing(kind, "bounds", "two complete shard keys, lower and upper")
	}
	if lo, err = s.completeKey(c, "bounds", bounds[0]); err != nil {
		return lo, hi, err
	}
	if hi, err = s.completeKey(c, "bounds", bounds[1]); err != nil {
		return lo, hi, err
	}
	if lo.Compare(hi) >= 0 {
		return lo, hi, fault.New(fault.Invalid, "The argument \"bounds\" ends before it begins.")
	}
	return lo, hi, nil
}

// chunkByReference finds a chunk by its reference.
func chunkByReference(c *topology.Collection, ref string) (topology.Chunk, error) {
	i, _, err := c.ByRef(ref)
	switch {
	case fault.Of(err) == fault.Conflict:
		err = fault.New(fault.NotFound,
			"The argument \"chunk\" is a chunk of another collection, or the collection was dropped or resharded since.")
	case err != nil:
		err = fault.Wrap(fault.Of(err), err, "The argument \"chunk\": %s", fault.Text(err))
	case i < 0:
		err = fault.New(fault.NotFound, "The argument \"chunk\" names a chunk that %s does not have now.", string(c.NS))
	default:
		return c.Chunks.At(i), nil
	}
	return topology.Chunk{}, err
}

// boundsAsDocuments returns bounds in the form of the argument "bounds".
func (d *plannedSteps) boundsAsDocuments(c *topology.Collection, lo, hi shardkey.Key) [2]bson.Raw {
	return [2]bson.Raw{d.doc(c, lo), d.doc(c, hi)}
}
