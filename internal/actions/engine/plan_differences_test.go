package engine

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/balance"
)

// A plan that an earlier release made, and a second person has approved, moves whole chunks with moveRange.
func TestAPlanOfAnEarlierReleaseIsStillTheSame(t *testing.T) {
	key := bson.Raw{5, 0, 0, 0, 0}
	release := balance.Release{7, 0, 0}
	plan := func(op actions.Op, to string) actions.Plan {
		p := actions.Plan{Draft: actions.Draft{Steps: []actions.Step{{Op: op, NS: "a.b", At: key, Min: key, Max: key, Shard: to}}}}
		commands, err := commandsOf(release, p.Steps)
		if err != nil {
			t.Fatal(err)
		}
		p.Commands, p.Hash = commands, planHash(p.Steps, commands)
		return p
	}
	now := plan(actions.OpMove, "s-2")
	for _, test := range []struct {
		was  actions.Plan
		same bool
	}{
		{now, true},
		{plan(actions.OpMoveRange, "s-2"), true},
		{plan(actions.OpMoveRange, "s-3"), false},
		{plan(actions.OpSplitAt, "s-2"), false},
	} {
		if got := samePlan(release, test.was, now); got != test.same {
			t.Errorf("%v: %v", test.was.Steps, got)
		}
	}
	if samePlan(release, now, plan(actions.OpMoveRange, "s-2")) {
		t.Error("a whole chunk has become a part of one, and it counts as the same")
	}
}
