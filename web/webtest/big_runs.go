package webtest

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// Names of the runs of BigRuns.
const (
	DrainingRun    = "draining"
	ReshardingRun  = "resharding"
	BatchRun       = "batch"
	BatchPausedRun = "batchpaused"
)

// WithBigRuns adds the runs that take hours, under way. The cluster of their page should have a shard that
// drains: Draining.
func WithBigRuns(a *StubActions) *StubActions {
	v := canned().view
	run := func(name string, p actions.Plan, done int) engine.Run {
		r := runOf(name, RecordID(name+"plan"), p, engine.Running, v.Now.Add(-2*time.Hour))
		for i := range r.Steps[:done+1] {
			s := &r.Steps[i]
			if s.State, s.Sent, s.Ended = engine.Succeeded, r.Started, r.Started.Add(time.Second); i == done {
				s.State, s.Sent, s.Ended = engine.Running, r.Started.Add(time.Second), time.Time{}
			}
		}
		return r
	}
	drain := run(DrainingRun, drafted(v, "drainplan", actions.DrainShard, actions.Args{Shard: v.Table.Shards[1].Name}), 1)
	drain.Steps[1].Progress = engine.Progress{Done: 300, Total: 1200}

	key := MustBSON(bson.D{{Key: "project_id", Value: 1}, {Key: "doc_id", Value: 1}})
	reshard := run(ReshardingRun, drafted(v, "reshardplan", actions.ReshardKind, actions.Args{NS: "yorkie-meta.changes", Key: key}), 0)
	reshard.Steps[0].Resharding = &operation.Resharding{ID: "5f3c9d8e-0000-4000-8000-5eedc0ffee00", NS: "yorkie-meta.changes",
		Command: operation.OfReshardCollection, Key: "{project_id: 1, doc_id: 1}", State: "cloning", At: v.Now.Add(-2 * time.Second),
		Shards: []operation.ReshardingShard{
			{Shard: "shard-rs-1", Donor: "donating-initial-data", Recipient: "cloning", Documents: 40_000, DocumentsEstimate: 90_000,
				Bytes: 52_000_000, BytesEstimate: 117_000_000, Fetched: 320, Left: 1900},
			{Shard: "shard-rs-2", Donor: "donating-initial-data", Recipient: "cloning", Documents: 90_100, DocumentsEstimate: 90_000,
				Bytes: 117_100_000, BytesEstimate: 117_000_000, Fetched: 412, Applied: 12, Left: -1},
			{Shard: "shard-rs-3", Donor: "donating-initial-data"},
		}}

	pin := canned().plans["pin"]
	batch := run(BatchRun, pin, 0)
	batch.Kind, batch.Args, batch.Steps = actions.Batch, actions.Args{}, nil
	batch.Summary = message.New("batch", "1,000 changes as one batch: pin")
	batch.Batch = &engine.Batch{Items: 1000, Groups: 51, Group: 14, Checked: 13, Done: 251, Skipped: 1,
		Since: v.Now.Add(-time.Hour), Busy: time.Hour,
		Open: []engine.OpenItem{{Item: 253, Run: RecordID("running")}},
		Problems: []engine.ItemTrial{{Item: 17, Run: RecordID("failed"), Tries: 2, State: engine.TrialSkip,
			Why: message.New("x", "The server refused this command, and it had no effect.")}},
		Gates: []engine.Gate{{Group: 13, At: v.Now.Add(-2 * time.Minute), Unknown: []message.Message{message.New("x",
			"Secondaries, replication lag and tickets are not known: a mongos does not tell them.")}}}}
	paused := batch
	paused.ID, paused.Plan, paused.State = RecordID(BatchPausedRun), RecordID(BatchPausedRun+"plan"), engine.Waiting
	paused.Why = message.New("x", "Paused: after group 13 the cluster is not healthy.")
	held := *batch.Batch
	held.Open, held.Since = nil, time.Time{}
	held.Hold = &engine.Hold{Code: engine.HoldGate, Group: 13, At: v.Now.Add(-2 * time.Minute), Why: paused.Why}
	held.Gates = []engine.Gate{{Group: 13, At: v.Now.Add(-2 * time.Minute), Findings: []message.Message{message.New("x",
		"{shard} does not answer.", message.Shard("shard", "shard-rs-2"))}}}
	paused.Batch = &held

	a.RunList = append([]engine.Run{drain, reshard, batch, paused}, a.RunList...)
	return a
}

// Draining makes the second shard drain.
func Draining(t *topology.Table) { t.Shards[1].Draining = true }
