package changing

import (
	"fmt"
	"strings"
	"testing"

	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

func TestTitleOfAChangeIsShort(t *testing.T) {
	hash := "-7686143364045646500"
	split := message.New("split.at", "Split the chunk {min} → {max} of {ns} at {at}.", message.Key("min", hash), message.Key("max", "0"),
		message.Key("at", "{project_id: ObjectId(\"687a94a8e28a74c611ffd680\")}"), message.Namespace("ns", "yorkie-meta.changes"))
	pin := message.New("pin", "Pin the project {project} ({id}) to {shard}.", message.Project("project", "687a94a8e28a74c611ffd680", "atlas"),
		message.Key("id", "687a94a8e28a74c611ffd680"), message.Shard("shard", "shard-rs-2"))
	for name, c := range map[string]struct {
		summary message.Message
		want    string
	}{
		"keys are cut":     {split, "Split the chunk -768614…5646500 → 0 of yorkie-meta.changes at 687a94a…1ffd680"},
		"an id is left":    {pin, "Pin the project atlas to shard-rs-2"},
		"of an undo":       {message.New("undo", "Undo: pin {project} ({id}).", pin.Facts...), "Undo: pin atlas"},
		"an older record":  {message.Message{Code: "pin"}, "pin"},
		"dots in the name": {message.New("x", "Unpin {project}.", message.Project("project", "1", "a.b.")), "Unpin a.b."},
	} {
		expect.Equal(t, changeHeading(c.summary).String(), c.want, "%s", name)
	}
	expect.Contains(t, split.String(), hash, "the summary has lost its keys")
}

func TestOutlineOfAPlanHasALineForEachKindOfStep(t *testing.T) {
	var steps []operation.Step
	for i := range 30 {
		steps = append(steps, operation.Step{Op: operation.OpSplitAt, NS: topology.Namespace(fmt.Sprintf("db.c%d", i%3))})
	}
	for i := range 5 {
		steps = append(steps, operation.Step{Op: operation.OpMove, NS: "db.c0", Shard: []string{"a", "b"}[i%2]})
	}
	steps = append(steps, operation.Step{Op: operation.OpAddZone, Shard: "a", Zone: "eu"})
	var got []string
	total := 0
	for _, x := range outlineOf(steps) {
		got = append(got, x.Text.String())
		total += x.Steps
	}
	want := "Split chunks at 30 points in 3 collections|Move 3 ranges of db.c0 to a|Move 2 ranges of db.c0 to b|Add a to the zone eu"
	if strings.Join(got, "|") != want || total != len(steps) {
		t.Errorf("%d steps of %d: %s", total, len(steps), strings.Join(got, "|"))
	}
}

func TestLongRunFoldsWhatNeedsNoLook(t *testing.T) {
	steps := func(done, failed, planned int) (out []api.RunStep) {
		for i := range done + failed + planned {
			state := engine.Planned
			if i < done {
				state = engine.Succeeded
			} else if i < done+failed {
				state = engine.Failed
			}
			out = append(out, api.RunStep{State: string(state)})
		}
		return out
	}
	show := func(s []api.RunStep) string {
		var out []string
		n := 0
		for _, g := range GroupSteps(ListSteps(s)) {
			out = append(out, fmt.Sprintf("%s:%d", g.Key, len(g.Steps)))
			n += len(g.Steps)
		}
		expect.That(t, n == len(s), "%d steps of %d are listed", n, len(s))
		return strings.Join(out, " ")
	}
	for _, c := range []struct {
		steps []api.RunStep
		want  string
	}{
		{nil, ""},
		{steps(10, 0, 2), ":12"},
		{steps(30, 1, 5), "proven-1:30 :1 planned-36:5"},
		{steps(31, 1, 4), "proven-1:31 :1 planned-36:4"}, // the same folds a step later
		{steps(34, 0, 2), "proven-1:34 :2"},
	} {
		expect.Equal(t, show(c.steps), c.want, "the outline")
	}
}
