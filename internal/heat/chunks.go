package heat

import (
	"cmp"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/natural"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// Chunks returns the window's chunks in the current table, hottest first, with the projects that
// write to each, as far as documents are still counted by id.
func (w Window) Chunks(t *topology.Table, prof *profile.Profile) []Line {
	c := t.Collection(w.NS)
	if c == nil || c.Chunks.Len() == 0 {
		return nil
	}
	of := targetOf(t, prof, w.NS)
	sums := map[int]*tally{}
	projects := map[int]map[bson.ObjectID]int64{}
	unplaced := map[int]time.Time{}
	for _, s := range w.slots {
		placed, without := s.inChunks(c, of)
		for i, rows := range placed {
			if sums[i] == nil {
				sums[i] = &tally{}
			}
			sums[i].addPlaced(s, rows)
		}
		for _, i := range without {
			unplaced[i] = s.To // slots are in order
		}
		for _, n := range s.Counts {
			if of.ns == "" {
				continue
			}
			if i, ok := s.chunkPosition(c, of, n); ok {
				if projects[i] == nil {
					projects[i] = map[bson.ObjectID]int64{}
				}
				projects[i][n.Project] += n.Rows * s.Every
			}
		}
	}
	out := make([]Line, 0, len(sums))
	for i, sum := range sums {
		l := Line{Chunk: i, Shard: c.Chunks.Owner(i), Rate: sum.rate(w.Seconds, w.estimate())}
		if since, ok := unplaced[i]; ok {
			l.Since, l.Rate = since, w.rateSince(c, of, i, since)
		}
		l.Projects = len(projects[i])
		l.Top, l.TopShare = topProject(projects[i])
		out = append(out, l)
	}
	slices.SortFunc(out, compareHotness)
	return out
}

func topProject(projects map[bson.ObjectID]int64) (top bson.ObjectID, share float64) {
	var all, most int64
	for id, rows := range projects {
		all += rows
		if rows > most || rows == most && slices.Compare(id[:], top[:]) < 0 {
			top, most = id, rows
		}
	}
	if all == 0 {
		return top, 0
	}
	return top, float64(most) / float64(all)
}

// rateSince is a chunk's rate in the slots that begin at a time or later.
func (w Window) rateSince(c *topology.Collection, of target, chunk int, since time.Time) Rate {
	var sum, all tally
	seconds := 0.0
	for _, s := range w.slots {
		if s.From.Before(since) {
			continue
		}
		placed, _ := s.inChunks(c, of)
		sum.addPlaced(s, placed[chunk])
		all.add(s, s.Rows())
		seconds += s.Seconds()
	}
	return sum.rate(seconds, all.estimate)
}

// Shards returns the window's shards by the owners of the chunks in the current table, hottest
// first. Shards that own chunks and took no write have a rate of zero, which means "at least none"
// when the window's method omits rows.
func (w Window) Shards(t *topology.Table, prof *profile.Profile) []Line {
	c := t.Collection(w.NS)
	if c == nil || w.Seconds == 0 {
		return nil
	}
	sums := map[string]*tally{}
	for shard := range c.Chunks.CountByShard() {
		sums[shard] = &tally{}
	}
	of := targetOf(t, prof, w.NS)
	for _, s := range w.slots {
		for shard, rows := range s.onShards(c, of) {
			sums[shard].addPlaced(s, rows)
		}
	}
	out := make([]Line, 0, len(sums))
	for shard, sum := range sums {
		out = append(out, Line{Chunk: -1, Shard: shard, Rate: sum.rate(w.Seconds, w.estimate())})
	}
	slices.SortFunc(out, func(a, b Line) int {
		return cmp.Or(cmp.Compare(b.Rate.PerSecond, a.Rate.PerSecond), natural.Compare(a.Shard, b.Shard))
	})
	return out
}

// targetOf returns the fields of a measured collection.
func targetOf(t *topology.Table, p *profile.Profile, ns topology.Namespace) target {
	for _, of := range targets(t, p) {
		if of.ns == ns {
			return of
		}
	}
	return target{}
}

// Place attributes the rows of a slot, counted elsewhere, to the chunks of a table. It reports whether
// the collection's writes can be counted at all.
func Place(t *topology.Table, p *profile.Profile, s *Slot) bool {
	c, of := t.Collection(s.NS), targetOf(t, p, s.NS)
	if c == nil || of.ns == "" {
		return false
	}
	s.Method = of.method
	assignChunks(s, c, of)
	return true
}

// chunkRows are a slot's counts by chunk, if they are of the collection's current incarnation.
func (s Slot) chunkRows(c *topology.Collection) []Piece {
	if s.Life != c.Incarnation {
		return nil
	}
	return s.Pieces
}

// OwnerOf is the shard of a document's rows; "" if the counts do not decide it.
func (w Window) OwnerOf(t *topology.Table, prof *profile.Profile, l Line) string {
	c, of := t.Collection(w.NS), targetOf(t, prof, w.NS)
	if c == nil || of.ns == "" {
		return ""
	}
	for _, s := range w.slots {
		if _, known := s.Stored.Value(l.Project); !known {
			continue
		}
		if i, ok := s.chunkPosition(c, of, Count{Project: l.Project, Document: l.Document}); ok {
			return c.Chunks.Owner(i)
		}
		return ""
	}
	return ""
}
