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

// pinsPollInterval is how often runs of other processes are looked for; the engine notifies about its own.
const pinsPollInterval = 30 * time.Second

// pinIndex knows owner and expiry of pins from the plans that made them. It reads all runs once,
// and again only after a run began or ended; otherwise it reads only the newest run and those that
// were open. Safe for concurrent use.
type pinIndex struct {
	runs   runLister
	tables interface {
		Subscribe() (*topology.Table, <-chan struct{}, func())
		Table() *topology.Table
	}
	log *slog.Logger

	readMu   sync.Mutex // held while runs are read; guards newest, open and complete
	newest   string     // newest run id of the last complete read
	open     []string   // runs that were open then
	complete bool       // a complete read has succeeded

	mu      sync.Mutex
	cluster string // cluster id of pins
	pins    map[string]rules.Pin
	version uint64 // increases when pins change

	subscribers notify.Subscribers
}

// Pins returns the known pins of the cluster by project, and their version; nil while unknown. The
// map is never changed: new pins come in a new map with a new version.
func (b *pinIndex) Pins() (map[string]rules.Pin, uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cluster != b.tables.Table().ClusterID {
		return nil, b.version
	}
	return b.pins, b.version
}

// Subscribe returns a channel that receives a value after the pins changed, and a function that
// ends the subscription.
func (b *pinIndex) Subscribe() (<-chan struct{}, func()) { return b.subscribers.Subscribe() }

// run updates the index until the context ends.
func (b *pinIndex) run(ctx context.Context) error {
	told, end := b.runs.Subscribe()
	defer end()
	_, tables, endTables := b.tables.Subscribe()
	defer endTables()
	tick := time.NewTicker(pinsPollInterval)
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

// await waits for a reason to read again; false at the end of the context. A new routing table is a
// reason only if it is of another cluster.
func (b *pinIndex) await(ctx context.Context, seen string, told <-chan struct{}, tick <-chan time.Time, tables <-chan struct{}) bool {
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

// latest returns the pins after reading the runs that began or ended since the last call.
func (b *pinIndex) latest(ctx context.Context, cluster string) (map[string]rules.Pin, error) {
	ctx, cancel := context.WithTimeout(ctx, runsTimeout)
	defer cancel()
	b.readMu.Lock()
	defer b.readMu.Unlock()
	if same, err := b.unchanged(ctx, cluster); err != nil || same {
		pins, _ := b.Pins()
		return pins, err
	}
	b.complete = false
	newest, open := "", []string(nil)
	pins, settled := map[string]rules.Pin{}, map[string]bool{}
	err := forEachRun(ctx, b.runs, func(r engine.Run) bool {
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
		case actions.Unpin: // a pin that exists now was made by somebody else
			settled[r.Args.Project] = true
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	b.newest, b.open, b.complete = newest, open, true
	b.store(cluster, pins)
	return pins, nil
}

// unchanged reports whether no run began or ended since the last complete read. An older run
// changes only through the run that undoes it.
func (b *pinIndex) unchanged(ctx context.Context, cluster string) (bool, error) {
	b.mu.Lock()
	of := b.cluster
	b.mu.Unlock()
	if !b.complete || of != cluster {
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

func (b *pinIndex) store(cluster string, pins map[string]rules.Pin) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cluster == cluster && b.pins != nil && maps.Equal(b.pins, pins) {
		return
	}
	b.cluster, b.pins, b.version = cluster, pins, b.version+1
	b.subscribers.Notify()
}
