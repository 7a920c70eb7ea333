package heat

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

const (
	// datedEvery is the interval and time span of counting changed rows. No index finds them by
	// date alone, so each count scans the project's rows.
	changedRowsInterval = time.Minute
	// HottestProjects is for how many projects of a database changed rows are counted.
	HottestProjects = 10
	// datedRest is how long a project is skipped after its count took too long.
	restAfterTimeout = 30 * time.Minute
)

// Updated is the number of a project's rows that were updated in place, by the date in them. A row
// updated twice counts once, so it is a lower bound.
type Updated struct {
	NS       topology.Namespace
	From, To time.Time
	Rows     int64
}

// PerSecond is the lower bound of the write rate.
func (u Updated) PerSecond() float64 {
	if d := u.To.Sub(u.From).Seconds(); d > 0 {
		return float64(u.Rows) / d
	}
	return 0
}

// changedRows has the newest count of each project and collection.
type changedRows struct {
	mu    sync.RWMutex
	rows  map[tenant][]Updated
	rests map[projectCollection]time.Time // only Run's goroutine
}

// tenant is a project of one database; another database may have the same id.
type tenant struct {
	db string
	id bson.ObjectID
}

type projectCollection struct {
	ns      topology.Namespace
	project bson.ObjectID
}

// Updated returns the counts of a project's rows that are updated in place; none if it is not among
// the hottest projects, or its count took too long.
func (c *Collector) Updated(db string, project bson.ObjectID) []Updated {
	c.changed.mu.RLock()
	defer c.changed.mu.RUnlock()
	return c.changed.rows[tenant{db, project}]
}

// countChangedRows counts each minute that has just ended, for the hottest projects of each database. A
// minute whose end was missed is not counted.
func (c *Collector) countChangedRows(ctx context.Context, t *topology.Table, all []target, to time.Time) {
	if !to.Equal(to.Truncate(changedRowsInterval)) {
		return
	}
	rows := map[tenant][]Updated{}
	for _, of := range byMethod(ChangedRows, all) {
		slot := Slot{NS: of.ns, Method: ChangedRows, From: to.Add(-changedRowsInterval), To: to, Every: 1, Capped: true}
		hottest := c.hottest(all, of.ns.Database())
		var failed error
		answered := len(hottest) == 0
		for _, value := range hottest {
			project, stored, _ := placement.IDOf(value)
			n, err := c.countUnlessResting(ctx, of, value)
			if err != nil {
				failed = err
				continue
			}
			answered = true
			id := tenant{of.ns.Database(), project}
			rows[id] = append(rows[id], Updated{NS: of.ns, From: slot.From, To: to, Rows: n})
			if n > 0 {
				slot.Counts = append(slot.Counts, Count{Project: project, Rows: n})
				slot.Stored = slot.Stored.With(project, stored)
			}
		}
		if ctx.Err() != nil && !answered {
			break // no time left
		}
		if answered {
			failed = nil
		}
		c.store(t.Collection(of.ns), of, slot, failed)
		c.readOperations(ctx, of.ns, to)
	}
	c.changed.mu.Lock()
	c.changed.rows = rows
	c.changed.mu.Unlock()
}

// hottest returns the ids, as they are stored, of the projects of a database with most new rows in the
// last minutes, in all collections together.
func (c *Collector) hottest(all []target, db string) []bson.RawValue {
	var windows []Window
	for _, of := range byMethod(NewRows, all) {
		if of.ns.Database() == db {
			windows = append(windows, c.Window(of.ns, 5*time.Minute))
		}
	}
	sums := Sums(windows, Window.Projects)
	out := make([]bson.RawValue, 0, HottestProjects)
	for _, s := range sums[:min(len(sums), HottestProjects)] {
		for _, w := range windows {
			if id, ok := w.stored(s.Line.Project); ok {
				out = append(out, id)
				break
			}
		}
	}
	return out
}

// errResting is the error for a project that is skipped because its count took too long.
var errResting = fault.New(
	fault.Unavailable,
	"Scanning the rows of the hottest projects takes too long; they are skipped for half an hour.",
)

// countUnlessResting counts a project's rows unless its last count took too long.
func (c *Collector) countUnlessResting(ctx context.Context, of target, value bson.RawValue) (int64, error) {
	project, _, _ := placement.IDOf(value)
	id, now := projectCollection{of.ns, project}, c.o.Now()
	if now.Before(c.changed.rests[id]) {
		return 0, errResting
	}
	n, err := c.countProject(ctx, of, value, now)
	if err == nil || ctx.Err() != nil || errors.Is(err, errNoBudget) {
		return n, err // running out of time or budget says nothing about this project
	}
	if c.changed.rests == nil {
		c.changed.rests = map[projectCollection]time.Time{}
	}
	c.changed.rests[id] = now.Add(restAfterTimeout)
	return 0, err
}

// countProject is one query to the shards with the project's rows; it returns one document. It
// counts all dates since a minute ago, without an upper bound, because a row that is updated
// constantly has a date of just now by its client's clock.
func (c *Collector) countProject(ctx context.Context, of target, project bson.RawValue, now time.Time) (int64, error) {
	if c.o.Budget.Hold(1) == 0 {
		return 0, errNoBudget
	}
	ask, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	got, err := c.src.Writes(
		ask,
		WriteQuery{NS: of.ns, Project: of.project, Of: project, Date: of.date, From: now.Add(-changedRowsInterval), Limit: 1},
	)
	if err != nil || len(got.Counts) == 0 {
		return 0, err
	}
	return got.Counts[0].Rows, nil
}
