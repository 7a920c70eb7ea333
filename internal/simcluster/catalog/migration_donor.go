package catalog

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// Durations of the steps of a small migration on the observed server, 0.25 s in total.
// Cloning adds cloneTime for every MiB.
const (
	requestTime  = 60 * time.Millisecond // from config.migrations to the donor's first log entry
	prepareTime  = 20 * time.Millisecond // step 2
	askTime      = 15 * time.Millisecond // step 3, until the recipient begins
	startTime    = 15 * time.Millisecond // until the recipient answers
	indexTime    = 10 * time.Millisecond // step 4, with the clone
	cloneTime    = 60 * time.Millisecond
	catchUpTime  = 25 * time.Millisecond
	handOverTime = 20 * time.Millisecond // step 5
	cleanTime    = 90 * time.Millisecond // step 6
	// orphanWait is how long a recipient waits for old orphans in its way
	// (receiveChunkWaitForRangeDeleterTimeoutMS).
	orphanWait = 10 * time.Second
	cloneBatch = 200
)

// transfer executes one migration: the donor's six steps and, during the fourth and
// fifth, the recipient's seven.
type transfer struct {
	c    *Cluster
	m    *migration
	uuid [16]byte

	chunk bson.Timestamp    // version of the chunk at the beginning
	fail  func(error) error // ends it after an error, by how far it is
	began time.Time
	from  []time.Duration // durations of the donor's completed steps
	to    []time.Duration // the recipient's

	list   []engine.RecordID // documents to clone
	cloned int64
	bytes  int64
	later  int64 // documents that changed while it copied
}

// errGone means that the collection or the chunk disappeared during the migration.
var errGone = errors.New("the chunk is not there any more")

// run takes the steps of both sides. The donor's third step ends when the recipient has begun; its fourth waits until
// the recipient has caught up: it waits for old orphans, creates the collection, and clones.
func (t *transfer) run(life context.Context) error {
	t.fail = func(err error) error { return err }
	for _, do := range []func(life context.Context) error{
		t.waits(requestTime), t.begin, t.passes(Started), t.ends(1), t.waits(prepareTime), t.ends(2), t.listDocuments,
		t.waits(askTime), t.ask, t.waits(startTime), t.ends(3),
		t.clearOrphans, t.received(2, 5*time.Millisecond), // the second step takes no time
		t.waits(indexTime), t.makeCollection, t.received(3, 12*time.Millisecond, 4*time.Millisecond),
		t.passes(Cloning), t.clone, t.waits(catchUpTime), t.received(5, time.Millisecond), t.passes(Cloned),
		t.passes(CaughtUp), t.ends(4), t.passes(Critical), t.awaitsOutcome, t.waits(handOverTime), t.ends(5),
	} {
		if err := do(life); err != nil {
			return t.fail(err)
		}
	}
	if err := t.commit(life); err != nil {
		return err
	}
	return t.cleanDonor(life)
}

// begin logs the beginning.
func (t *transfer) begin(context.Context) error {
	t.began, t.fail = t.c.Now(), t.failOnDonor
	t.c.Mu.Lock()
	defer t.c.Mu.Unlock()
	t.m.Begun, t.m.Step = t.began, 1
	t.logEntry(t.m.From, "moveChunk.start", value.D("from", t.m.From, "to", t.m.To))
	return nil
}

// waits is a part that only takes time.
func (t *transfer) waits(d time.Duration) func(life context.Context) error {
	return func(life context.Context) error { return t.c.pause(life, d) }
}

// passes is a step at which the hook may stop the migration.
func (t *transfer) passes(step Step) func(life context.Context) error {
	return func(life context.Context) error {
		err := t.atStep(life, step)
		if err != nil {
			t.fail = func(err error) error { return t.stopAt(step, err) }
		}
		return err
	}
}

// Paced converts the duration of server work on a real cluster to one of this cluster:
// 0 on a still one, and while waits are skipped.
func (c *Cluster) Paced(d time.Duration) time.Duration {
	if c.still.Load() || c.instant.Load() || c.skips.Load() {
		return 0
	}
	return time.Duration(float64(d) * c.opts.Pace)
}

// SetStill sets whether migrations take no time. It returns the previous setting.
func (c *Cluster) SetStill(on bool) (before bool) { return c.still.Swap(on) }

// Hurry makes migrations take no time while it is on, for setting up a cluster before
// it is used.
func (c *Cluster) Hurry(on bool) { c.instant.Store(on) }

// SkipWaits lets the durations of migrations pass on the cluster's clock alone, so that
// nobody waits for them while a past is made.
func (c *Cluster) SkipWaits(on bool) { c.skips.Store(on) }

// pause waits for the duration of server work, without Mu.
func (c *Cluster) pause(life context.Context, d time.Duration) error {
	if c.skips.Load() && !c.still.Load() {
		return c.pauseExactly(life, time.Duration(float64(d)*c.opts.Pace))
	}
	return c.pauseExactly(life, c.Paced(d))
}

func (c *Cluster) pauseExactly(life context.Context, d time.Duration) error {
	if c.instant.Load() {
		d = 0
	}
	if c.skips.Load() {
		c.clock.ahead.Add(int64(d))
		d = 0
	}
	select {
	case <-time.After(d):
		return nil
	case <-life.Done():
		return errShutdown()
	}
}

// ends is the end of a step of the donor.
func (t *transfer) ends(n int) func(context.Context) error {
	return func(context.Context) error {
		t.step(n)
		return nil
	}
}

func (t *transfer) step(n int) {
	now := t.c.Now()
	var before time.Duration
	for _, d := range t.from {
		before += d
	}
	t.from = append(t.from, now.Sub(t.began)-before)
	t.c.Mu.Lock()
	t.m.Step = min(n+1, 6)
	t.c.Mu.Unlock()
}

func (t *transfer) bounds() bson.D {
	return value.D("min", t.m.Min, "max", t.m.Max)
}

func (t *transfer) logEntry(server, what string, more bson.D) {
	t.c.logChange(server, what, t.m.NS, append(t.bounds(), more...))
}

// route returns the current table and chunk. The caller holds Mu.
func (t *transfer) route() (*Routing, *Chunk, error) {
	r := t.c.Routing(t.m.NS)
	if r == nil || r.UUID != t.uuid {
		return nil, nil, errGone
	}
	ch := r.chunkAround(t.m.Min, t.m.Max)
	if ch == nil || ch.Shard != t.m.From {
		return nil, nil, errGone
	}
	return r, ch, nil
}

// listDocuments lists the donor's documents and rejects a chunk with more than twice
// the number of documents of a full chunk
// (db/s/migration_chunk_cloner_source_legacy.cpp).
func (t *transfer) listDocuments(context.Context) error {
	t.c.Mu.RLock()
	defer t.c.Mu.RUnlock()
	r, _, err := t.route()
	if err != nil {
		return err
	}
	coll := t.c.data(t.m.From, t.m.NS)
	if coll == nil {
		return nil
	}
	for id := range coll.Range(r.Key, t.m.Min, t.m.Max) {
		t.list = append(t.list, id)
	}
	full, average := int64(250_001), int64(0)
	if n := int64(coll.Len()); n > 0 {
		average = max(coll.Bytes()/n, 5)
		full = t.c.chunkSizeOf(r) / average
		// SERVER-66041: chunks of one or two documents move however large they are.
		if v := t.c.opts.Version; v.AtLeast(6, 0, 0) || v.AtLeast(5, 0, 9) || v[0] == 4 && v.AtLeast(4, 4, 15) {
			full = max(full, 1)
		}
		full *= 2
	}
	if n := int64(len(t.list)); n > full && !t.m.Options.ForceJumbo {
		return status.Errorf(status.ChunkTooBig, "Cannot move chunk: the maximum number of documents for a chunk is "+
			"%d, the maximum chunk size is %d, average document size is %d. Found %d documents in chunk  ns: %s %s -> %s",
			full, t.c.chunkSizeOf(r), average, n, t.m.NS, text(t.m.Min), text(t.m.Max))
	}
	return nil
}

// failOnDonor ends a migration after an error on the donor.
func (t *transfer) failOnDonor(err error) error {
	t.c.Mu.Lock()
	defer t.c.Mu.Unlock()
	return t.logFailure(err)
}

// logFailure logs a failed migration. The caller holds Mu.
func (t *transfer) logFailure(err error) error {
	t.logEntry(t.m.From, "moveChunk.error", value.D("from", t.m.From, "to", t.m.To))
	t.c.logChange(t.m.From, "moveChunk.from", t.m.NS, t.c.outcome(t.bounds(), t.from, 6, t.m.From, t.m.To, false, nil))
	if errors.Is(err, errGone) {
		return status.Errorf(status.ConflictingOperationInProgress, "Collection is undergoing changes so moveChunk is not allowed.")
	}
	return err
}

// logReceived logs the end of a migration on the recipient. 8.0 has one step more at the end.
func (t *transfer) logReceived(ok bool, reason error) {
	steps := 7
	if t.c.since(8) {
		steps = 8
	}
	t.c.logChange(t.m.To, "moveChunk.to", t.m.NS, t.c.outcome(t.bounds(), t.to, steps, t.m.From, t.m.To, ok, reason))
}

// abortRecipient ends a migration on the recipient and deletes its copy. reason is
// logged by the recipient; nil when it only noticed that the transfer stopped.
func (t *transfer) abortRecipient(reason error) {
	t.c.Mu.Lock()
	t.deleteCopied()
	t.logReceived(false, reason)
	t.c.Mu.Unlock()
}

// abortBoth aborts a migration on both sides, for the recipient's reason if it has one.
func (t *transfer) abortBoth(err, reason error) error {
	t.abortRecipient(reason)
	if len(t.from) < 3 {
		t.step(3)
	}
	return t.failOnDonor(err)
}
