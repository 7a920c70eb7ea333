package workload

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Timing of the live writers.
const (
	tick           = 500 * time.Millisecond
	pushesPerTick  = 8
	reviseOneIn    = 16               // ticks: about eight revisions a minute
	operatorEvery  = 12 * time.Second // mean time between the operator's actions
	compactEvery   = 30 * time.Second // as Yorkie's housekeeping
	housekeepEvery = 5 * time.Minute  // project statistics
	renewTicks     = 8                // between renewals of the server's own document, which expires
	streamLive     = 1 << 32          // first random stream of the live ticks
	streamOperator = 1 << 40
	streamCompact  = 1 << 48
)

// Run writes until ctx ends: edits every half second, compaction, and an operator's
// actions. Each tick has its own seeded random stream, so the writes depend only on the
// seed and the tick's number.
func (w *Workload) Run(ctx context.Context) {
	var wg sync.WaitGroup
	wg.Go(func() { w.write(ctx) })
	wg.Go(func() { w.operate(ctx) })
	wg.Wait()
}

func (w *Workload) write(ctx context.Context) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	var compacted, counted time.Duration
	for n := uint64(0); ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		r := w.rng(streamLive + n)
		w.pushAll(ctx, r)
		if busyAt(time.Duration(n) * tick) {
			w.pushBusy(ctx, r)
		}
		if n%renewTicks == 0 {
			w.renewNode(ctx)
		}
		if elapsed := time.Duration(n) * tick; elapsed-compacted >= compactEvery {
			compacted = elapsed
			w.compact(ctx)
		}
		if elapsed := time.Duration(n) * tick; elapsed-counted >= housekeepEvery {
			counted = elapsed
			w.countProjects(ctx)
		}
	}
}

// renewNode says that the Yorkie server is alive: its document expires after ten seconds.
func (w *Workload) renewNode(ctx context.Context) {
	now := w.o.Now()
	err := w.update(ctx, "clusternodes", bson.D{{Key: "rpc_addr", Value: nodeAddress}}, bson.D{{Key: "$set", Value: bson.D{
		{Key: "expires_at", Value: now.Add(time.Minute)}, {Key: "updated_at", Value: now}, {Key: "is_leader", Value: true},
	}}}, true)
	if err != nil && ctx.Err() == nil {
		w.o.Log.Debug("workload renew node", "err", err)
	}
}

// pushAll makes one tick's edits. Errors are ignored, as a Yorkie server logs them and
// continues: the chunk may be migrating.
func (w *Workload) pushAll(ctx context.Context, r *rand.Rand) {
	for range pushesPerTick {
		doc := w.heat.pick(r)
		if doc == nil {
			return
		}
		if err := w.push(ctx, r, doc); err != nil && ctx.Err() == nil {
			w.o.Log.Debug("workload push", "err", err)
		}
	}
	if r.IntN(4) == 0 {
		if err := w.open(ctx, r); err != nil && ctx.Err() == nil {
			w.o.Log.Debug("workload open document", "err", err)
		}
	}
	if r.IntN(reviseOneIn) == 0 {
		if err := w.revise(ctx, r); err != nil && ctx.Err() == nil {
			w.o.Log.Debug("workload keep a revision", "err", err)
		}
	}
	w.heat.drift(r, w.docs)
}
