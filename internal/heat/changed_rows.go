package heat

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

const (
	// datedEvery is how often rows that are changed in place are counted, and over
	// how long: no index finds them by their date alone, so the project's rows are
	// gone through.
	datedEvery = time.Minute
	// HottestProjects is for how many projects of a database.
	HottestProjects = 10
	// datedRest is how long a project is left alone whose rows took too long.
	datedRest = 30 * time.Minute
)

// Updated is rows of a project that were changed in place, by the date in them.
// A row that was changed twice counts once: it is at least so many.
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
	rows  map[tenant][]Updated
	rests map[rest]time.Time // only Run's goroutine
}

// tenant is a project of one database: another may have the same id.
type tenant struct {
	db string
	id bson.ObjectID
}

type rest struct {
	ns      topology.Namespace
	project bson.ObjectID
}

// Updated gives what is known of a project's rows that are changed in place;
// none when it is not among the hottest projects, or its rows took too long.
func (c *Collector) Updated(db string, project bson.ObjectID) []Updated {
	c.dated.mu.RLock()
	defer c.dated.mu.RUnlock()
	return c.dated.rows[tenant{db, project}]
}

// countDated counts each minute, when it has just ended, for the hottest projects
// of each database. A minute whose end was missed is not counted.
func (c *Collector) countDated(ctx context.Context, t *topology.Table, all []target, to time.Time) {
	if !to.Equal(to.Truncate(datedEvery)) {
		return
	}
	rows := map[tenant][]Updated{}
	for _, of := range by(ChangedRows, all) {
		slot := Slot{NS: of.ns, Method: ChangedRows, From: to.Add(-datedEvery), To: to, Every: 1, Capped: true}
		hottest := c.hottest(all, of.ns.Database())
		var failed error
		answered := len(hottest) == 0
		for _, project := range hottest {
			n, err := c.countRested(ctx, of, project)
			if err != nil {
				failed = err
				continue
			}
			answered = true
			id := tenant{of.ns.Database(), project}
			rows[id] = append(rows[id], Updated{NS: of.ns, From: slot.From, To: to, Rows: n})
			if n > 0 {
				slot.Counts = append(slot.Counts, Count{Project: project, Rows: n})
			}
		}
		if ctx.Err() != nil && !answered {
			break // no time was left to ask
		}
		if answered {
			failed = nil
		}
		c.keep(t.Collection(of.ns), of, slot, failed)
		c.readOperations(ctx, of.ns, to)
	}
	c.dated.mu.Lock()
	c.dated.rows = rows
	c.dated.mu.Unlock()
}

// hottest are the projects of a database with most new rows, in all of its
// collections together, in the last minutes.
func (c *Collector) hottest(all []target, db string) []bson.ObjectID {
	var windows []Window
	for _, of := range by(NewRows, all) {
		if of.ns.Database() == db {
			windows = append(windows, c.Window(of.ns, 5*time.Minute))
		}
	}
	sums := Sums(windows, Window.Projects)
	out := make([]bson.ObjectID, 0, HottestProjects)
	for _, s := range sums[:min(len(sums), HottestProjects)] {
		out = append(out, s.Line.Project)
	}
	return out
}

// errRests is of a project whose rows took too long a while ago.
var errRests = fault.New(fault.Unavailable, "The rows of the hottest projects take too long to go through; they are left alone for half an hour.")

// countRested counts a project's rows unless they took too long a while ago.
func (c *Collector) countRested(ctx context.Context, of target, project bson.ObjectID) (int64, error) {
	id, now := rest{of.ns, project}, c.o.Now()
	if now.Before(c.dated.rests[id]) {
		return 0, errRests
	}
	n, err := c.countProject(ctx, of, project, now)
	if err == nil || ctx.Err() != nil || errors.Is(err, errNoBudget) {
		return n, err // a tick that ran out of time or budget says nothing of this project
	}
	if c.dated.rests == nil {
		c.dated.rests = map[rest]time.Time{}
	}
	c.dated.rests[id] = now.Add(datedRest)
	return 0, err
}

// countProject is one query to the shards that have the project's rows; it
// returns one document. It asks for all dates since a minute ago, without an end:
// a row that is changed all the time has a date of just now, by the clock of who
// changed it.
func (c *Collector) countProject(ctx context.Context, of target, project bson.ObjectID, now time.Time) (int64, error) {
	if c.o.Budget.Hold(1) == 0 {
		return 0, errNoBudget
	}
	ask, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	got, err := c.src.Writes(ask, topology.WriteQuery{NS: of.ns, Project: of.project, Of: project, Date: of.date, From: now.Add(-datedEvery), Limit: 1})
	if err != nil || len(got) == 0 {
		return 0, err
	}
	return got[0].Rows, nil
}
