package app

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/fault"
	"shardboard/internal/notify"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
)

// pinsEvery is how soon is seen what another process ran: of our own runs the
// engine tells.
const pinsEvery = 30 * time.Second

// pinBook knows what the plans that made pins said of them. It reads the runs
// once, and again only after a run has begun or ended; all else costs the newest
// run and those that were open. Safe for concurrent use.
type pinBook struct {
	runs   ranRuns
	tables interface {
		Subscribe() (*topology.Table, <-chan struct{}, func())
		Table() *topology.Table
	}
	log *slog.Logger

	reading sync.Mutex // held while runs are read; guards the next three
	newest  string     // run id of the last whole reading
	open    []string   // runs that had not ended then
	whole   bool       // there was one

	mu      sync.Mutex
	cluster string // whose pins they are
	pins    map[string]rules.Pin
	version uint64 // grows when pins change

	subscribers notify.Subscribers
}

// Pins are what is known by now of the pins of the cluster, by project; nil:
// nothing is. The map does not change any more; the version does when another
// takes its place.
func (b *pinBook) Pins() (map[string]rules.Pin, uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cluster != b.tables.Table().ClusterID {
		return nil, b.version
	}
	return b.pins, b.version
}

// Subscribe gives a channel that receives a value after the pins changed. The
// last result ends it.
func (b *pinBook) Subscribe() (<-chan struct{}, func()) { return b.subscribers.Subscribe() }

// run keeps the book until the context ends.
func (b *pinBook) run(ctx context.Context) error {
	told, end := b.runs.Subscribe()
	defer end()
	_, tables, endTables := b.tables.Subscribe()
	defer endTables()
	tick := time.NewTicker(pinsEvery)
	defer tick.Stop()
	for {
		seen := b.tables.Table().ClusterID
		if seen != "" {
			if _, err := b.latest(ctx, seen); err != nil && ctx.Err() == nil {
				b.log.Warn("read plans of pins", "err", err)
			}
		}
		if !b.await(ctx, seen, told, tick.C, tables) {
			return nil
		}
	}
}

// await waits for a reason to look again; false at the end of the context. Of
// tables it is another cluster than the one that was seen.
func (b *pinBook) await(ctx context.Context, seen string, told <-chan struct{}, tick <-chan time.Time, tables <-chan struct{}) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case <-told:
			return true
		case <-tick:
			return true
		case <-tables:
			if b.tables.Table().ClusterID != seen {
				return true
			}
		}
	}
}

// latest reads what runs have begun or ended since it was last asked.
func (b *pinBook) latest(ctx context.Context, cluster string) (map[string]rules.Pin, error) {
	ctx, cancel := context.WithTimeout(ctx, runsWait)
	defer cancel()
	b.reading.Lock()
	defer b.reading.Unlock()
	if same, err := b.same(ctx, cluster); err != nil || same {
		pins, _ := b.Pins()
		return pins, err
	}
	b.whole = false
	newest, open := "", []string(nil)
	pins, settled := map[string]rules.Pin{}, map[string]bool{}
	err := eachRun(ctx, b.runs, func(r engine.Run) bool {
		if newest == "" {
			newest = r.ID
		}
		if r.State.Open() {
			open = append(open, r.ID)
		}
		if r.State != engine.Succeeded || r.Cluster != cluster || settled[r.Args.Project] {
			return true
		}
		switch r.Kind {
		case actions.Pin, actions.Isolate:
			p := rules.Pin{Owner: r.Args.Owner}
			if r.Args.Expires > 0 {
				p.Expires = r.Ended.Add(r.Args.Expires)
			}
			pins[r.Args.Project], settled[r.Args.Project] = p, true
		case actions.Unpin: // a pin that is there now is somebody else's
			settled[r.Args.Project] = true
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	b.newest, b.open, b.whole = newest, open, true
	b.keep(cluster, pins)
	return pins, nil
}

// same tells whether no run has begun or ended since the last whole reading. An
// older run changes by the run that undoes it only.
func (b *pinBook) same(ctx context.Context, cluster string) (bool, error) {
	b.mu.Lock()
	of := b.cluster
	b.mu.Unlock()
	if !b.whole || of != cluster {
		return false, nil
	}
	newest, _, err := b.runs.Runs(ctx, "", 1)
	if err != nil {
		return false, err
	}
	if len(newest) == 0 || newest[0].ID != b.newest {
		return len(newest) == 0 && b.newest == "", nil
	}
	for _, id := range b.open {
		switch r, err := b.runs.RunByID(ctx, id); {
		case fault.Of(err) == fault.NotFound:
			return false, nil
		case err != nil:
			return false, err
		case !r.State.Open():
			return false, nil
		}
	}
	return true, nil
}

func (b *pinBook) keep(cluster string, pins map[string]rules.Pin) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cluster == cluster && b.pins != nil && maps.Equal(b.pins, pins) {
		return
	}
	b.cluster, b.pins, b.version = cluster, pins, b.version+1
	b.subscribers.Notify()
}
