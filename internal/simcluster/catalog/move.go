package catalog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
)

// MoveOptions are the options of a move.
type MoveOptions struct {
	ForceJumbo    bool // move a chunk even if it is too big
	WaitForDelete bool // return only after the donor's copy is deleted
	Range         bool // the bounds may be inside one chunk, which is then split
	// Command is the name of the requesting command; empty means the balancer.
	Command string
	// App is the application name of the requesting client, if any.
	App string
}

// Balancer reports whether the balancer requested the move.
func (o MoveOptions) Balancer() bool { return o.Command == "" || o.Command == "balancer" }

// force is the value of forceJumbo in config.migrations
// (s/request_types/move_chunk_request.h).
func (o MoveOptions) force() string {
	switch {
	case !o.ForceJumbo:
		return "doNotForceJumbo"
	case o.Balancer():
		return "forceJumboBalancerMigration"
	}
	return "forceJumboManualMoveChunk"
}

// Move moves the chunk with exactly these bounds to another shard and returns when that
// is done. It locks and releases Mu itself: reads and writes continue while it copies.
// When ctx ends, Move returns error 50 but the migration goes on, and a repeated
// request joins it. Errors have the server's codes: 20 if the shard must not receive
// the chunk, 70 if it is unknown, 96 if the transfer fails, 117 if a shard is busy or
// migrations are forbidden, 153 if the chunk is too big.
func (c *Cluster) Move(ctx context.Context, ns string, lo, hi bson.Raw, to string, o MoveOptions) error {
	if o.Command == "" {
		o.Command = "balancer"
	}
	if c.hookArmed() {
		if err := c.atStep(ctx, Point{Command: o.Command, Step: Targeted, NS: ns, Min: lo, Max: hi,
			From: c.ownerOf(ns, lo), To: to}); err != nil {
			return err
		}
	}
	m, err := func() (*migration, error) {
		c.Mu.Lock()
		defer c.Mu.Unlock()
		return c.beginMove(ctx, ns, lo, hi, to, o)
	}()
	if e := status.Of(err); e != nil && e.Code == status.ConflictingOperationInProgress {
		// The config server's part takes time even when the donor refuses at once.
		select {
		case <-time.After(c.Paced(requestTime)):
		case <-ctx.Done():
			return expired(ctx)
		}
	}
	if m == nil || err != nil {
		return c.onSourceShard(err)
	}
	for {
		select {
		case <-m.done:
			if !errors.Is(m.err, errAskAgain) {
				return c.onSourceShard(m.err)
			}
		case <-m.early:
			return c.onSourceShard(m.earlyErr)
		case <-ctx.Done():
			return expired(ctx)
		}
		select {
		case <-m.renewed:
		case <-ctx.Done():
			return expired(ctx)
		}
		if m.next == nil {
			return c.onSourceShard(m.renewErr)
		}
		m = m.next
	}
}

// errAskAgain ends a migration that the config server of 8.0 asks for again: its donor stepped down while it gave the
// chunk away, which is an error that is tried again.
var errAskAgain = errors.New("the donor is to be asked again")

// askAgain begins a migration again whose donor stepped down.
func (c *Cluster) askAgain(m *migration) {
	defer close(m.renewed)
	if m.renewErr = c.pause(c.life, requestTime); m.renewErr != nil {
		return
	}
	c.Mu.Lock()
	defer c.Mu.Unlock()
	m.next, m.renewErr = c.beginMove(m.asked, m.ns, m.min, m.max, m.to, m.options)
}

// ownerOf is the shard that owns a key, or "" if the collection is not sharded.
func (c *Cluster) ownerOf(ns string, key bson.Raw) string {
	c.Mu.RLock()
	defer c.Mu.RUnlock()
	if r := c.routes[ns]; r != nil {
		return r.Owner(key)
	}
	return ""
}

// beginMove checks a move and starts it on its own goroutine, or returns the same
// migration if it is already running. It returns nil when there is nothing to wait for.
// The order of the checks is that of the config server, then of the donor
// (db/s/balancer/balancer.cpp, moveSingleChunk; db/s/migration_source_manager.cpp).
func (c *Cluster) beginMove(ctx context.Context, ns string, lo, hi bson.Raw, to string, o MoveOptions) (*migration, error) {
	r := c.routes[ns]
	if r == nil {
		return nil, c.notSharded(ns)
	}
	if c.life.Err() != nil {
		return nil, errShutdown()
	}
	ch := r.chunkExactly(lo, hi)
	if ch == nil && o.Range {
		ch = r.chunkAround(lo, hi)
	}
	if ch == nil {
		return nil, status.Errorf(status.IncompatibleShardingMetadata, "no chunk found with the shard key bounds %s", rangeText(lo, hi))
	}
	target := c.shard(to)
	if target == nil {
		return nil, status.Errorf(status.ShardNotFound, "moveChunk destination shard does not exist")
	}
	// This check applies even when the chunk is already on that shard.
	if err := c.checkRecipient(r, ch, target); err != nil {
		return nil, err
	}
	if ch.Shard == to && (r.blocked || c.features.observed8) {
		return nil, nil // 8.0 logs nothing
	}
	if ch.Shard == to {
		c.logMove(ch.Shard, "moveChunk.from", ns,
			c.outcome(bson.D{{Key: "min", Value: lo}, {Key: "max", Value: hi}}, []time.Duration{0}, 6, to, to, false, nil))
		return nil, nil
	}
	if r.blocked {
		return nil, status.Errorf(status.ConflictingOperationInProgress, "Collection is undergoing changes so moveChunk is not allowed.")
	}
	m := &migration{ns: ns, min: lo, max: hi, from: ch.Shard, to: to, command: o.Command, options: o,
		done: make(chan struct{}), renewed: make(chan struct{}), asked: ctx, early: make(chan struct{})}
	version := r.version // mongos sends the collection version that it knows
	if o.Balancer() {
		version = ch.Version
	}
	m.version = bson.A{version, r.Epoch, r.Timestamp}
	join, err := c.moves.add(m)
	if join != nil || err != nil {
		return join, err
	}
	if c.features.migrations {
		if c.moves.begins(m) {
			// The chunk has just arrived, in a migration that has not ended.
			c.moves.remove(m)
			return nil, status.Errorf(status.DuplicateKey,
				"E11000 duplicate key error collection: config.migrations index: ns_1_min_1 dup key: { ns: \"%s\", min: %s }", ns, text(lo))
		}
		m.record = c.config.insert("migrations", bson.D{
			{Key: "_id", Value: c.objectID(configServer)}, {Key: "ns", Value: ns},
			{Key: "min", Value: m.min}, {Key: "max", Value: m.max},
			{Key: "fromShard", Value: m.from}, {Key: "toShard", Value: m.to},
			{Key: "chunkVersion", Value: m.version},
			{Key: "waitForDelete", Value: o.WaitForDelete},
			{Key: "forceJumbo", Value: o.force()},
		})
	}
	begun := ch.Version
	c.work.Go(func() {
		t := &transfer{c: c, m: m, o: o, uuid: r.UUID, chunk: begun}
		m.err = t.run(c.life)
		c.Mu.Lock()
		c.moves.remove(m)
		if c.features.migrations {
			c.config.delete("migrations", m.record)
		}
		c.Mu.Unlock()
		close(m.done)
		if errors.Is(m.err, errAskAgain) {
			c.askAgain(m)
		}
	})
	return m, nil
}

// checkRecipient returns an error if a shard is draining or outside of the chunk's zone.
func (c *Cluster) checkRecipient(r *Routing, ch *Chunk, to *shard) error {
	if to.draining && !c.features.observed8 { // 8.0 refuses it at the commit
		return status.Errorf(status.IllegalOperation, "%s is currently draining.", to.name)
	}
	if c.features.ranges {
		// moveRange ignores zones; the balancer later moves the chunk back. Assumed:
		// moveChunk does the same, and a draining shard is still refused.
		return nil
	}
	if zone := c.zoneOf(r.NS, ch); zone != "" && !contains(to.tags, zone) {
		return status.Errorf(status.IllegalOperation, "%s is not in the correct zone %s", to.name, zone)
	}
	return nil
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func (c *Cluster) logMove(server, what, ns string, details bson.D) {
	c.logChange(server, what, ns, details)
}

// outcome has the details of moveChunk.from and moveChunk.to: the duration of each
// completed step and the result. A failed move has no reason unless the recipient gave
// up by itself.
func (c *Cluster) outcome(bounds bson.D, steps []time.Duration, of int, from, to string, ok bool, failed error) bson.D {
	var d bson.D
	if !c.features.observed8 {
		d = append(d, bounds...)
	}
	for i, s := range steps {
		d = append(d, bson.E{Key: fmt.Sprintf("step %d of %d", i+1, of), Value: int32(s.Milliseconds())})
	}
	if c.features.observed8 {
		d = append(d, bounds...)
	}
	note := "aborted"
	if ok {
		note = "success"
	}
	d = append(d, bson.E{Key: "to", Value: to}, bson.E{Key: "from", Value: from}, bson.E{Key: "note", Value: note})
	if failed != nil {
		d = append(d, bson.E{Key: "errmsg", Value: failed.Error()})
	}
	return d
}
