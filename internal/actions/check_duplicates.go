package actions

import (
	"slices"

	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// checkDuplicates blocks a move of documents whose ids the recipient has too: the
// migration would fail, and the server would not say why.
func (d *draftBuilder) checkDuplicates() (out findings) {
	bad := false
	checked := message.New("checked", "The check for duplicate ids at {at}", message.Time("at", d.s.SharedAt))
	for _, m := range d.moves {
		if ids, shared := d.sharedIDs(m.k.c, m.lo, m.hi, m.to); shared {
			bad = true
			out.block("duplicates", checked, message.New("duplicates.found",
				"{shard} already has {ids} of the ids that would move there with {ns}, for example {id}: the move "+
					"would fail. Remove one copy of each first.",
				message.Namespace("ns", m.k.c.NS), message.Shard("shard", m.to), message.Key("id", ids[0]),
				message.Count("ids", len(ids))))
			break
		}
	}
	switch {
	case bad:
	case !d.canShareIDs():
		out.pass("duplicates", d.fromRule(), message.New("duplicates.unique",
			"An id cannot be on two shards, because the shard key begins with _id."))
	case d.s.SharedAt.IsZero():
		out.warn("duplicates", message.New("notChecked",
			"The check for duplicate ids has not run"), message.New("duplicates.unchecked",
			"It is not known whether ids are on both shards, which would make a move fail. Run the check for "+
				"duplicate ids."))
	default:
		out.pass("duplicates", checked, message.New("duplicates.none",
			"No document id in this range is known to be on the other shard too."))
	}
	return out
}

// sharedIDs returns ids of a range that a shard has too.
func (d *draftBuilder) sharedIDs(c *topology.Collection, lo, hi shardkey.Key, shard string) ([]string, bool) {
	from, to := c.Chunks.Overlap(shardkey.Range{Min: lo, Max: hi})
	for i := from; i < to && len(d.s.Shared) > 0; i++ {
		for _, danger := range placement.Dangers(c, i, d.s.Shared) {
			if danger.Shard == shard {
				return danger.IDs, true
			}
		}
	}
	return nil, false
}

// canShareIDs reports whether two shards can have documents with the same id. They
// cannot when the shard key begins with _id.
func (d *plannedCluster) canShareIDs() bool {
	return slices.ContainsFunc(d.moves, func(m transfer) bool { return m.k.c.Key.Fields()[0].Name != "_id" })
}
