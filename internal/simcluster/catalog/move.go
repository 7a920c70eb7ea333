package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
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
	return c.onSourceShard(m.wait(ctx))
}

// errAskAgain ends a migration that the config server of 8.0 asks for again: its donor stepped down while it gave the
// chunk away, which is an error that is tried again.
var errAskAgain = errors.New("the donor is to be asked again")

// askAgain makes a migration again whose donor stepped down, for the same clients.
func (c *Cluster) askAgain(m *migration) error {
	if err := c.pause(c.life, requestTime); err != nil {
		return err
	}
	c.Mu.Lock()
	next, err := c.beginMove(m.asked, m.NS, m.Min, m.Max, m.To, m.Options)
	c.Mu.Unlock()
	if next == nil || err != nil {
		return err
	}
	return next.wait(c.life)
}

// ownerOf is the shard that owns a key, or "" if the collection is not sharded.
func (c *Cluster) ownerOf(ns string, key bson.Raw) string {
	c.Mu.RLock()
	defer c.Mu.RUnlock()
	if r := c.Routing(ns); r != nil {
		return r.Owner(key)
	}
	return ""
}

// beginMove checks a move and starts it on its own goroutine, or returns the same
// migration if it is already running. It returns nil when there is nothing to wait for.
// The order of the checks is that of the config server, then of the donor
// (db/s/balancer/balancer.cpp, moveSingleChunk; db/s/migration_source_manager.cpp).
func (c *Cluster) beginMove(ctx context.Context, ns string, lo, hi bson.Raw, to string, o MoveOptions) (*migration, error) {
	r := c.Routing(ns)
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
	if ch.Shard == to && (r.blocked || c.since(8)) {
		return nil, nil // 8.0 logs nothing
	}
	if ch.Shard == to {
		c.logChange(ch.Shard, "moveChunk.from", ns,
			c.outcome(value.D("min", lo, "max", hi), []time.Duration{0}, 6, to, to, false, nil))
		return nil, nil
	}
	if r.blocked {
		return nil, status.Errorf(status.ConflictingOperationInProgress, "Collection is undergoing changes so moveChunk is not allowed.")
	}
	version := r.version // mongos sends the collection version that it knows
	if o.Balancer() {
		version = ch.Version
	}
	m := &migration{completion: newCompletion(), free: make(chan struct{}), asked: ctx, Migration: Migration{
		NS: ns, Min: lo, Max: hi, From: ch.Shard, To: to, Options: o, Version: bson.A{version, r.Epoch, r.Timestamp}}}
	join, err := c.moves.add(m)
	if join != nil || err != nil {
		return join, err
	}
	if !c.since(8) {
		if c.moves.begins(m) {
			// The chunk has just arrived, in a migration that has not ended.
			c.moves.remove(m)
			return nil, status.Errorf(status.DuplicateKey,
				"E11000 duplicate key error collection: config.migrations index: ns_1_min_1 dup key: { ns: \"%s\", min: %s }", ns, text(lo))
		}
		m.record = c.config.insert("migrations", value.D("_id", c.objectID(configServer), "ns", ns, "min", m.Min,
			"max", m.Max, "fromShard", m.From, "toShard", m.To, "chunkVersion", m.Version,
			"waitForDelete", o.WaitForDelete, "forceJumbo", o.force()))
	}
	begun := ch.Version
	c.work.Go(func() {
		t := &transfer{c: c, m: m, uuid: r.UUID, chunk: begun}
		m.err = t.run(c.life)
		c.Mu.Lock()
		c.moves.remove(m)
		if !c.since(8) {
			c.config.delete("migrations", m.record)
		}
		c.Mu.Unlock()
		close(m.free)
		if errors.Is(m.err, errAskAgain) {
			m.err = c.askAgain(m)
		}
		close(m.done)
	})
	return m, nil
}

// checkRecipient returns an error if a shard is draining or outside of the chunk's zone.
func (c *Cluster) checkRecipient(r *Routing, ch *Chunk, to *shard) error {
	if to.draining && !c.since(8) { // 8.0 refuses it at the commit
		return status.Errorf(status.IllegalOperation, "%s is currently draining.", to.name)
	}
	if c.since(6) {
		// moveRange ignores zones; the balancer later moves the chunk back. Assumed:
		// moveChunk does the same, and a draining shard is still refused.
		return nil
	}
	if zone := c.zoneOf(r.NS, ch); zone != "" && !slices.Contains(to.tags, zone) {
		return status.Errorf(status.IllegalOperation, "%s is not in the correct zone %s", to.name, zone)
	}
	return nil
}

// outcome has the details of moveChunk.from and moveChunk.to: the duration of each
// completed step and the result. A failed move has no reason unless the recipient gave
// up by itself.
func (c *Cluster) outcome(bounds bson.D, steps []time.Duration, of int, from, to string, ok bool, failed error) bson.D {
	var took, reason bson.D
	for i, s := range steps {
		took = append(took, bson.E{Key: fmt.Sprintf("step %d of %d", i+1, of), Value: int32(s.Milliseconds())})
	}
	first, second := bounds, took
	if c.since(8) {
		first, second = took, bounds
	}
	note := "aborted"
	if ok {
		note = "success"
	}
	if failed != nil {
		reason = value.D("errmsg", failed.Error())
	}
	return value.D(first, second, "to", to, "from", from, "note", note, reason)
}

// stuckFor is how long the donor of a recorded 8.0.10 was busy with a range that is not
// inside one chunk, before it gave up and was asked again.
const stuckFor = 10 * time.Second

// crossesChunks reports whether a range is not inside one chunk. The caller holds Mu.
func (c *Cluster) crossesChunks(ns string, lo, hi bson.Raw) bool {
	r := c.Routing(ns)
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
		r := c.Routing(ns)
		if r == nil {
			c.Mu.Unlock()
			return c.notSharded(ns)
		}
		m := &migration{completion: newCompletion(), free: make(chan struct{}), asked: ctx, Migration: Migration{
			NS: ns, Min: lo, Max: hi, From: r.Owner(lo), To: to, Options: o, Begun: c.Now(), Step: 1,
			Version: bson.A{r.version, r.Epoch, r.Timestamp}}}
		join, err := c.moves.add(m)
		if err == nil && join == nil {
			c.work.Go(func() {
				_ = c.pauseExactly(c.life, stuckFor)
				c.Mu.Lock()
				c.moves.remove(m)
				c.logChange(m.From, "moveChunk.from", ns, c.outcome(value.D("min", lo, "max", hi),
					[]time.Duration{0}, 6, m.From, to, false, nil))
				c.Mu.Unlock()
				close(m.free)
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

// onSource begins the text of every refusal of a donor in 8.0, where the config server
// sends all moves.
const onSource = "Command request failed on source shard."

// sourceError is the config server's error when the donor refuses or fails.
func sourceError(err error) error { return status.Context(onSource, err) }

// onSourceShard is the error of a move as its client sees it. Errors of the config
// server itself, and a missing shard or chunk, have no such beginning.
func (c *Cluster) onSourceShard(err error) error {
	e := status.Of(err)
	if e == nil || !c.since(8) || strings.HasPrefix(e.Message, onSource) {
		return err
	}
	switch e.Code {
	case status.ConflictingOperationInProgress, status.ChunkTooBig, status.OperationFailed:
		return sourceError(err)
	}
	return err
}

// notOwned is the error of a shard of 8.0 whose chunks do not fill a range exactly.
func (r *Routing) notOwned(shard string, lo, hi bson.Raw) error {
	var version bson.Timestamp
	for _, ch := range r.chunks {
		if ch.Shard == shard && older(version, ch.Version) {
			version = ch.Version
		}
	}
	e := status.Errorf(status.StaleConfig, "Range with bounds %s is not owned by this shard.", rangeText(lo, hi))
	e.Extra = value.D("ns", r.NS,
		"vReceived", value.D(
			"e", bson.ObjectID{4: 255, 5: 255, 6: 255, 7: 255, 8: 255, 9: 255, 10: 255, 11: 255},
			"t", bson.Timestamp{T: 1<<32 - 1, I: 1<<32 - 1}, "v", bson.Timestamp{}),
		"vWanted", value.D("e", r.Epoch, "t", r.Timestamp, "v", version), "shardId", shard)
	return e
}
