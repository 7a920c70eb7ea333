package engine

import (
	"context"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/operation"
	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/message"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// Plans and runs of earlier versions hold the code of a sentence and its
// arguments, but no words.
func TestARecordWithoutWordsIsStillRead(t *testing.T) {
	run, err := decodeRun(store.RunRecord{ID: "r1", Body: []byte(`{"ID":"r1","Kind":"move","State":"failed",
		"Summary":{"Code":"move","Args":{"ns":"db.docs","to":"b"}},"Why":{"Code":"step.gaveUp","Args":{"tries":"3"}},
		"Steps":[{"State":"failed","Why":{"Code":"step.gaveUp","Args":null},"Backoff":{"What":{"Code":"obstacle.lock","Args":{}}}}]}`)})
	must.Do(t, err)
	for got, want := range map[string]string{
		run.Summary.String():               "move (ns db.docs, to b)",
		run.Why.String():                   "step.gaveUp (tries 3)",
		run.Steps[0].Backoff.What.String(): "obstacle.lock",
	} {
		expect.That(t, got == want, "%q, want %q", got, want)
	}
	plan, err := decodePlan(
		store.PlanRecord{ID: "p1", Body: []byte(`{"Summary":{"Code":"split.at","Args":{"at":"5"}},"Undo":{"Text":{"Code":"split","Args":null}},
		"Checks":[{"ID":"stale","Verdict":"pass","Text":{"Code":"stale.fresh","Args":null},"Source":{"Code":"table","Args":{"part":"routing"}}}],
		"Effect":{"Stays":[{"Code":"unsharded","Args":{"ns":"db.users"}}]}}`)},
	)
	if err != nil || plan.Summary.String() != "split.at (at 5)" ||
		plan.Checks[0].Source.Code != "table" || plan.Effect.Stays[0].Code != "unsharded" {
		t.Errorf("%+v, %v", plan, err)
	}
}

func TestRefusalNamesTheCheckThatBlocks(t *testing.T) {
	p := actions.Plan{Draft: actions.Draft{Checks: []actions.Check{
		{ID: "a", Verdict: actions.Pass, Text: message.New("a", "Fine.")},
		{ID: "b", Verdict: actions.Block, Text: message.New("b", "{shard} is draining.", message.Shard("shard", "rs-2"))},
	}}}
	expect.Equal(t, refusalText(blockedError(p)), "A check blocks it. rs-2 is draining.", "the refusal")
	expect.Equal(t, refusalText(fault.New(fault.Invalid, "The argument is wrong.")), "The argument is wrong.", "the refusal")
}

// A plan that an earlier release made, and a second person has approved, moves whole chunks with moveRange.
func TestAPlanOfAnEarlierReleaseIsStillTheSame(t *testing.T) {
	key := bson.Raw{5, 0, 0, 0, 0}
	release := balance.Release{7, 0, 0}
	plan := func(op operation.Op, to string) actions.Plan {
		p := actions.Plan{Draft: actions.Draft{Steps: []operation.Step{{Op: op, NS: "a.b", At: key, Min: key, Max: key, Shard: to}}}}
		commands, err := commandsOf(release, p.Steps)
		must.Do(t, err)
		p.Commands = commands
		p.Hash, err = planHash(p.Steps, commands)
		must.Do(t, err)
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
	expect.That(t, !samePlan(release, now, plan(operation.OpMoveRange, "s-2")),
		"a whole chunk has become a part of one, and it counts as the same")
}

// readings notes what is read.
type readings struct{ writes []actions.Span }

func (r *readings) RecentWrites(_ context.Context, _ *topology.Table, of []actions.Span) actions.Writes {
	r.writes = append(r.writes, of...)
	return actions.Writes{}
}

// What is read may show that more is needed.
func TestADraftIsMadeUntilItHasReadWhatItNeeds(t *testing.T) {
	a, b := actions.Span{NS: "d.a"}, actions.Span{NS: "d.b"}
	stages := []actions.Needs{{Writes: []actions.Span{a}}, {Writes: []actions.Span{b}}, // what cannot be read is not waited for:
		{Writes: []actions.Span{a}, Indexes: "d.a", Sizes: []actions.Span{a}}}
	var reads readings
	e := planning{base: &base{opts: Options{Recent: &reads}}} // reads no indexes and no sizes
	drafts := 0
	d, err := e.draftWithReads(t.Context(), &actions.Situation{}, func(actions.Situation) (actions.Draft, error) {
		need := stages[min(drafts, len(stages)-1)]
		drafts++
		return actions.Draft{Needs: need}, nil
	})
	if err != nil || drafts != 3 || !slices.Equal(reads.writes, []actions.Span{a, a, b}) || d.Needs.Writes != nil {
		t.Errorf("%v, %d drafts, read %v, %+v", err, drafts, reads.writes, d.Needs)
	}
}
