package outcome

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
)

func TestCostHasTheServersCountsAndTheEstimate(t *testing.T) {
	run := endedRun(actions.MoveChunk, operation.OpMove, keyAt(0), keyAt(10), "b")
	counts := func(d bson.D) []topology.Event {
		raw := must.Get(bson.Marshal(d))
		return []topology.Event{{What: "moveChunk.start"}, {What: "moveChunk.commit", Details: raw}}
	}
	known := func(n int64) topology.Figure { return topology.Figure{Known: true, Value: n} }
	p := actions.Plan{Draft: actions.Draft{Effect: actions.Effect{Bytes: known(900), Documents: known(9), Duration: known(90),
		Moves: []actions.MoveEffect{{NS: ns, Min: keyAt(0), Max: keyAt(10), To: "b",
			Bytes: known(900), Documents: known(9), Duration: known(90)}}}}}
	run.Steps[0].Events = counts(
		bson.D{{Key: "counts", Value: bson.D{{Key: "cloned", Value: int64(7)}, {Key: "clonedBytes", Value: int64(700)}}}},
	)
	added := run.Steps[0]
	added.Min, added.Events = keyAt(20), counts(
		bson.D{{Key: "counts", Value: bson.D{{Key: "cloned", Value: int64(3)}, {Key: "clonedBytes", Value: int64(300)}}}},
	)
	run.Steps = append(run.Steps, added)
	c := CostOf(p, run)
	if c.Moved != 2 || c.Total.Actual.Documents.Value != 10 || c.Total.Actual.Bytes.Value != 1000 || c.Total.Actual.Millis.Value != 38_000 ||
		c.Total.Estimated.Bytes.Value != 900 {
		t.Errorf("%+v", c.Total)
	}
	if s := c.Steps[1].Estimated.Bytes; s.Known || s.Reason != reasonNotIn || !c.Steps[0].Estimated.Bytes.Known {
		t.Errorf("a step that was not planned has an estimate: %+v", s)
	}
	again := run // a move that was put off and sent again is one move
	again.Steps = append([]engine.Step{{Step: run.Steps[0].Step, State: engine.Deferred}}, run.Steps...)
	if c := CostOf(p, again); c.Moved != 2 || len(c.Steps) != 2 || c.Steps[0].Step != 1 {
		t.Errorf("a try that was put off counts: %+v", c.Steps)
	}
	run.Steps[1].Events = counts(bson.D{{Key: "from", Value: "a"}})
	if c := CostOf(p, run); c.Total.Actual.Bytes.Known || c.Total.Actual.Bytes.Reason != reasonNoEntry || !c.Total.Actual.Millis.Known {
		t.Errorf("the sum of unknown figures is known: %+v", c.Total.Actual)
	}
	run.Steps[0].State, run.Steps[1].State = engine.Succeeded, engine.Unknown
	if c := CostOf(p, run); c.Moved != 1 || c.Total.Actual.Bytes.Reason != ReasonUnknown ||
		c.Steps[1].Actual.Documents.Reason != ReasonUnknown {
		t.Errorf("a move whose outcome is unknown counts as done, or as not done: %+v", c)
	}
	run.Steps[0].State, run.Steps[1].State = engine.Failed, engine.Planned
	if c := CostOf(p, run); c.Moved != 0 || c.Total.Actual.Bytes.Known || c.Steps[0].Actual.Millis.Known {
		t.Errorf("a failed move has a cost: %+v", c)
	}
}
