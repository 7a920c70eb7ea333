package keyvis

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"shardboard/internal/clock"
	"shardboard/internal/heat"
	"shardboard/internal/natural"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// Tables is the source of the newest table.
type Tables interface {
	// Table is the newest one: never nil, not Loaded before the first reads.
	Table() *topology.Table
	// Subscribe returns the newest table and a channel that receives a value when a newer one is there. Changes in quick
	// succession share a value. The last result ends the subscription.
	Subscribe() (*topology.Table, <-chan struct{}, func())
}

// saveTimeout is the timeout of one write to the store.
const saveTimeout = 10 * time.Second

// adoptAgain is the pause after the stored pictures could not be read.
const adoptAgain = 2 * time.Second

// Recorder makes heat maps from slots. Safe for concurrent use.
type Recorder struct {
	tables Tables
	store  store.HeatPictures // nil: nothing is stored
	log    *slog.Logger
	wake   chan struct{}

	mu       sync.Mutex
	pictures map[string]*picture
	pending  map[columnID]*column // columns to save; nil: to delete
	dropped  map[string]bool      // pictures to delete
	saving   bool                 // this process leads and has taken over what is stored
}

// columnID identifies a column in the store.
type columnID struct {
	picture string
	at      int64 // milliseconds
	step    time.Duration
}

// New makes a recorder; without a store (nil) it keeps its data in memory.
func New(tables Tables, s store.HeatPictures, log *slog.Logger) *Recorder {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Recorder{tables: tables, store: s, log: log, wake: make(chan struct{}, 1),
		pictures: map[string]*picture{}, pending: map[columnID]*column{}, dropped: map[string]bool{}}
}

// Take adds a slot to its collection's pictures. It never waits for the store.
func (r *Recorder) Take(s heat.Slot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	minute := s.From.Truncate(Finest)
	for _, by := range []By{ByKey, ByProject} {
		p := r.pictureOf(s, by)
		if s.From.Before(p.until) {
			continue // another process has counted it
		}
		if p.open != nil && !p.open.From.Equal(minute) {
			r.close(p)
		}
		p.take(s)
		if s.To.Equal(minute.Add(Finest)) {
			r.close(p)
		}
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *Recorder) close(p *picture) {
	p.close(r.tables.Table().Collection(p.ns), func(put, gone *column) {
		if !r.saving {
			return // the leader saves its own, and adopt what is missing
		}
		if put != nil {
			r.pending[columnIDOf(p, put)] = put
		}
		if gone != nil {
			r.pending[columnIDOf(p, gone)] = nil
		}
	})
}

func columnIDOf(p *picture, c *column) columnID { return columnID{p.name, c.From.UnixMilli(), c.Step} }

// pictureOf finds or creates a slot's picture. A new incarnation of a collection (dropped,
// resharded, refined) has other keys and gets a new picture.
func (r *Recorder) pictureOf(s heat.Slot, by By) *picture {
	life := "-"
	if by == ByKey {
		life = incarnationName(s.Life)
	}
	name := pictureName(s.NS, by, life)
	if p := r.pictures[name]; p != nil {
		return p
	}
	for other, p := range r.pictures {
		if p.ns == s.NS && p.by == by {
			delete(r.pictures, other)
			r.forget(other)
		}
	}
	p := &picture{name: name, ns: s.NS, by: by, life: life}
	r.pictures[name] = p
	return p
}

func (r *Recorder) forget(name string) {
	for at := range r.pending {
		if at.picture == name {
			delete(r.pending, at)
		}
	}
	if r.saving {
		r.dropped[name] = true
	}
}

// find returns a collection's picture; nil when there is none.
func (r *Recorder) find(ns topology.Namespace, by By) *picture {
	for _, p := range r.pictures {
		if p.ns == ns && p.by == by {
			return p
		}
	}
	return nil
}

// Collections returns those with pictures, by name.
func (r *Recorder) Collections() []topology.Namespace {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []topology.Namespace
	for _, p := range r.pictures {
		if p.by == ByProject {
			out = append(out, p.ns)
		}
	}
	slices.SortFunc(out, func(a, b topology.Namespace) int { return natural.Compare(a, b) })
	return out
}

// Run loads the stored pictures and, while this process leads, saves new columns until the context
// ends.
func (r *Recorder) Run(ctx context.Context) error {
	if r.store == nil {
		<-ctx.Done()
		return ctx.Err()
	}
	cluster, err := r.clusterID(ctx)
	if err != nil {
		return err
	}
	lead := func(ctx context.Context) error { return r.lead(ctx, cluster) }
	l, shared := r.store.(interface {
		Leads() bool
		Lead(ctx context.Context, work func(context.Context) error) error
	})
	if !shared {
		return lead(ctx)
	}
	if !l.Leads() {
		if err := r.load(ctx, cluster); err != nil {
			r.log.Error("load heat maps", "error", err)
		}
	}
	if err := l.Lead(ctx, lead); err != nil {
		return err
	}
	return ctx.Err()
}

// lead takes the stored pictures over and saves new columns until the context ends.
func (r *Recorder) lead(ctx context.Context, cluster string) error {
	for failed := false; ; failed = true {
		err := r.adopt(ctx, cluster)
		if err == nil {
			break
		}
		if !failed && ctx.Err() == nil {
			r.log.Error("load heat maps", "error", err)
		}
		if err := clock.Sleep(ctx, adoptAgain); err != nil {
			return err
		}
	}
	return r.keepSaving(ctx, cluster)
}

// keepSaving saves new columns until the context ends.
func (r *Recorder) keepSaving(ctx context.Context, cluster string) error {
	defer r.stopSaving()
	failed := false
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
			defer cancel()
			if err := r.save(last, cluster); err != nil && !errors.Is(err, store.ErrNotLeading) {
				r.log.Error("save heat maps", "error", err)
			}
			return ctx.Err()
		case <-r.wake:
		}
		save, cancel := context.WithTimeout(ctx, saveTimeout)
		err := r.save(save, cluster)
		cancel()
		if err != nil && !failed && ctx.Err() == nil {
			r.log.Warn("heat maps are not saved", "error", err)
		}
		failed = err != nil
	}
}

// clusterID waits for the first table.
func (r *Recorder) clusterID(ctx context.Context) (string, error) {
	t, changed, stop := r.tables.Subscribe()
	defer stop()
	for !t.Loaded {
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-changed:
			t = r.tables.Table()
		}
	}
	return t.ClusterID, nil
}
