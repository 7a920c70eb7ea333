package heat

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// ProjectChunks returns what each project wrote to each chunk of the current table, hottest first.
// Rows that may be in several chunks, and rows of documents that are no longer counted by id, are
// left out.
func (w Window) ProjectChunks(t *topology.Table, prof *profile.Profile) []Line {
	c, of := t.Collection(w.NS), targetOf(t, prof, w.NS)
	if c == nil || c.Chunks.Len() == 0 || of.ns == "" {
		return nil
	}
	type document struct{ project, document bson.ObjectID }
	type place struct {
		project bson.ObjectID
		chunk   int
	}
	known := map[document]int{} // chunk, or -1
	sums := map[place]*tally{}
	for _, s := range w.slots {
		for _, n := range s.Counts {
			k := document{n.Project, n.Document}
			i, seen := known[k]
			if !seen {
				at, ok := s.chunkPosition(c, of, n)
				if i = at; !ok {
					i = -1
				}
				known[k] = i
			}
			if i < 0 {
				continue
			}
			at := place{n.Project, i}
			if sums[at] == nil {
				sums[at] = &tally{}
			}
			sums[at].add(s, n.Rows)
		}
	}
	out := make([]Line, 0, len(sums))
	for at, sum := range sums {
		out = append(out, Line{Project: at.project, Chunk: at.chunk, Shard: c.Chunks.Owner(at.chunk), Rate: sum.rate(w.Seconds, w.estimate())})
	}
	slices.SortFunc(out, compareHotness)
	return out
}
