package actions

import (
	"shardboard/internal/message"
	"shardboard/internal/shardkey"
)

// oneChunk notes a collection that could divide the project, by a field that is not
// hashed, if the project had more than one chunk there.
func (d *draftBuilder) oneChunk(r projectRange) bool {
	if r.c.Key.Len() < 2 || r.c.Key.Hashed() >= 0 || len(d.future(r.c).within(r.lo, r.hi)) > 1 {
		return false
	}
	d.stays = append(d.stays, message.New("oneChunk",
		"{ns} stays on one shard: the project has only one chunk there. Split it first (split-project).",
		message.Namespace("ns", r.c.NS)))
	return true
}

// spreadChunks gives each shard about as many neighbouring chunks of the project as the
// others. How many rows are in a chunk is not known here: a split in the middle makes equal
// ones.
func (d *draftBuilder) spreadChunks(r projectRange, shards []string) {
	k := d.future(r.c)
	d.splitAtEnds(k, r.lo, r.hi)
	chunks := k.within(r.lo, r.hi)
	parts := make([]shardkey.Range, min(len(shards), len(chunks)))
	for i := range parts {
		from, to := i*len(chunks)/len(parts), (i+1)*len(chunks)/len(parts)
		parts[i] = shardkey.Range{Min: chunks[from].Min, Max: chunks[to-1].Max}
	}
	owners := d.assignParts(k, parts, shards, func(shardkey.Range, shardkey.Range) float64 { return 1 })
	for i, part := range parts {
		for _, ch := range k.within(part.Min, part.Max) {
			d.move(k, ch.Min, ch.Max, owners[i])
		}
	}
}
