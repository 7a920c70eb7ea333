package catalog

import (
	"bytes"
	"context"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// historyWindow is how long entries of a chunk's history are kept, in seconds
// (minSnapshotHistoryWindowInSeconds); the newest entry always stays.
const historyWindow = 300

// commit copies the remaining changes to the recipient and then changes the owner on
// the config server. A real donor blocks writes in between; here the changes are copied
// once more under the lock.
func (t *transfer) commit(life context.Context) error {
	t.c.Mu.Lock()
	r, _, err := t.route()
	if err == nil {
		err = t.copyChanges(r)
	}
	if err != nil {
		t.c.Mu.Unlock()
		return t.abortBoth(err, nil)
	}
	t.to = append(t.to, 13*time.Millisecond, 0)
	if t.c.since(8) {
		t.to = append(t.to, 6*time.Millisecond)
	}
	late := t.c.since(8) // the recipient of 8.0 waits for the donor's outcome
	t.m.Received = 7
	logReceived := func() {
		t.m.Receives = false
		t.logReceived(true, nil)
	}
	if !late {
		logReceived()
	}
	if t.c.hookArmed() {
		t.c.Mu.Unlock()
		if err := t.atStep(life, Committing); err != nil {
			err = t.stopAt(Committing, err)
			if late {
				t.c.Mu.Lock()
				logReceived()
				t.c.Mu.Unlock()
			}
			return err
		}
		t.c.Mu.Lock()
		if r, _, err = t.route(); err == nil {
			err = t.copyChanges(r)
		}
		if err != nil {
			defer t.c.Mu.Unlock()
			t.deleteCopied()
			if late {
				logReceived()
			}
			return t.logFailure(err)
		}
	}
	_, ch, _ := t.route()
	if err := t.refusal(r); err != nil {
		defer t.c.Mu.Unlock()
		err = t.rejectCommit(r, ch, err)
		if late {
			logReceived()
		}
		return err
	}
	t.c.commitRange(r, ch, t.m.Min, t.m.Max, t.m.To)
	if late {
		logReceived()
	}
	return t.committed(life)
}

// refusal is why the config server does not commit a migration, or nil.
func (t *transfer) refusal(r *Routing) error {
	if !r.Permitted {
		return status.Errorf(status.ConflictingOperationInProgress, "Collection is undergoing changes and chunks cannot be moved")
	}
	if to := t.c.shard(t.m.To); t.c.since(8) && to != nil && to.draining {
		return sourceError(status.Errorf(status.ShardNotFound, "Shard %s is currently draining", to.name))
	}
	return nil
}

// committed finishes the migration after the config server has the new owner. The
// caller holds Mu; committed releases it.
func (t *transfer) committed(life context.Context) error {
	var cleanup *orphanRange // for which the move waits
	for _, step := range []Step{Committed, Logged, Cleaning} {
		if t.c.hookArmed() {
			t.c.Mu.Unlock()
			if err := t.atStep(life, step); err != nil {
				return t.stopAt(step, err)
			}
			t.c.Mu.Lock()
		}
		switch step {
		case Committed:
			t.logEntry(t.m.From, "moveChunk.commit", value.D("from", t.m.From, "to", t.m.To,
				"counts", value.D("cloned", t.cloned, "clonedBytes", t.bytes, "catchup", t.later, "steady", int64(0))))
		case Cleaning:
			cleanup = t.scheduleDonorCleanup(t.m.Options.WaitForDelete)
		}
	}
	t.c.Mu.Unlock()
	if cleanup == nil {
		return nil
	}
	select {
	case <-cleanup.gone:
		return nil
	case <-life.Done():
		return errShutdown()
	}
}

// scheduleDonorCleanup deletes the donor's copy now or after the orphan delay. What is to be deleted now and held by a
// cursor is returned. The caller holds Mu.
func (t *transfer) scheduleDonorCleanup(now bool) *orphanRange {
	r := t.c.Routing(t.m.NS)
	switch {
	case r == nil || r.UUID != t.uuid:
	case now:
		o := t.c.leaveOrphans(r, t.m.From, t.m.Min, t.m.Max, 0)
		if t.c.CleanOrphans(); slices.Contains(t.c.orphans, o) {
			return o
		}
	default:
		t.c.leaveOrphans(r, t.m.From, t.m.Min, t.m.Max, t.c.opts.OrphanDelay)
	}
	return nil
}

// deleteCopied deletes the recipient's copy: all that it has of the range since it has no old orphans there. The caller
// holds Mu.
func (t *transfer) deleteCopied() {
	if r := t.c.Routing(t.m.NS); t.m.Received >= 3 && r != nil && r.UUID == t.uuid {
		t.c.deleteRange(r, t.m.To, t.m.Min, t.m.Max)
	}
}

// rejectCommit ends a migration whose commit the config server refuses. The donor's
// recovery increases the version of the chunk, so that a late commit cannot succeed.
func (t *transfer) rejectCommit(r *Routing, ch *Chunk, why error) error {
	t.deleteCopied()
	ch.Version = r.bumpMajor()
	t.c.saveChunk(r, ch)
	t.c.logChange(t.m.From, "moveChunk.from", t.m.NS, t.c.outcome(t.bounds(), t.from, 6, t.m.From, t.m.To, false, nil))
	return why
}

// cleanDonor is the donor's last step, after the chunk has moved.
func (t *transfer) cleanDonor(life context.Context) error {
	_ = t.c.pause(life, cleanTime)
	t.step(6)
	t.c.Mu.Lock()
	defer t.c.Mu.Unlock()
	t.c.logChange(t.m.From, "moveChunk.from", t.m.NS, t.c.outcome(t.bounds(), t.from, 6, t.m.From, t.m.To, true, nil))
	return nil
}

// chunkAround is the chunk that contains the whole range, or nil.
func (r *Routing) chunkAround(lo, hi bson.Raw) *Chunk {
	ch := r.chunks[r.indexOf(lo)]
	if compareKeys(ch.Min, lo) > 0 || compareKeys(hi, ch.Max) > 0 || compareKeys(lo, hi) >= 0 {
		return nil
	}
	return ch
}

// commitRange moves the part [lo, hi) of a chunk to another shard. The part keeps the
// chunk's id and gets the next major version. The remainders on its left and right
// become new chunks with the following minor versions, and the version after those goes
// to the donor's chunk with the lowest bounds of those that it had
// (db/s/config/sharding_catalog_manager_chunk_operations.cpp, commitChunkMigration).
func (c *Cluster) commitRange(r *Routing, ch *Chunk, lo, hi bson.Raw, to string) {
	from := ch.Shard
	before, after := r.remainders(ch, lo, hi)
	history := slices.Clone(ch.History)
	at := r.indexOf(ch.Min)
	if before != nil {
		ch.Min = lo
	}
	if after != nil {
		ch.Max = hi
	}
	c.relocate(r, ch, to)
	parts := []*Chunk{ch}
	for _, rest := range []*Chunk{before, after} {
		if rest == nil {
			continue
		}
		rest.ID, rest.Version, rest.History = c.objectID(configServer), r.bumpMinor(), slices.Clone(history)
		c.addChunk(r, rest)
		r.countChunk(from, 1)
		parts = append(parts, rest)
	}
	slices.SortFunc(parts, func(a, b *Chunk) int { return compareKeys(a.Min, b.Min) })
	r.chunks = slices.Replace(r.chunks, at, at+1, parts...)
	for _, control := range r.chunks {
		if control.Shard == from && control != before && control != after {
			control.Version = r.bumpMinor()
			c.saveChunk(r, control)
			break
		}
	}
	c.notePlacement(r)
}

// remainders are the parts of ch before and after [lo, hi), nil where there is none.
func (r *Routing) remainders(ch *Chunk, lo, hi bson.Raw) (before, after *Chunk) {
	if !bytes.Equal(ch.Min, lo) && compareKeys(ch.Min, lo) < 0 {
		before = &Chunk{Min: ch.Min, Max: lo, Shard: ch.Shard, Jumbo: ch.Jumbo}
	}
	if !bytes.Equal(ch.Max, hi) && compareKeys(hi, ch.Max) < 0 {
		after = &Chunk{Min: hi, Max: ch.Max, Shard: ch.Shard, Jumbo: ch.Jumbo}
	}
	return before, after
}

// relocate writes the chunk's new owner and next major version, and removes history
// entries that are too old for snapshot reads.
func (c *Cluster) relocate(r *Routing, ch *Chunk, to string) {
	from, at := ch.Shard, c.Timestamp()
	kept := slices.Clone(ch.History)
	// Keep the newest expired entry: it is the chunk's owner at the beginning of the
	// window.
	for n := len(kept); n > 1 && kept[n-1].ValidAfter.T+historyWindow < at.T; n = len(kept) {
		kept = kept[:n-1]
	}
	ch.History = slices.Insert(kept, 0, Placement{ValidAfter: at, Shard: to})
	ch.Shard, ch.Version = to, r.bumpMajor()
	r.countChunk(from, -1)
	r.countChunk(to, 1)
	c.saveChunk(r, ch)
}
