package heat

import (
	"context"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

const (
	// datedEvery is how often rows that are changed in place are counted, and over
	// how long: no index has their date, so the project's rows are gone through.
	datedEvery = time.Minute
	// datedProjects is for how many of the hottest projects.
	datedProjects = 10
	// datedRest is how long a project is left alone whose rows took too long.
	datedRest = 30 * time.Minute
)

// Updated is rows of a project that were written in place, by the date in them.
// A row that was written twice counts once: it is at least so many.
type Updated struct {
	NS       topology.Namespace
	From, To time.Time
	Rows     int64
}

// PerSecond is the least rate of writes.
func (u Updated) PerSecond() float64 {
	if d := u.To.Sub(u.From).Seconds(); d > 0 {
		return float64(u.Rows) / d
	}
	return 0
}

// dated keeps the newest count of each project and collection.
type dated struct {
	mu    sync.RWMutex
	at    time.Time
	rows  map[bson.ObjectID][]Updated
	rests map[rest]time.Time
}

type rest struct {
	ns      topology.Namespace
	project bson.ObjectID
}

// Updated gives what is known of a project's rows that are written in place;
// none when it is not among the hottest projects, or its rows took too long.
func (c *Collector) Updated(project bson.ObjectID) []Updated {
	c.dated.mu.RLock()
	defer c.dated.mu.RUnlock()
	return c.dated.rows[project]
}

// countDated counts, once in a while, for the hottest projects of each
// collection whose writes are counted.
func (c *Collector) countDated(ctx context.Context, t *topology.Table, to time.Time) {
	if to.Sub(c.dated.at) < datedEvery {
		return
	}
	c.dated.at = to
	rows := map[bson.ObjectID][]Updated{}
	for _, measured := range targets(t, c.prof) {
		lines := c.Window(measured.ns, 5*time.Minute).Projects()
		for _, of := range datedTargets(t, c.prof, measured.ns.Database()) {
			for _, l := range lines[:min(len(lines), datedProjects)] {
				n, known := c.countRested(ctx, of, l.Project, to)
				if ctx.Err() != nil {
					return
				}
				if known {
					rows[l.Project] = append(rows[l.Project], Updated{NS: of.ns, From: to.Add(-datedEvery), To: to, Rows: n})
				}
			}
		}
	}
	c.dated.mu.Lock()
	c.dated.rows = rows
	c.dated.mu.Unlock()
}

// countRested counts a project's rows unless they took too long a while ago.
func (c *Collector) countRested(ctx context.Context, of datedTarget, project bson.ObjectID, to time.Time) (int64, bool) {
	id := rest{of.ns, project}
	if to.Before(c.dated.rests[id]) {
		return 0, false
	}
	n, err := c.countProject(ctx, of, project, to)
	if err == nil {
		return n, true
	}
	if c.dated.rests == nil {
		c.dated.rests = map[rest]time.Time{}
	}
	c.dated.rests[id] = to.Add(datedRest)
	return 0, false
}

// countProject is one query to the shards that have the project's rows; it
// returns one document.
func (c *Collector) countProject(ctx context.Context, of datedTarget, project bson.ObjectID, to time.Time) (int64, error) {
	if c.o.Budget.Hold(1) == 0 {
		return 0, errNoBudget
	}
	ask, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	got, err := c.src.Writes(ask, topology.WriteQuery{NS: of.ns, Project: of.project, Of: project, Date: of.date, From: to.Add(-datedEvery), To: to, Limit: 1})
	if err != nil || len(got) == 0 {
		return 0, err
	}
	return got[0].Rows, nil
}

// datedTarget is a collection whose rows have the date of their last write.
type datedTarget struct {
	ns            topology.Namespace
	project, date string
}

// datedTargets are those whose shard key leads with the project: others would
// be asked of every shard.
func datedTargets(t *topology.Table, p *profile.Profile, db string) []datedTarget {
	var out []datedTarget
	for _, col := range p.Nearest(t, db).Collections {
		ns := topology.Namespace(db + "." + col.Name)
		c := t.Collection(ns)
		if col.WrittenAt == "" || c == nil || col.ProjectField == "" || c.Key.Len() == 0 || c.Key.Fields()[0].Name != col.ProjectField {
			continue
		}
		out = append(out, datedTarget{ns: ns, project: col.ProjectField, date: col.WrittenAt})
	}
	return out
}
