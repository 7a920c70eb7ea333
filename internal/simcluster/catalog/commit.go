package catalog

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
)

// historyWindow is how long a chunk remembers where it was
// (minSnapshotHistoryWindowInSeconds); the newest entry always stays.
const historyWindow = 300

// commit hands the chunk over: the recipient's copy is made equal, then the config
// server flips the owner, all under one lock as in the critical section.
func (t *transfer) commit() error {
	t.c.Mu.Lock()
	r, ch, err := t.route()
	if err == nil {
		err = t.sync(r)
	}
	if err != nil {
		t.c.Mu.Unlock()
		return t.abort(err)
	}
	defer t.c.Mu.Unlock()
	t.to = append(t.to, 13*time.Millisecond, 0)
	t.m.received = true
	t.c.logChange(t.m.to, "moveChunk.to", t.m.ns, outcome(t.bounds(), t.to, 7, t.m.from, t.m.to, true, nil))
	if !r.Permitted {
		return t.refuse(r, ch)
	}
	t.c.commitRange(r, ch, t.m.min, t.m.max, t.m.to)
	t.log(t.m.from, "moveChunk.commit", bson.D{
		{Key: "from", Value: t.m.from}, {Key: "to", Value: t.m.to},
		{Key: "counts", Value: bson.D{
			{Key: "cloned", Value: t.cloned}, {Key: "clonedBytes", Value: t.bytes},
			{Key: "catchup", Value: t.later}, {Key: "steady", Value: int64(0)},
		}},
	})
	if t.o.WaitForDelete {
		t.c.deleteRange(r, t.m.from, t.m.min, t.m.max)
	} else {
		t.c.leaveOrphans(r, t.m.from, t.m.min, t.m.max)
	}
	return nil
}

// refuse is a commit that the config server turns down: the donor's recovery raises
// the version of the chunk that stayed, so that no late commit can win.
func (t *transfer) refuse(r *Routing, ch *Chunk) error {
	if coll := t.c.data(t.m.to, t.m.ns); coll != nil {
		for _, id := range t.records {
			coll.Delete(id)
		}
	}
	ch.Version = r.bumpMajor()
	t.c.saveChunk(r, ch)
	t.c.logChange(t.m.from, "moveChunk.from", t.m.ns, outcome(t.bounds(), t.from, 6, t.m.from, t.m.to, false, nil))
	return status.Errorf(status.ConflictingOperationInProgress, "Collection is undergoing changes and chunks cannot be moved")
}

// commitMove gives the chunk the next major version and its new owner, and one chunk
// that stays on the donor, the one with the lowest bounds, the version after it
// (db/s/config/sharding_catalog_manager_chunk_operations.cpp, commitChunkMigration).
func (c *Cluster) commitMove(r *Routing, ch *Chunk, to string) {
	from := ch.Shard
	c.relocate(r, ch, to)
	if r.counts[from] == 0 {
		return
	}
	for _, control := range r.chunks {
		if control.Shard == from {
			control.Version = r.bumpMinor()
			c.saveChunk(r, control)
			return
		}
	}
}

// clean is the donor's last step, after the chunk is gone.
func (t *transfer) clean(life context.Context) error {
	_ = t.pause(life, cleanTime)
	t.step(6)
	t.c.Mu.Lock()
	defer t.c.Mu.Unlock()
	t.c.logChange(t.m.from, "moveChunk.from", t.m.ns, outcome(t.bounds(), t.from, 6, t.m.from, t.m.to, true, nil))
	return nil
}
