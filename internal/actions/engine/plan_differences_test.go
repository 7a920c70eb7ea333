package engine

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/operation"
	"shardboard/internal/balance"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// A plan that an earlier release made, and a second person has approved, moves whole chunks with moveRange.
func TestAPlanOfAnEarlierReleaseIsStillTheSame(t *testing.T) {
	key := bson.Raw{5, 0, 0, 0, 0}
	release := balance.Release{7, 0, 0}
	plan := func(op operation.Op, to string) actions.Plan {
		p := actions.Plan{Draft: actions.Draft{Steps: []operation.Step{{Op: op, NS: "a.b", At: key, Min: key, Max: key, Shard: to}}}}
		commands, err := commandsOf(release, p.Steps)
		must.Do(t, err)
		p.Commands = commands
		if p.Hash, err = planHash(p.Steps, commands); err != nil {
			t.Fatal(err)
		}
		return p
	}
	now := plan(operation.OpMove, "s-2")
	for _, test := range []struct {
		was  actions.Plan
		same bool
	}{
		{now, true},
		{plan(operation.OpMoveRange, "s-2"), true},
		{plan(operation.OpMoveRange, "s-3"), false},
		{plan(operation.OpSplitAt, "s-2"), false},
	} {
		expect.Equal(t, samePlan(release, test.was, now), test.same, "%v", test.was.Steps)
	}
	if samePlan(release, now, plan(operation.OpMoveRange, "s-2")) {
		t.Error("a whole chunk has become a part of one, and it counts as the same")
	}
}
