package outcome

import (
	"testing"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/topology"
)

// Whether a batch helped is measured around the whole batch, by shards, and not around its items.
func TestABatchIsMeasuredAsOneChange(t *testing.T) {
	withRecorder(t, func(r *recorderTest) {
		r.countWrites(12*time.Minute, 30, 20, 10)
		batch := engine.Run{ID: "batch", Kind: actions.Batch, State: engine.Running, Started: time.Now(), Batch: &engine.Batch{Items: 1},
			Limits: operation.Limits{Collections: []topology.Namespace{ns}}}
		r.setRun(batch)
		item := endedRun(actions.MoveChunk, operation.OpMove, keyAt(0), keyAt(10), "b")
		item.ID, item.Parent, item.Item, item.State, item.Started, item.Ended = "item", "batch", 1, engine.Running, time.Now(), time.Time{}
		r.setRun(item)
		r.countWrites(3*time.Minute, 30, 20, 10)
		r.c = collection(t, []int64{0, 10}, "a", "b", "b")
		r.fakes.mu.Lock()
		r.table = &topology.Table{ClusterID: "c", Loaded: true, Collections: []*topology.Collection{r.c}}
		r.fakes.mu.Unlock()
		r.endRun(item)
		batch.State, batch.Ended, batch.Batch = engine.Succeeded, time.Now(), &engine.Batch{Items: 1, Done: 1}
		r.setRun(batch)
		r.countWrites(12*time.Minute, 30, 20, 10)
		if o := r.outcome(batch); o.State != Measured || o.Verdict != Helped || o.Before.Hottest != "a" {
			t.Errorf("%+v", o)
		}
		if _, measured := r.rows["item"]; measured {
			t.Error("an item is measured by itself")
		}
	})
}

func TestABatchIsJudgedByTheCollectionsOfItsItems(t *testing.T) {
	limits := operation.Limits{Collections: []topology.Namespace{ns, "app.other"}}
	for name, c := range map[string]struct {
		state engine.State
		done  int
		empty bool
	}{
		"running":       {engine.Running, 0, false},
		"stopped early": {engine.Stopped, 0, true},
		"stopped":       {engine.Stopped, 1, false},
		"all":           {engine.Succeeded, 2, false},
	} {
		s := scopeOf(engine.Run{Kind: actions.Batch, State: c.state, Limits: limits, Batch: &engine.Batch{Items: 2, Done: c.done}})
		if s.empty() != c.empty || !c.empty && (s.basis != ByShards || s.zonesOnly || len(s.namespaces()) != 2) {
			t.Errorf("%s: %+v", name, s)
		}
	}
}
