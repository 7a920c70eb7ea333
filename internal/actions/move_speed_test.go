package actions

import (
	"fmt"
	"math"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/balance"
	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
)

// move are the entries of a migration that has ended, newest first.
func moveEntries(t *testing.T, ago, took time.Duration, bytes int64, steps ...int32) (out []topology.Event) {
	t.Helper()
	commit := event(t, "moveChunk.commit", ago, "a", "b", project(1), project(2), bytes)
	start := event(t, "moveChunk.start", ago+took, "a", "b", project(1), project(2), 0)
	if len(steps) > 0 {
		from := event(t, "moveChunk.from", ago, "a", "b", project(1), project(2), 0)
		var details bson.D
		must.Do(t, bson.Unmarshal(from.Details, &details))
		for i, ms := range steps {
			details = append(details, bson.E{Key: fmt.Sprintf("step %d of %d", i+1, len(steps)), Value: ms})
		}
		from.Details, _ = bson.Marshal(append(details, bson.E{Key: "note", Value: "success"}))
		out = append(out, from)
	}
	return append(out, commit, start)
}

// Past moves of any size count: small ones tell what a move takes besides copying.
func TestPastMovesOfAnySizeTellHowLongMovesTake(t *testing.T) {
	const large = 100 << 20
	second := time.Second
	for _, x := range []struct {
		name     string
		moves    [][]topology.Event
		n        int // chunks of the plan
		bytes    int64
		want     time.Duration
		relative float64
		method   string
	}{
		{"none", nil, 11, 0, 11 * second, 0, "assumedRate"},
		{"small ones alone", [][]topology.Event{
			moveEntries(t, time.Hour, 10*second, 20_000), moveEntries(t, 2*time.Hour, 10*second, 0), moveEntries(t, 3*time.Hour, 12*second, 100),
		}, 11, 0, 110 * second, 0.2, "changelogRate"},
		{"large and small", [][]topology.Event{
			moveEntries(t, time.Hour, 5*second, 0), moveEntries(t, 2*time.Hour, 25*second, large), moveEntries(t, 3*time.Hour, 25*second, large),
		}, 2, 2 * large, 50 * second, 0, "changelogRate"},
		{"the donor's own times, but the last", [][]topology.Event{
			moveEntries(t, time.Hour, 5*second, 0, 0, 20, 980, 6000, 1000, 900_000),
		}, 1, 0, 8 * second, 0, "changelogRate"},
		{"one that took longer than others", [][]topology.Event{
			moveEntries(t, time.Hour, 10*second, 0), moveEntries(t, 2*time.Hour, 10*second, 0), moveEntries(t, 3*time.Hour, 30*second, 0),
		}, 1, 0, 10 * second, 2, "changelogRate"},
	} {
		var events []topology.Event
		for _, m := range x.moves {
			events = append(events, m...)
		}
		got := MoveSpeedOf(events).time(topology.Figure{Known: true, Value: x.bytes}, x.n, time.Time{})
		want := x.want.Milliseconds()
		if math.Abs(float64(got.Value-want)) > 2 || math.Abs(float64(got.PlusMinus)-x.relative*float64(want)) > 2 || got.Method != x.method {
			t.Errorf("%s: %+v, want %d ms ± %.0f %% by %s", x.name, got, want, 100*x.relative, x.method)
		}
	}
}

// A resharding takes at least five minutes, and in 8.0 half a minute more than its copying.
func TestReshardingTakesAtLeastWhatTheServerWaits(t *testing.T) {
	for _, tc := range []struct {
		release    string
		copying    time.Duration
		operations int
		want       time.Duration
	}{
		{"8.0.10", time.Second, 1, 5 * time.Minute},
		{"8.0.10", 20 * time.Minute, 1, 20*time.Minute + 30*time.Second},
		{"5.0.7", 20 * time.Minute, 1, 20 * time.Minute},
		{"8.0.10", 4 * time.Minute, 3, 15 * time.Minute},
		{"8.0.10", 40 * time.Minute, 3, 41*time.Minute + 30*time.Second},
	} {
		d := &draftBuilder{s: Situation{Release: balance.ReleaseOf(tc.release)}}
		got := d.reshardTime(topology.Figure{Known: true, Value: tc.copying.Milliseconds()}, tc.operations)
		if time.Duration(got.Value)*time.Millisecond != tc.want {
			t.Errorf("%s, %d times, %s of copying: %d ms, want %s", tc.release, tc.operations, tc.copying, got.Value, tc.want)
		}
		if unknown := d.reshardTime(topology.Figure{}, 1); unknown.Known {
			t.Error("an unknown copying gives a known time")
		}
	}
}
