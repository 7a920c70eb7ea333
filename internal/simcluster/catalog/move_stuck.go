package catalog

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
)

// stuckFor is how long the donor of a recorded 8.0.10 was busy with a range that is not
// inside one chunk, before it gave up and was asked again.
const stuckFor = 10 * time.Second

// crossesChunks reports whether a range is not inside one chunk. The caller holds Mu.
func (c *Cluster) crossesChunks(ns string, lo, hi bson.Raw) bool {
	r := c.routes[ns]
	if r == nil || lo == nil || hi == nil {
		return false
	}
	l, ok1 := r.pattern.normalize(lo)
	h, ok2 := r.pattern.normalize(hi)
	return ok1 && ok2 && compareKeys(l, h) < 0 && r.chunkAround(l, h) == nil
}

// moveStuck is what 8.0.10 does with a range that crosses a chunk's bound: it hangs until
// the command's time limit, and for ever without one. Meanwhile, and for a while after,
// the donor says that it is donating.
func (c *Cluster) moveStuck(ctx context.Context, ns string, lo, hi bson.Raw, to string, o MoveOptions) error {
	for {
		c.Mu.Lock()
		r := c.routes[ns]
		if r == nil {
			c.Mu.Unlock()
			return c.notSharded(ns)
		}
		m := &migration{ns: ns, min: lo, max: hi, from: r.Owner(lo), to: to, command: o.Command, options: o,
			done: make(chan struct{}), asked: ctx, early: make(chan struct{}), begun: c.Now(), step: 1,
			version: bson.A{r.version, r.Epoch, r.Timestamp}}
		join, err := c.moves.add(m)
		if err == nil && join == nil {
			c.work.Go(func() {
				_ = c.pauseExactly(c.life, stuckFor)
				c.Mu.Lock()
				c.moves.remove(m)
				c.logChange(m.from, "moveChunk.from", ns, c.outcome(bson.D{{Key: "min", Value: lo}, {Key: "max", Value: hi}},
					[]time.Duration{0}, 6, m.from, to, false, nil))
				c.Mu.Unlock()
				close(m.done)
			})
		}
		c.Mu.Unlock()
		if err != nil {
			return sourceError(err)
		}
		if join != nil {
			m = join
		}
		select {
		case <-m.done:
		case <-ctx.Done():
			return expired(ctx)
		case <-c.life.Done():
			return errShutdown()
		}
	}
}

// noDestination is the error of moveRange for a shard that does not exist.
func noDestination(to string) error {
	return status.Errorf(status.ShardNotFound, "Could not find destination shard :: caused by :: Shard %s not found", to)
}
