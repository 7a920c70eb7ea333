package engine

import (
	"testing"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/operation"
	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// The limit of a move grows with its bytes; one that rests on a measured rate is tighter, and none is endless.
func TestLimitOfAMoveFitsItsWork(t *testing.T) {
	for _, c := range []struct{ took, measured, assumed time.Duration }{
		{time.Second, 2*time.Minute + 4*time.Second, 5*time.Minute + 10*time.Second},
		{time.Hour, 4*time.Hour + 2*time.Minute, 10*time.Hour + 5*time.Minute},
		{1000 * time.Hour, operation.MigrationTimeout, operation.MigrationTimeout},
		{1<<63 - 1, operation.MigrationTimeout, operation.MigrationTimeout},
	} {
		if m, a := measuredMoveLimit.of(c.took), assumedMoveLimit.of(c.took); m != c.measured || a != c.assumed {
			t.Errorf("%s: %s and %s, want %s and %s", c.took, m, a, c.measured, c.assumed)
		}
	}
}

// A run names the deletions that it waits for, and no others.
func TestAwaitedDeletions(t *testing.T) {
	donor := []operation.Fact{{Kind: operation.FactChunk, NS: "db.x", Want: map[string]string{"shard": "a"}}}
	move := Step{Step: operation.Step{Op: operation.OpMove, NS: "db.x", Shard: "b", Wait: true, Needs: donor}}
	ended := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	in := func(state State, more ...func(*Step)) Step {
		s := move
		s.State = state
		for _, f := range more {
			f(&s)
		}
		return s
	}
	behind := func(o operation.Obstacle, facts ...message.Fact) func(*Step) {
		return func(s *Step) { s.Backoff = &Backoff{Obstacle: o, What: message.New("x", "", facts...)} }
	}
	deletes := func(s *Step) { s.Why, s.Ended = deletesText(*s), ended }
	for name, c := range map[string]struct {
		step Step
		want []AwaitedDeletion
	}{
		"a move that waits":           {in(Running), []AwaitedDeletion{{Shard: "a", NS: "db.x"}}},
		"a move that does not wait":   {in(Running, func(s *Step) { s.Wait = false }), nil},
		"a move that ended before it": {in(Succeeded, deletes), []AwaitedDeletion{{Shard: "a", NS: "db.x", Moved: ended}}},
		"one that was answered since": {in(Succeeded, deletes, func(s *Step) { s.Answered = true }), nil},
		"documents in the way":        {in(Waiting, behind(operation.ObstacleOrphans)), []AwaitedDeletion{{Shard: "b", NS: "db.x"}}},
		"a donor that still deletes": {
			in(Waiting, behind(actions.ObstacleDeletion, message.Shard("shard", "c"))), []AwaitedDeletion{{Shard: "c"}}},
		"something else":                  {in(Waiting, behind(operation.ObstacleMigration)), nil},
		"documents that were in the way":  {in(Failed, behind(operation.ObstacleOrphans)), nil},
		"a shard that drains":             {drains(Running, ended), []AwaitedDeletion{{Shard: "d"}}},
		"one whose draining was not sent": {drains(Planned, time.Time{}), nil},
	} {
		expect.EqualSlices(t, (Run{Steps: []Step{c.step, c.step}}).AwaitedDeletions(), c.want, "%s", name)
	}
}

func drains(state State, sent time.Time) Step {
	return Step{Step: operation.Step{Op: operation.OpAwait, Shard: "d", Proof: []operation.Fact{{Kind: operation.FactRemains, Shard: "d"}}},
		State: state, Sent: sent}
}

func TestNothingIsPlannedBeforeTheReleaseIsKnown(t *testing.T) {
	for version, want := range map[string]bool{"": false, "none": false, "8.x": false, "4.4.0": true, "9.0.1-rc2": true} {
		table := &topology.Table{ServerInfo: topology.ServerInfo{Version: version}}
		err := needsRelease(actions.Situation{Table: table, Release: balance.ReleaseOf(version)})
		expect.That(t, (err == nil) == want && (err == nil || fault.Of(err) == fault.Unavailable), "%q: got %v", version, err)
	}
}

func TestAWaitBeginsAnewWhenTheClockIsSetBack(t *testing.T) {
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	w := Backoff{
		Since: began,
		First: began.Add(-time.Minute),
		Next:  began.Add(time.Minute),
		Until: began.Add(15 * time.Minute),
		Pause: time.Minute,
	}
	for _, at := range []time.Time{began, began.Add(10 * time.Minute), began.Add(-time.Second), began.Add(24 * time.Hour)} {
		if got, anew := w.afterClockChange(at); anew || got.Until != w.Until {
			t.Errorf("at %s: %+v", at, got)
		}
	}
	at := began.Add(-24 * time.Hour)
	got, anew := w.afterClockChange(at)
	if !anew || got.Since != at || got.First != at || got.Next != at || got.Until != at.Add(15*time.Minute) || got.Pause != w.Pause {
		t.Errorf("%+v", got)
	}
	if again, anew := got.afterClockChange(at.Add(time.Minute)); anew {
		t.Errorf("it begins anew again: %+v", again)
	}
}
