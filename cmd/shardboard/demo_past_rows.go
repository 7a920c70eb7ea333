package main

import (
	"cmp"
	"slices"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/app"
)

// hottestKept is for how many projects changed rows are counted in a minute, as in the present.
const hottestKept = 10

// recordMinute records the writes of a minute: rows of changes and snapshots by document, and of
// the rows that change in place those of the busiest projects.
func (d *demoDay) recordMinute(at time.Time) {
	type id = [12]byte
	var changes, snapshots []app.PastWrites
	rows, changed := map[id]int64{}, map[id]int64{} // by project
	for _, w := range d.day.Minute(at, d.end) {
		changes = append(changes, app.PastWrites{Project: w.Project, Document: w.Document, Rows: w.Rows})
		if w.Snapshots > 0 {
			snapshots = append(snapshots, app.PastWrites{Project: w.Project, Document: w.Document, Rows: w.Snapshots})
		}
		rows[w.Project] += w.Rows
		changed[w.Project]++ // an edit changes its document's row; a row counts once
	}
	var hottest []app.PastWrites
	for p, n := range changed {
		hottest = append(hottest, app.PastWrites{Project: p, Rows: n})
	}
	slices.SortFunc(hottest, func(a, b app.PastWrites) int {
		return cmp.Or(cmp.Compare(rows[b.Project], rows[a.Project]), slices.Compare(a.Project[:], b.Project[:]))
	})
	hottest = hottest[:min(len(hottest), hottestKept)]
	for _, c := range d.past.Table().Collections {
		switch string(c.NS) {
		case d.db + ".changes":
			d.past.Wrote(c.NS, at, changes)
		case d.db + ".snapshots":
			d.past.Wrote(c.NS, at, snapshots)
		case d.db + ".documents", d.db + ".clients":
			d.past.Wrote(c.NS, at, hottest)
		}
	}
}

// moveArgs moves a chunk of a collection from the shard with most of its chunks to the one with
// fewest.
func (d *demoDay) moveArgs(collection string) func() (actions.Args, bool) {
	return func() (actions.Args, bool) {
		t := d.past.Table()
		for _, c := range t.Collections {
			if string(c.NS) != d.db+"."+collection {
				continue
			}
			owned := c.Chunks.CountByShard()
			from, to := "", ""
			for _, s := range t.Shards {
				if from == "" || owned[s.Name] > owned[from] {
					from = s.Name
				}
				if to == "" || owned[s.Name] <= owned[to] {
					to = s.Name
				}
			}
			if from == to {
				return actions.Args{}, false
			}
			for _, ch := range c.Chunks.All() {
				if ch.Shard == from {
					return actions.Args{NS: c.NS, Chunk: answer.ChunkRef(c, ch.Min), To: to}, true
				}
			}
		}
		return actions.Args{}, false
	}
}

// splitArgs splits a chunk of documents into two.
func (d *demoDay) splitArgs() (actions.Args, bool) {
	for _, c := range d.past.Table().Collections {
		if string(c.NS) == d.db+".documents" {
			return actions.Args{NS: c.NS, Chunk: answer.ChunkRef(c, c.Chunks.At(c.Chunks.Len()-1).Min), Parts: 2}, true
		}
	}
	return actions.Args{}, false
}

// pinArgs pins the newest project.
func (d *demoDay) pinArgs() (actions.Args, bool) {
	shards, projects := d.past.Table().Shards, d.past.Directory().All()
	if len(shards) < 2 || len(projects) == 0 {
		return actions.Args{}, false
	}
	p := projects[0]
	for _, o := range projects {
		if slices.Compare(o.ID[:], p.ID[:]) > 0 {
			p = o
		}
	}
	return actions.Args{Project: p.ID.Hex(), DB: d.db, Shard: shards[1].Name, Owner: "support"}, true
}
