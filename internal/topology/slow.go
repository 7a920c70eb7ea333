package topology

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"time"
)

// pollSlow reads the parts that change rarely, all at the same time, each with
// its own deadline and its own fate: seven commands, and while migrations are
// new one or two of the balancer's log. One publication carries what came back.
func (w *Watcher) pollSlow(ctx context.Context) error {
	if err := w.slow.enter(ctx); err != nil {
		return err
	}
	defer w.slow.leave()

	began := time.Now()
	var shards outcome[[]Shard]
	var databases outcome[[]Database]
	var zones outcome[[]ZoneRange]
	var settings outcome[Balancer]
	var routers outcome[[]Router]
	var status outcome[balancerStatus]
	var wg sync.WaitGroup
	wg.Go(func() { shards.read(ctx, w.o, w.src.Shards) })
	wg.Go(func() { databases.read(ctx, w.o, w.src.Databases) })
	wg.Go(func() { zones.read(ctx, w.o, w.src.Zones) })
	wg.Go(func() { settings.read(ctx, w.o, w.src.Settings) })
	wg.Go(func() { routers.read(ctx, w.o, w.src.Routers) })
	wg.Go(func() {
		status.read(ctx, w.o, func(ctx context.Context) (s balancerStatus, err error) {
			s.inRound, s.rounds, err = w.src.BalancerStatus(ctx)
			return s, err
		})
	})
	wg.Go(func() { _, _ = w.pollEvents(ctx) })
	wg.Wait()
	if ctx.Err() != nil {
		return ended(ctx)
	}

	was := w.Table().Health
	w.publish(func(t *Table) bool {
		loud := shards.settle(t, PartShards, &t.Shards, deepEqual)
		former := Table{Databases: t.Databases}
		if databases.settle(t, PartDatabases, &t.Databases, deepEqual) {
			t.forgetMoved(former.Primary)
			loud = true
		}
		raw := rawZones(t.Zones)
		if zones.settle(t, PartZones, &raw, deepEqual) {
			t.Zones, loud = completeZones(raw, t), true
		}
		// Settings and status are two reads of one value.
		b := t.Balancer
		b.InRound, b.Rounds, b.StatusKnown = false, 0, false
		if settings.settle(t, PartSettings, &b, deepEqual) {
			loud = true
		}
		s := balancerStatus{t.Balancer.InRound, t.Balancer.Rounds}
		// The count of rounds and the routers' pings change all the time: they are
		// taken over without waking anybody.
		if status.settle(t, PartBalancer, &s, func(a, b balancerStatus) bool { return a.inRound == b.inRound }) {
			loud = true
		}
		b.InRound, b.Rounds, b.StatusKnown = s.inRound, s.rounds, !t.Health[PartBalancer].At.IsZero()
		t.Balancer = b
		if usable(shards.err) && usable(databases.err) {
			t.slowBegan = began
		}
		loud = t.compare(time.Now()) || loud
		return routers.settle(t, PartRouters, &t.Routers, func(a, b []Router) bool {
			return slices.EqualFunc(a, b, func(a, b Router) bool { return a.Host == b.Host && a.Version == b.Version })
		}) || loud
	})
	is := w.Table().Health
	for _, p := range []Part{PartShards, PartDatabases, PartZones, PartSettings, PartRouters, PartBalancer} {
		w.logHealth(p, was[p], is[p])
	}
	w.recheck(ctx)
	w.pollRounds(ctx)
	return nil
}

type balancerStatus struct {
	inRound bool
	rounds  int64
}

// outcome is what one read gave.
type outcome[T any] struct {
	value T
	err   error
}

func (o *outcome[T]) read(ctx context.Context, opts Options, f func(context.Context) (T, error)) {
	ctx, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	o.value, o.err = f(ctx)
}

// settle takes a good value over and notes the read. It tells whether anything
// changed that matters by the given measure.
func (o *outcome[T]) settle(t *Table, p Part, field *T, same func(a, b T) bool) (loud bool) {
	loud = t.note(p, o.err)
	if usable(o.err) {
		loud = loud || !same(*field, o.value)
		*field = o.value
	}
	return loud
}

func deepEqual[T any](a, b T) bool { return reflect.DeepEqual(a, b) }

// rawZones is the ranges as the source gives them, to compare with a new read.
func rawZones(zones []ZoneRange) []ZoneRange {
	out := slices.Clone(zones)
	for i := range out {
		out[i] = ZoneRange{NS: out[i].NS, Zone: out[i].Zone, RawMin: out[i].RawMin, RawMax: out[i].RawMax}
	}
	return out
}
