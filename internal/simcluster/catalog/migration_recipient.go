package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

// ask registers the migration at its recipient, which may be busy.
func (t *transfer) ask(life context.Context) error {
	t.c.Mu.Lock()
	defer t.c.Mu.Unlock()
	err := t.c.moves.busy(t.m.To, t.m)
	t.m.Receives = err == nil
	if err != nil {
		t.fail = func(err error) error {
			err = t.failOnDonor(err)
			_ = t.c.pause(life, prepareTime) // the donor becomes free a little later
			return err
		}
		return err
	}
	t.fail = func(err error) error { return t.abortBoth(err, nil) }
	return nil
}

// received records that a step of the recipient has ended, and how long the last ones took.
func (t *transfer) received(n int, took ...time.Duration) func(context.Context) error {
	return func(context.Context) error {
		t.to = append(t.to, took...)
		t.c.Mu.Lock()
		defer t.c.Mu.Unlock()
		t.m.Received = n
		return nil
	}
}

// awaitsOutcome is the last step of a recipient of 8.0 before the commit: it waits for the donor's outcome.
func (t *transfer) awaitsOutcome(life context.Context) error {
	if !t.c.since(8) {
		return nil
	}
	return t.received(7)(life)
}

func (t *transfer) makeCollection(context.Context) error {
	t.c.Mu.Lock()
	defer t.c.Mu.Unlock()
	_, err := t.c.EnsureCollection(t.m.To, t.m.NS, t.uuid, t.c.data(t.m.From, t.m.NS))
	return err
}

// clone copies the documents in batches, for at least the time of Options.Migration.
func (t *transfer) clone(life context.Context) error {
	begun := t.c.Now()
	least := t.c.opts.Migration / time.Duration(len(t.list)/cloneBatch+1)
	for batch := range slices.Chunk(t.list, cloneBatch) {
		size, err := t.cloneDocuments(batch)
		if err == nil {
			err = t.c.pause(life, time.Duration(float64(cloneTime)*float64(size)/(1<<20)))
		}
		if err == nil {
			err = t.c.pauseExactly(life, least)
		}
		if err != nil {
			return err
		}
	}
	if len(t.list)%cloneBatch == 0 {
		if err := t.c.pauseExactly(life, least); err != nil {
			return err
		}
	}
	return t.received(4, t.c.Now().Sub(begun))(life)
}

// clearOrphans waits until the recipient has no orphans of an earlier migration in the
// range. Before 8.0 the recipient logs that it gave up.
func (t *transfer) clearOrphans(life context.Context) error {
	limit := time.After(t.c.Paced(orphanWait))
	for {
		t.c.Mu.Lock()
		t.c.CleanOrphans()
		var o *orphanRange
		if r := t.c.Routing(t.m.NS); r != nil {
			o = t.c.orphansIn(r, t.m.To, t.m.Min, t.m.Max)
		}
		left := time.Duration(0)
		if o != nil {
			if left = o.due.Sub(t.c.Now()); left <= 0 {
				left = time.Second // a cursor holds it: look again
			}
		}
		t.c.Mu.Unlock()
		if o == nil {
			return nil
		}
		select {
		case <-o.gone:
		case <-time.After(left):
		case <-limit:
			err := t.c.errOrphans(t.m)
			if !t.c.since(8) {
				t.fail = func(failed error) error { return t.abortBoth(failed, err) }
			}
			return transferError(err.Error())
		case <-life.Done():
			return errShutdown()
		}
	}
}

// cloneDocuments copies one batch. If the recipient already has a document with the same _id,
// the migration fails, with an error text that does not mention it.
func (t *transfer) cloneDocuments(batch []engine.RecordID) (size int, err error) {
	t.c.Mu.Lock()
	defer t.c.Mu.Unlock()
	r, _, err := t.route()
	if err != nil {
		return 0, err
	}
	from, to := t.c.data(t.m.From, r.NS), t.c.data(t.m.To, r.NS)
	for _, id := range batch {
		doc := from.Get(id)
		if doc == nil {
			continue
		}
		if _, err := to.Insert(doc); err != nil {
			return size, transferError(t.c.cloneFailure())
		}
		t.cloned++
		t.m.Cloned = true
		size += len(doc)
	}
	t.bytes += int64(size)
	return size, nil
}

// copyChanges makes the recipient's copy equal to the donor's documents, which may have
// changed since they were cloned. The caller holds Mu, which makes this the critical
// section.
func (t *transfer) copyChanges(r *Routing) error {
	from, to := t.c.data(t.m.From, r.NS), t.c.data(t.m.To, r.NS)
	have := make(map[string]engine.RecordID)
	for id, doc := range to.Range(r.Key, t.m.Min, t.m.Max) {
		have[idKey(doc)] = id
	}
	var failed error
	if from != nil {
		for _, doc := range from.Range(r.Key, t.m.Min, t.m.Max) {
			id, ok := have[idKey(doc)]
			switch {
			case !ok:
				t.later++
				_, failed = to.Insert(doc)
			case !bytes.Equal(to.Get(id), doc):
				t.later++
				failed = to.Update(id, doc)
			}
			if failed != nil {
				break
			}
			delete(have, idKey(doc))
		}
	}
	for _, id := range have {
		t.later++
		to.Delete(id)
	}
	if failed != nil {
		return transferError(t.c.cloneFailure())
	}
	return nil
}

func idKey(doc bson.Raw) string {
	v := doc.Lookup("_id")
	return string(append([]byte{byte(v.Type)}, v.Value...))
}

// transferError is the donor's error when the recipient failed.
func transferError(cause string) error {
	return status.Errorf(status.OperationFailed, "Data transfer error: %s", cause)
}

// cloneFailure is all that the donor says of a document that the recipient has already.
func (c *Cluster) cloneFailure() string {
	if c.since(8) {
		return "migrate failed: Location6718402: operation was interrupted"
	}
	return "migrate failed: Location51008: operation was interrupted"
}

// errOrphans is the error when a recipient's old orphans were not deleted in time.
func (c *Cluster) errOrphans(m *migration) error {
	if c.since(8) {
		//lint:ignore ST1005 the server's own text
		return errors.New("migrate failed: ExceededTimeLimit: Migration failed because the orphans cleanup routine didn't clear yet " +
			"a portion of the range being migrated that was previously owned by the recipient shard.")
	}
	return fmt.Errorf("ExceededTimeLimit: Failed to delete orphaned %s range %s :: caused by :: operation "+
		"exceeded time limit", m.NS, rangeText(m.Min, m.Max))
}
