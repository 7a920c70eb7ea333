package engine

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
)

type renderer struct{}

func (renderer) Render(s actions.Step) (actions.Command, error) {
	doc, err := bson.Marshal(bson.D{{Key: string(s.Op), Value: string(s.NS)}, {Key: "to", Value: s.Shard}})
	return actions.Command{DB: "admin", Doc: doc}, err
}

// A plan that an earlier release made, and a second person has approved, moves whole chunks with moveRange.
func TestAPlanOfAnEarlierReleaseIsStillTheSame(t *testing.T) {
	e := &Engine{opts: Options{Renderer: renderer{}}}
	plan := func(op actions.Op, to string) actions.Plan {
		p := actions.Plan{Draft: actions.Draft{Steps: []actions.Step{{Op: op, NS: "a.b", Shard: to}}}}
		commands, err := e.renderCommands(p.Steps)
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
		if got := e.samePlan(test.was, now); got != test.same {
			t.Errorf("%v: %v", test.was.Steps, got)
		}
	}
	if e.samePlan(now, plan(actions.OpMoveRange, "s-2")) {
		t.Error("a whole chunk has become a part of one, and it counts as the same")
	}
}
