package simcluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/balancer"
	"shardboard/internal/simcluster/catalog"
	"shardboard/internal/simcluster/engine/value"
)

// InterferenceKind is a kind of concurrent activity that conflicts with a client's own
// changes.
type InterferenceKind string

const (
	// BusyBalancer keeps the balancer busy: every round also moves one chunk of the
	// collections within its zone, without need. A move on a shard that already takes part
	// in another one fails with 117, in both directions.
	BusyBalancer InterferenceKind = "busy-balancer"
	// MovesOutOfZones is another operator who moves chunks to shards outside of their
	// zone; the balancer moves them back. Where a release refuses such a move (4.4, 5.0),
	// the range is removed from its zone during the move.
	MovesOutOfZones InterferenceKind = "moves-out-of-zones"
)

// Interference describes concurrent activity in a cluster.
type Interference struct {
	Kind InterferenceKind
	// Namespaces are the affected collections; empty means all sharded ones.
	Namespaces []string
	// Every is the pause after each action; default 1 s, multiplied by Options.Pace. For a
	// busy balancer it is the pause between rounds, which start about every 1.4 s with
	// small chunks.
	Every time.Duration
	// Seed determines the actions and their exact times; default Options.Seed.
	Seed int64
	// KeepOrphans leaves orphans on the donor for Options.OrphanDelay, as MongoDB does by
	// default. Chunks cannot return to that shard for so long, so moves soon time out
	// after 10 s and a busy balancer comes to a stop. Without it, moves of the balancer
	// and of the interference leave no orphans (_waitForDelete).
	KeepOrphans bool
}

// Interfering is a running interference.
type Interfering struct {
	acts func() int
	end  func()
	once sync.Once
}

// Acts counts the successful actions: chunks moved.
func (i *Interfering) Acts() int { return i.acts() }

// Stop ends the interference and waits for its goroutines. Its changes stay. Stopping
// again does nothing.
func (i *Interfering) Stop() { i.once.Do(i.end) }

// Interfere runs an interference on a started cluster until Stop or Close. It turns the
// balancer on, as balancerStart does; turning the balancer off stops its part of the
// interference. Meanwhile migrations take real time even on a still cluster. The same
// seed has the same effect on the same cluster. All waiting uses timers, so it works in
// a synctest bubble; times have microsecond jitter, so that they rarely coincide with
// other events. Only one busy balancer runs at a time: a second one replaces the first.
func (c *Cluster) Interfere(i Interference) (*Interfering, error) {
	i.Every = cmp.Or(i.Every, time.Duration(float64(time.Second)*c.opts.Pace))
	if i.Every < 0 {
		return nil, fmt.Errorf("interfere every %s: it can't be negative", i.Every)
	}
	i.Seed = cmp.Or(i.Seed, c.opts.Seed)
	m := &interferer{c: c, o: i, rng: rand.New(rand.NewPCG(uint64(i.Seed), 0x3edd))}
	var act func(context.Context) error
	switch i.Kind {
	case BusyBalancer:
	case MovesOutOfZones:
		act = m.moveOut
	default:
		return nil, fmt.Errorf("interfere by %q: no such kind", i.Kind)
	}
	if _, err := c.Command(c.life.ctx, "admin", value.D("balancerStart", 1)); err != nil {
		return nil, fmt.Errorf("turn on the balancer: %w", err)
	}
	c.countInterference(1, i.KeepOrphans)
	if act == nil {
		return c.startBusyBalancer(i, m.jitter()), nil
	}
	ctx, cancel := context.WithCancel(c.life.ctx)
	done := make(chan struct{})
	if !c.life.run(ctx, func(ctx context.Context) { defer close(done); m.run(ctx, act) }) {
		close(done)
	}
	return &Interfering{acts: func() int { return int(m.acts.Load()) }, end: func() {
		cancel()
		<-done
		c.countInterference(-1, i.KeepOrphans)
	}}, nil
}

// startBusyBalancer implements BusyBalancer.
func (c *Cluster) startBusyBalancer(i Interference, moment time.Duration) *Interfering {
	t := &balancer.Traffic{Namespaces: i.Namespaces, Pause: i.Every + moment, Seed: uint64(i.Seed)}
	c.balancer.SetTraffic(t)
	return &Interfering{acts: t.Moved, end: func() {
		c.balancer.ClearTraffic(t)
		c.countInterference(-1, i.KeepOrphans)
	}}
}

// countInterference counts running interferences. While there are any, a still cluster
// behaves like a live one.
func (c *Cluster) countInterference(more int, orphans bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !orphans {
		c.balancer.Prompt(more > 0)
	}
	c.interferences += more
	c.catalog.SetStill(c.opts.Still && c.interferences == 0)
}

// interferer is another operator who changes the cluster at random.
type interferer struct {
	c    *Cluster
	o    Interference
	rng  *rand.Rand
	acts atomic.Int64
}

// jitter is a random duration below a millisecond.
func (m *interferer) jitter() time.Duration {
	return time.Duration(1+m.rng.IntN(999)) * time.Microsecond
}

func (m *interferer) run(ctx context.Context, act func(context.Context) error) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(m.o.Every + m.jitter()):
		}
		switch err := act(ctx); {
		case err == nil:
			m.acts.Add(1)
		case ctx.Err() == nil:
			m.c.log.Debug("interference", "kind", m.o.Kind, "err", err)
		}
	}
}

// moveOut moves a chunk of some zone to a shard outside of it, if there is one.
func (m *interferer) moveOut(ctx context.Context) error {
	move, ok := m.pick()
	if !ok {
		return errors.New("there is nothing to interfere with")
	}
	if z := move.Zone; !m.c.version.atLeast(6, 0, 0) {
		assign := func(ctx context.Context, zone any) error {
			_, err := m.c.Command(ctx, "admin", value.D("updateZoneKeyRange", move.NS, "min", z.Min, "max", z.Max, "zone", zone))
			return err
		}
		if err := assign(ctx, nil); err != nil {
			return err
		}
		// Restore the zone even when the interference is stopped during the move.
		defer func() { _ = assign(context.WithoutCancel(ctx), z.Name) }()
	}
	_, err := m.c.Command(ctx, "admin", value.D("moveChunk", move.NS, "bounds", bson.A{move.Min, move.Max}, "to", move.To,
		"_waitForDelete", !m.o.KeepOrphans))
	return err
}

func (m *interferer) pick() (move catalog.Candidate, ok bool) {
	c := m.c.catalog
	c.Mu.RLock()
	defer c.Mu.RUnlock()
	names := m.o.Namespaces
	if len(names) == 0 {
		names = c.Namespaces()
	}
	for _, i := range m.rng.Perm(len(names)) {
		if move, ok = c.AnyMove(names[i], make(map[string]bool), true, m.rng.IntN); ok {
			break
		}
	}
	return move, ok
}
