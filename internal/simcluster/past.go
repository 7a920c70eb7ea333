package simcluster

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/balancer"
	"shardboard/internal/simcluster/engine/value"
	"shardboard/internal/simcluster/workload"
)

// Past makes the past of a cluster that has not been started: its time is set forward
// step by step, and what happens between the steps has the time of its step in the
// change log, in the history of chunks and in the ids of rows. Migrations take no real
// time; their durations pass on the cluster's clock. Not for concurrent use.
type Past struct{ c *Cluster }

// Past begins a past; End ends it. Call it before Start, on a cluster with a workload
// whose Epoch is when its past begins.
func (c *Cluster) Past() (*Past, error) {
	if c.work == nil {
		return nil, fmt.Errorf("make a past: the cluster has no workload")
	}
	c.catalog.SkipWaits(true)
	return &Past{c}, nil
}

// End ends the past: from now on migrations take their time.
func (p *Past) End() { p.c.catalog.SkipWaits(false) }

// ChooseBusy chooses again which documents get many edits: their chunks may have been moved apart. Call it when
// nothing moves any more in the past, and before the minutes in which they get them.
func (p *Past) ChooseBusy() { p.c.chooseBusy() }

// chooseBusy chooses the documents that get many edits, if there shall be any.
func (c *Cluster) chooseBusy() {
	if !c.opts.Busy || c.work == nil {
		return
	}
	c.work.ChooseBusy(func(ns string, doc bson.D) (string, int) {
		raw, err := bson.Marshal(doc)
		if err != nil {
			return "", 0
		}
		return c.catalog.PlaceOf(ns, raw)
	})
}

// Now is the cluster's time.
func (c *Cluster) Now() time.Time { return c.catalog.Now() }

// AdvanceTo sets the time forward. A time that has passed changes nothing.
func (p *Past) AdvanceTo(t time.Time) { p.c.catalog.AdvanceTo(t) }

// Push lets writers make so many edits now; seed chooses them.
func (p *Past) Push(ctx context.Context, seed uint64, edits int) error {
	return p.c.work.Push(ctx, seed, edits)
}

// Operate lets an operator split, move or merge a chunk; seed chooses it.
func (p *Past) Operate(ctx context.Context, seed uint64) error { return p.c.work.Operate(ctx, seed) }

// Balance runs one round of the balancer that also moves a chunk of some collection
// without need. It returns how many chunks were moved.
func (p *Past) Balance(ctx context.Context, seed uint64) int {
	t := &balancer.Traffic{Seed: seed}
	p.c.balancer.SetTraffic(t)
	p.c.balancer.Prompt(true)
	moved := p.c.balancer.Round(ctx)
	p.c.balancer.Prompt(false)
	p.c.balancer.ClearTraffic(t)
	return moved
}

// Move moves a chunk for somebody with a shell of their own. The donor keeps its documents for
// Options.OrphanDelay, so that the chunk cannot return before.
func (p *Past) Move(ctx context.Context, ns string, lo, hi bson.Raw, to string) error {
	_, err := p.c.Command(ctx, "admin", value.D("moveChunk", ns, "bounds", bson.A{lo, hi}, "to", to))
	return err
}

// Writes are the writes of a Yorkie document in a minute.
type Writes = workload.Writes

// Minute lists the writes of the minute that begins at a time, in a past that ends at
// another: a wave of a day, waves of hours, and an hour in which the busy project has
// many. Like a Yorkie server with housekeeping, the cluster does not keep their rows.
func (p *Past) Minute(at, end time.Time) []Writes { return p.c.work.Minute(at, end) }

// BusyProject is the id and name of the project that gets many edits from time to time.
func (c *Cluster) BusyProject() (id, name string) {
	if c.work == nil {
		return "", ""
	}
	return c.work.BusyProject()
}
