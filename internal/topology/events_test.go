package topology

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
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
		must.That(t, slices.EqualFunc(CorrectTimes(got), got, same), "seed %d: corrected twice it is something else", seed)
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
	expect.That(t, len(off) == 1 && off[0].Shard == "b" && off[0].Off <= -2*time.Hour-50*time.Minute, "%+v", off)
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

func TestFailedMovesAreToldFromOtherEntries(t *testing.T) {
	note := func(text, from, to string) bson.Raw {
		d := bson.D{{Key: "note", Value: text}}
		if from != "" {
			d = append(d, bson.E{Key: "from", Value: from}, bson.E{Key: "to", Value: to})
		}
		return must.Get(bson.Marshal(d))
	}
	for name, c := range map[string]struct {
		what    string
		details bson.Raw
		failed  bool
	}{
		"an error":               {"moveChunk.error", nil, true},
		"the donor gave up":      {"moveChunk.from", note("aborted", "a", "b"), true},
		"the recipient gave up":  {"moveChunk.to", note("aborted", "a", "b"), true},
		"without names":          {"moveChunk.from", note("aborted", "", ""), true},
		"to the shard it is on":  {"moveChunk.from", note("aborted", "a", "a"), false},
		"the donor succeeded":    {"moveChunk.from", note("success", "a", "b"), false},
		"a commit":               {"moveChunk.commit", note("aborted", "a", "b"), false},
		"another kind of change": {"split", note("aborted", "a", "b"), false},
		"no details":             {"moveChunk.from", nil, false},
	} {
		expect.Equal(t, (Event{What: c.what, Details: c.details}).FailedMove(), c.failed, "%s: failed", name)
	}
}

func TestInternalCollectionsAreRecognized(t *testing.T) {
	for ns, want := range map[Namespace]bool{
		"config.system.sessions": true, "config.chunks": true, "admin.system.users": true, "local.oplog.rs": true, "config": true,
		"db.system.resharding.6b02bb48-a4db-7cc4-8956-5429": true, "db.system.views": true, "db.system.profile": true,
		"db.system.buckets.weather": false, "db.things": false, "configuration.things": false, "db.systems": false, "db": false, "": false,
	} {
		expect.Equal(t, IsInternal(ns), want, "%q", ns)
	}
}

func TestChangelogEntriesOfInternalCollectionsAreRecognized(t *testing.T) {
	for _, c := range []struct {
		what, ns string
		want     bool
	}{
		{"multi-split", "config.system.sessions", true},
		{"addShard", "", false},
		{"dropDatabase", "db", false},
		{"renameCollection.metadata", "admin.projects to yorkie-meta.projects2 : dropped target collection.", false},
		{"renameCollection.metadata", "admin.projects to yorkie-meta.projects2: dropped target collection and renamed source collection", false},
		{"renameCollection.metadata", "admin.x to config.y: dropped target collection", true},
		{"split", "db.one to another", false},
	} {
		expect.Equal(t, (Event{What: c.what, NS: c.ns}).Internal(), c.want, "%s of %q", c.what, c.ns)
	}
}

// sessionEntries are the entries that a new cluster logs for its sessions collection.
func sessionEntries(n int, newest time.Time) []Event {
	out := make([]Event, n)
	for i := range out {
		out[i] = Event{ID: fmt.Sprint("s", i), Time: newest.Add(-time.Duration(i) * time.Second), What: "multi-split",
			NS: "config.system.sessions"}
	}
	return out
}

func TestInternalEntriesDoNotDisplaceEntriesOfPeople(t *testing.T) {
	f := newFake(t)
	f.add("db.x", 1, 0)
	old := Event{ID: "people", What: "shardCollection.end", NS: "db.x"}
	f.events = append(sessionEntries(1500, time.Now()), old)
	withWatcher(t, f, Options{}, func(w *Watcher) {
		wait(time.Minute)
		events := w.Table().Events
		if len(events) != eventLimit+1 || events[len(events)-1].ID != "people" {
			t.Fatalf("%d entries, the last %+v", len(events), events[len(events)-1])
		}
		// The split of the sessions collection is logged right after what people did.
		f.change(func() {
			f.events = append(append(sessionEntries(1023, time.Now()), Event{ID: "failure", What: "moveChunk.error", NS: "db.x"}), f.events...)
			for i := range 1023 {
				f.events[i].ID = fmt.Sprint("split", i)
			}
		})
		wait(time.Minute)
		if events = w.Table().Events; len(events) != eventLimit+2 || events[0].ID != "split0" || events[len(events)-2].ID != "failure" {
			t.Fatalf("%d entries, the last %+v", len(events), events[len(events)-2:])
		}
		f.change(func() {
			f.events = append(sessionEntries(900, time.Now()), f.events...)
			for i := range 900 {
				f.events[i].ID = fmt.Sprint("later", i)
			}
		})
		wait(time.Minute)
		events = w.Table().Events
		if len(events) != eventLimit+2 || events[0].ID != "later0" || events[len(events)-1].ID != "people" {
			t.Fatalf("%d entries, the last %+v", len(events), events[len(events)-1])
		}
	})
}
