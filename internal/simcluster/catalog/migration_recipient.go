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

// receive runs the recipient until it has all documents: wait for old orphans, create
// the collection, clone, catch up. The donor's third step ends when the recipient has
// begun; its fourth step waits until the recipient has caught up.
func (t *transfer) receive(life context.Context, list []engine.RecordID) error {
	if err := t.c.pause(life, askTime); err != nil {
		return t.failOnDonor(err)
	}
	t.c.Mu.Lock()
	err := t.c.moves.receive(t.m)
	t.c.Mu.Unlock()
	if err != nil {
		err = t.failOnDonor(err)
		_ = t.c.pause(life, prepareTime) // the donor becomes free a little later
		return err
	}
	if err := t.c.pause(life, startTime); err != nil {
		return t.abortBoth(err)
	}
	t.step(3)
	if err := t.clearOrphans(life); err != nil {
		reason := err
		if t.c.features.observed8 {
			reason = nil
		}
		t.abortRecipient(reason)
		return t.failOnDonor(transferError(err.Error()))
	}
	t.to = append(t.to, 5*time.Millisecond)
	t.received(2) // the second step takes no time
	if err := t.c.pause(life, indexTime); err != nil {
		return t.abortBoth(err)
	}
	t.c.Mu.Lock()
	_, err = t.c.EnsureCollection(t.m.To, t.m.NS, t.uuid, t.c.data(t.m.From, t.m.NS))
	t.c.Mu.Unlock()
	if err != nil {
		return t.abortBoth(err)
	}
	t.to = append(t.to, 12*time.Millisecond, 4*time.Millisecond)
	t.received(3)
	if err := t.atStep(life, Cloning); err != nil {
		return t.stopAt(Cloning, err)
	}
	begun := t.c.Now()
	least := t.c.opts.Migration / time.Duration(len(list)/cloneBatch+1)
	for batch := range slices.Chunk(list, cloneBatch) {
		size, err := t.clone(batch)
		if err != nil {
			return t.abortBoth(err)
		}
		if err := t.c.pause(life, time.Duration(float64(cloneTime)*float64(size)/(1<<20))); err != nil {
			return t.abortBoth(err)
		}
		if err := t.c.pauseExactly(life, least); err != nil {
			return t.abortBoth(err)
		}
	}
	if len(list)%cloneBatch == 0 {
		if err := t.c.pauseExactly(life, least); err != nil {
			return t.abortBoth(err)
		}
	}
	t.to = append(t.to, t.c.Now().Sub(begun))
	t.received(4)
	if err := t.c.pause(life, catchUpTime); err != nil {
		return t.abortBoth(err)
	}
	t.to = append(t.to, time.Millisecond)
	t.received(5)
	if err := t.atStep(life, Cloned); err != nil {
		return t.stopAt(Cloned, err)
	}
	return nil
}

// clearOrphans waits until the recipient has no orphans of an earlier migration in the
// range.
func (t *transfer) clearOrphans(life context.Context) error {
	limit := time.NewTimer(t.c.Paced(orphanWait))
	defer limit.Stop()
	for {
		t.c.Mu.Lock()
		t.c.CleanOrphans()
		var o *orphanRange
		if r := t.c.routes[t.m.NS]; r != nil {
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
		due := time.NewTimer(left)
		select {
		case <-o.gone:
		case <-due.C:
		case <-limit.C:
			due.Stop()
			return t.c.errOrphans(t.m)
		case <-life.Done():
			due.Stop()
			return errShutdown()
		}
		due.Stop()
	}
}

// clone copies one batch. If the recipient already has a document with the same _id,
// the migration fails, with an error text that does not mention it.
func (t *transfer) clone(batch []engine.RecordID) (size int, err error) {
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
		record, err := to.Insert(doc)
		if err != nil {
			return size, transferError(t.c.cloneFailure())
		}
		t.records = append(t.records, record)
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
	have := make(map[string]engine.RecordID, len(t.records))
	for _, id := range t.records {
		if doc := to.Get(id); doc != nil {
			have[idKey(doc)] = id
		}
	}
	t.records = t.records[:0]
	var failed error
	if from != nil {
		for _, doc := range from.Range(r.Key, t.m.Min, t.m.Max) {
			id, ok := have[idKey(doc)]
			switch {
			case !ok:
				t.later++
				id, failed = to.Insert(doc)
			case !bytes.Equal(to.Get(id), doc):
				t.later++
				failed = to.Update(id, doc)
			}
			if failed != nil {
				break
			}
			delete(have, idKey(doc))
			t.records = append(t.records, id)
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
	if c.features.observed8 {
		return "migrate failed: Location6718402: operation was interrupted"
	}
	return "migrate failed: Location51008: operation was interrupted"
}

// errOrphans is the error when a recipient's old orphans were not deleted in time.
func (c *Cluster) errOrphans(m *migration) error {
	if c.features.observed8 {
		//lint:ignore ST1005 the server's own text
		return errors.New("migrate failed: ExceededTimeLimit: Migration failed because the orphans cleanup routine didn't clear yet " +
			"a portion of the range being migrated that was previously owned by the recipient shard.")
	}
	return fmt.Errorf("ExceededTimeLimit: Failed to delete orphaned %s range %s :: caused by :: operation "+
		"exceeded time limit", m.NS, rangeText(m.Min, m.Max))
}
