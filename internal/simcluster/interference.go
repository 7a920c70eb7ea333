package simcluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/balancer"
)

// InterferenceKind says who gets in the way of a client's own changes.
type InterferenceKind string

const (
	// BusyBalancer is a balancer that is never done: every round moves a chunk of the
	// collections, within their zones, besides what its policy asks for. Its moves refuse
	// others on the same shards (117), and others refuse them.
	BusyBalancer InterferenceKind = "busy-balancer"
	// MovesOutOfZones is somebody else who moves chunks by hand from where a zone wants
	// them to a shard outside of it; the balancer moves them back. Where a release refuses
	// such a move (4.4, 5.0) the range is taken off its zone for as long as the move takes.
	MovesOutOfZones InterferenceKind = "moves-out-of-zones"
	// ChangesZones is somebody else who gives ranges to another zone, of another shard, so
	// that the balancer moves their chunks there. The zones that it makes are called
	// "elsewhere-" and the shard's name.
	ChangesZones InterferenceKind = "changes-zones"
)

// Interference is what happens to a cluster besides what its clients do.
type Interference struct {
	Kind InterferenceKind
	// Namespaces are the collections concerned; none means all that are sharded.
	Namespaces []string
	// Every is the pause after each thing that is done; default 1 s, stretched by
	// Options.Pace. A busy balancer's round begins so long after the end of the one before:
	// every 1.4 s with small chunks.
	Every time.Duration
	// Seed decides what is done, and when exactly; default Options.Seed.
	Seed int64
	// KeepOrphans leaves the copies of moved chunks on the donor for Options.OrphanDelay, as
	// MongoDB does by default. Chunks then can't come back for so long: moves soon wait 10 s
	// in vain, and a busy balancer is not busy any more. Without it all that is moved
	// meanwhile by the balancer and the interference leaves no orphans (_waitForDelete).
	KeepOrphans bool
}

// Interfering is an interference that is on.
type Interfering struct {
	acts func() int
	end  func()
	once sync.Once
}

// Acts is how often something was done: chunks moved, or ranges given to another zone.
// Attempts that were refused do not count.
func (i *Interfering) Acts() int { return i.acts() }

// Stop ends it and returns when nothing of it runs any more. What it did stays. Stopping
// again does nothing.
func (i *Interfering) Stop() { i.once.Do(i.end) }

// Interfere lets something happen to a started cluster until Stop or Close. It turns the
// balancer on, as balancerStart does; who turns it off again stops its part of the
// interference. Migrations take their time meanwhile, also on a still cluster. The same
// seed does the same to the same cluster. Everything waits on timers alone, so that it
// can be used in a synctest bubble; moments are chosen to the microsecond, so that they
// seldom coincide with those of others. There can be one busy balancer at a time: a
// second one takes the place of the first.
func (c *Cluster) Interfere(i Interference) (*Interfering, error) {
	if i.Every == 0 {
		i.Every = time.Duration(float64(time.Second) * c.opts.Pace)
	}
	if i.Every < 0 {
		return nil, fmt.Errorf("interfere every %s: it can't be negative", i.Every)
	}
	if i.Seed == 0 {
		i.Seed = c.opts.Seed
	}
	m := &interferer{c: c, o: i, rng: rand.New(rand.NewPCG(uint64(i.Seed), 0x3edd))}
	var act func(context.Context) error
	switch i.Kind {
	case BusyBalancer:
	case MovesOutOfZones:
		act = m.moveOut
	case ChangesZones:
		act = m.rezone
	default:
		return nil, fmt.Errorf("interfere by %q: no such kind", i.Kind)
	}
	if _, err := c.Command(c.life, "admin", bson.D{{Key: "balancerStart", Value: 1}}); err != nil {
		return nil, fmt.Errorf("turn on the balancer: %w", err)
	}
	c.countInterference(1, i.KeepOrphans)
	if act == nil {
		return c.startBusyBalancer(i, m.jitter()), nil
	}
	ctx, cancel := context.WithCancel(c.life)
	done := make(chan struct{})
	if !c.goRun(ctx, func(ctx context.Context) { defer close(done); m.run(ctx, act) }) {
		close(done)
	}
	return &Interfering{acts: func() int { return int(m.acts.Load()) }, end: func() {
		cancel()
		<-done
		c.countInterference(-1, i.KeepOrphans)
	}}, nil
}

// startBusyBalancer is Interfere for the balancer.
func (c *Cluster) startBusyBalancer(i Interference, moment time.Duration) *Interfering {
	t := &balancer.Traffic{Namespaces: i.Namespaces, Pause: i.Every + moment, Seed: uint64(i.Seed)}
	c.balancer.SetTraffic(t)
	return &Interfering{acts: t.Moved, end: func() {
		c.balancer.ClearTraffic(t)
		c.countInterference(-1, i.KeepOrphans)
	}}
}

// countInterference counts the interferences that are on. A still cluster is not still meanwhile.
func (c *Cluster) countInterference(more int, orphans bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !orphans {
		c.balancer.Prompt(more > 0)
	}
	c.interferences += more
	c.catalog.SetStill(c.opts.Still && c.interferences == 0)
}

// interferer is somebody else, with an operator's rights.
type interferer struct {
	c    *Cluster
	o    Interference
	rng  *rand.Rand
	acts atomic.Int64
}

// jitter is a part of a millisecond.
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

// errIdle means that there is no range to interfere with just now.
var errIdle = fmt.Errorf("there is nothing to interfere with")

// zoneRange is a range of a zone and the shards outside of the zone, that is, those where
// its chunks should not be.
type zoneRange struct {
	ns       string
	min, max bson.Raw
	zone     string
	chunks   [][2]bson.Raw // inside of the range, on shards of the zone
	outside  []string
}

// ranges are the ranges that somebody could interfere with, in a fixed order.
func (m *interferer) ranges() (out []zoneRange) {
	c := m.c.catalog
	c.Mu.RLock()
	defer c.Mu.RUnlock()
	names := m.o.Namespaces
	if len(names) == 0 {
		names = c.Namespaces()
	}
	for _, ns := range names {
		r := c.Routing(ns)
		if r == nil {
			continue
		}
		for _, z := range c.Zones(ns) {
			in := c.InZone(z.Name)
			one := zoneRange{ns: ns, min: z.Min, max: z.Max, zone: z.Name}
			for _, s := range c.ShardNames() {
				if !slices.Contains(in, s) && !c.Draining(s) {
					one.outside = append(one.outside, s)
				}
			}
			for _, ch := range r.Inside(z.Min, z.Max) {
				if slices.Contains(in, ch.Shard) {
					one.chunks = append(one.chunks, [2]bson.Raw{ch.Min, ch.Max})
				}
			}
			if len(one.outside) > 0 {
				out = append(out, one)
			}
		}
	}
	return out
}

// moveOut moves a chunk of some zone to a shard outside of it.
func (m *interferer) moveOut(ctx context.Context) error {
	list := slices.DeleteFunc(m.ranges(), func(z zoneRange) bool { return len(z.chunks) == 0 })
	if len(list) == 0 {
		return errIdle
	}
	z := list[m.rng.IntN(len(list))]
	chunk, to := z.chunks[m.rng.IntN(len(z.chunks))], z.outside[m.rng.IntN(len(z.outside))]
	if !m.c.version.atLeast(6, 0, 0) {
		if err := m.assign(ctx, z, nil); err != nil {
			return err
		}
		// Also when it is stopped in between: nobody takes half a step.
		defer func() { _ = m.assign(context.WithoutCancel(ctx), z, z.zone) }()
	}
	_, err := m.c.Command(ctx, "admin", bson.D{
		{Key: "moveChunk", Value: z.ns}, {Key: "bounds", Value: bson.A{chunk[0], chunk[1]}},
		{Key: "to", Value: to}, {Key: "_waitForDelete", Value: !m.o.KeepOrphans},
	})
	return err
}

// rezone gives a range to the zone of another shard.
func (m *interferer) rezone(ctx context.Context) error {
	list := m.ranges()
	if len(list) == 0 {
		return errIdle
	}
	z := list[m.rng.IntN(len(list))]
	to := z.outside[m.rng.IntN(len(z.outside))]
	zone := "elsewhere-" + to
	if _, err := m.c.Command(ctx, "admin", bson.D{{Key: "addShardToZone", Value: to}, {Key: "zone", Value: zone}}); err != nil {
		return err
	}
	if err := m.assign(ctx, z, nil); err != nil {
		return err
	}
	return m.assign(context.WithoutCancel(ctx), z, zone)
}

// assign ties a range to a zone, or to none.
func (m *interferer) assign(ctx context.Context, z zoneRange, zone any) error {
	_, err := m.c.Command(ctx, "admin", bson.D{
		{Key: "updateZoneKeyRange", Value: z.ns}, {Key: "min", Value: z.min}, {Key: "max", Value: z.max}, {Key: "zone", Value: zone},
	})
	return err
}
