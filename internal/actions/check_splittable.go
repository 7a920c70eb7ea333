package actions

import (
	"math/big"

	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// checkSplittable checks whether the chunk can be split in its middle. A chunk with a
// single value of the shard key can never be split.
func (d *draftBuilder) checkSplittable(c *topology.Collection, ch topology.Chunk) (out findings) {
	r := shardkey.Range{Min: ch.Min, Max: ch.Max}
	if d.singleValue(c, r) {
		out.block("unsplittable", d.fromTable(topology.PartRouting), d.oneValueText(c))
		return out
	}
	out.dependsOnFlags(c, ch.Min, ch.Max)
	ids, known := d.projectsIn(c, r)
	switch {
	case known && c.Key.Len() == 1 && len(ids) == 1 && d.a.Parts <= 2:
		out.block("unsplittable", message.New("projects", "The list of projects"), d.oneProjectText(c, ids[0]))
	case known && c.Key.Len() == 1 && len(ids) == 0 && d.a.Parts <= 2:
		out.warn("unsplittable", message.New("projects", "The list of projects"), message.New("unsplittable.noProject",
			"No known project is in this chunk. If it is empty, it cannot be split in the middle; "+
				"split at a key instead."))
	case ch.Jumbo:
		out.warn("unsplittable", d.fromFlags(), message.New("unsplittable.jumbo",
			"The chunk is flagged as jumbo: it may be impossible to split. In that case: {remedy}.",
			message.Words("remedy", d.remedy())))
	default:
		out.pass("unsplittable", d.fromTable(topology.PartRouting), message.New("unsplittable.values",
			"The chunk has several values of {key}: it can be split between them.",
			message.Text("key", c.Key.String())))
	}
	return out
}

// singleValue reports whether a range can contain at most one value of the shard key.
func (d *draftBuilder) singleValue(c *topology.Collection, r shardkey.Range) bool {
	if hashedLast(c.Key) {
		if _, lo, hi, ok := hashSpan(c.Key, r); ok {
			return hi.Sub(hi, lo).Cmp(big.NewInt(1)) <= 0
		}
	}
	return c.Key.OneValue(r)
}

// remedy says, for the release, how to make a chunk with a single shard-key value
// divisible.
func (d *draftBuilder) remedy() string {
	switch {
	case d.s.Release.AtLeast(5, 0, 0):
		return "refine the shard key by another field (refineCollectionShardKey), or reshard the collection by another key"
	case d.s.Release.AtLeast(4, 4, 0):
		return "refine the shard key by another field (refineCollectionShardKey)"
	}
	return "no command of this release can change a shard key"
}

func (d *draftBuilder) oneValueText(c *topology.Collection) message.Message {
	return message.New("unsplittable.oneValue",
		"All rows of this chunk have the same value of {key}, and a chunk cannot be split inside a value. To divide it: {remedy}.",
		message.Text("key", c.Key.String()), message.Words("remedy", d.remedy()))
}

func (d *draftBuilder) oneProjectText(c *topology.Collection, project bson.RawValue) message.Message {
	id, stored, _ := placement.IDOf(project)
	return message.New("unsplittable.oneProject",
		"The chunk contains only the project {project}, which is one value of {key}, and a chunk cannot be split inside a value. "+
			"To divide it: {remedy}.",
		message.Project("project", id.Hex(), stored.Text(id)), message.Text("key", c.Key.String()), message.Words("remedy", d.remedy()))
}
