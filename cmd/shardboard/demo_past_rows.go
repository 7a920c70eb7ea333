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

// recordMinute records the writes of a minute: rows of changes, snapshots and revisions by document, and
// of the rows that change in place those of the busiest projects. Nobody writes schemas, which is counted
// too: a collection that was never counted could not be judged in the demo's first minutes.
func (d *demoDay) recordMinute(at time.Time) {
	type id = [12]byte
	var changes, snapshots, revisions []app.PastWrites
	rows, changed := map[id]int64{}, map[id]int64{} // by project
	for _, w := range d.day.Minute(at, d.end) {
		changes = append(changes, app.PastWrites{Project: w.Project, Document: w.Document, Rows: w.Rows})
		if w.Snapshots > 0 {
			snapshots = append(snapshots, app.PastWrites{Project: w.Project, Document: w.Document, Rows: w.Snapshots})
		}
		if w.Revisions > 0 {
			revisions = append(revisions, app.PastWrites{Project: w.Project, Document: w.Document, Rows: w.Revisions})
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
		case d.db + ".revisions":
			d.past.Wrote(c.NS, at, revisions)
		case d.db + ".schemas":
			d.past.Wrote(c.NS, at, nil)
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

// splitArgs splits the chunk of documents that holds most projects into two.
func (d *demoDay) splitArgs() (actions.Args, bool) {
	for _, c := range d.past.Table().Collections {
		if string(c.NS) != d.db+".documents" {
			continue
		}
		if i, ok := d.past.MostProjects(c); ok {
			return actions.Args{NS: c.NS, Chunk: answer.ChunkRef(c, c.Chunks.At(i).Min), Parts: 2}, true
		}
	}
	return actions.Args{}, false
}

// splitChangesArgs splits a chunk of changes into two: with many shards no chunk holds two projects.
func (d *demoDay) splitChangesArgs() (actions.Args, bool) {
	for _, c := range d.past.Table().Collections {
		if string(c.NS) == d.db+".changes" {
			return actions.Args{NS: c.NS, Chunk: answer.ChunkRef(c, c.Chunks.At(c.Chunks.Len()/2).Min), Parts: 2}, true
		}
	}
	return actions.Args{}, false
}

// pinArgs pins the newest project but the busy one, whose plan nothing shall hinder.
func (d *demoDay) pinArgs() (actions.Args, bool) {
	shards, projects := d.past.Table().Shards, d.past.Directory().All()
	if len(shards) < 2 || len(projects) == 0 {
		return actions.Args{}, false
	}
	busy, _ := d.sim.BusyProject()
	newest := ""
	for _, p := range projects {
		if id := p.ID.Hex(); id != busy && id > newest {
			newest = id
		}
	}
	return actions.Args{Project: newest, DB: d.db, Shard: shards[1].Name, Owner: "support"}, newest != ""
}
