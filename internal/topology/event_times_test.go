package topology

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
)

// Of random logs in which one of several servers has a clock that is off, the corrected times are in the order of
// insertion within a minute, near the true ones (but for the ends, where the order says too little), and correcting
// twice changes nothing.
func TestTimesFollowTheOrderOfInsertion(t *testing.T) {
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 5))
		off := time.Duration(rng.IntN(2*12*60)-12*60) * time.Minute
		at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		var log []Event
		var truth []time.Time
		for i := range 40 + rng.IntN(60) {
			at = at.Add(time.Duration(rng.IntN(300)) * time.Second)
			e := Event{ID: fmt.Sprint(i), Shard: string(rune('a' + rng.IntN(5))), Time: at.Add(time.Duration(rng.IntN(20)) * time.Second)}
			if e.Shard == "a" {
				e.Time = e.Time.Add(off)
			}
			log, truth = append(log, e), append(truth, at)
		}
		slices.Reverse(log)
		slices.Reverse(truth)
		got := CorrectTimes(log)
		for i, e := range got {
			if i > 0 && e.Time.Sub(got[i-1].Time) > clockTolerance {
				t.Fatalf("seed %d: entry %d at %v is newer than the next at %v", seed, i, e.Time, got[i-1].Time)
			}
			if inside := i > 25 && i < len(got)-35; inside && e.Time.Sub(truth[i]).Abs() > 30*time.Minute {
				t.Fatalf("seed %d: entry %d of %s, off by %v: %v, truly %v", seed, i, e.Shard, off, e.Time, truth[i])
			}
		}
		same := func(a, b Event) bool { return a.Time.Equal(b.Time) && a.Written.Equal(b.Written) }
		if !slices.EqualFunc(CorrectTimes(got), got, same) {
			t.Fatalf("seed %d: corrected twice it is something else", seed)
		}
	}
}

// One entry three hours late is put in its place, the others stay as they are, and the figure is told.
func TestOneLateEntryChangesNoOther(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	log := []Event{{Shard: "a", Time: at}, {Shard: "b", Time: at.Add(-3 * time.Hour)}, {Shard: "a", Time: at.Add(-2 * time.Minute)},
		{Shard: "c", Time: at.Add(-5 * time.Minute)}}
	table := &Table{Events: CorrectTimes(log)}
	if e := table.Events[1]; e.Time.Before(at.Add(-2*time.Minute)) || e.Time.After(at) || !e.Written.Equal(log[1].Time) {
		t.Errorf("%+v", e)
	}
	for _, i := range []int{0, 2, 3} {
		if e := table.Events[i]; !e.Time.Equal(log[i].Time) || !e.Written.IsZero() {
			t.Errorf("%d: %+v", i, e)
		}
	}
	off := table.ClocksOff(at.Add(-time.Hour))
	if len(off) != 1 || off[0].Shard != "b" || off[0].Off > -2*time.Hour-50*time.Minute {
		t.Errorf("%+v", off)
	}
}

// Numbers of the changelog that no server can mean are not known, and enter no sum.
func TestImpossibleNumbersOfEntriesAreNotKnown(t *testing.T) {
	for _, n := range []any{int64(-5), math.NaN(), math.Inf(1), 1e30, "many", nil} {
		details := must.Get(bson.Marshal(bson.D{{Key: "from", Value: "a"},
			{Key: "counts", Value: bson.D{{Key: "cloned", Value: n}, {Key: "clonedBytes", Value: n}}}}))
		now := time.Now()
		e := Event{What: "moveChunk.commit", Details: details, Time: now.Add(-time.Minute)}
		if g, ok := GivenAway(e); !ok || g.Counted || g.Documents != 0 || g.Empty {
			t.Errorf("%v: %+v", n, g)
		}
		table := &Table{Events: []Event{e, e, e}}
		if p, ok := table.PaceOf("a", now); !ok || p.Bytes != 0 || p.Chunks != 3 {
			t.Errorf("%v: the pace is %+v", n, p)
		}
	}
}
