package heat

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// OfProject is the window with the counts of one project alone, by Yorkie document. Its total stays that of all.
func (w Window) OfProject(project bson.ObjectID) Window {
	out := w
	out.slots = slices.Clone(w.slots)
	for i, s := range w.slots {
		out.slots[i].Counts, out.slots[i].Pieces = nil, nil
		for _, n := range s.Counts {
			if n.Project == project {
				out.slots[i].Counts = append(out.slots[i].Counts, n)
			}
		}
	}
	return out
}

// ProjectShards returns the window's projects by shard in the current table, hottest first. Rows
// whose documents are not counted any more, and are in several chunks by their project alone, have
// no shard.
func (w Window) ProjectShards(t *topology.Table, prof *profile.Profile) []Line {
	c, of := t.Collection(w.NS), targetOf(t, prof, w.NS)
	if c == nil || of.ns == "" {
		return nil
	}
	type key struct {
		project bson.ObjectID
		shard   string
	}
	type writer struct{ project, document bson.ObjectID }
	sums, owners := map[key]*tally{}, map[writer]string{}
	for _, s := range w.slots {
		for _, n := range s.Counts {
			at := writer{n.Project, n.Document}
			shard, known := owners[at]
			if !known {
				if i, ok := s.chunkPosition(c, of, n); ok {
					shard = c.Chunks.Owner(i)
				}
				owners[at] = shard
			}
			k := key{n.Project, shard}
			if sums[k] == nil {
				sums[k] = &tally{}
			}
			sums[k].add(s, n.Rows)
		}
	}
	out := make([]Line, 0, len(sums))
	for k, sum := range sums {
		out = append(out, Line{Project: k.project, Shard: k.shard, Chunk: -1, Rate: sum.rate(w.Seconds, w.estimate())})
	}
	slices.SortFunc(out, compareHotness)
	return out
}
