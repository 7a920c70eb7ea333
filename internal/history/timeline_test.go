package history

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// recordFiftySteps records fifty random changes, one a second, and returns the number
// of moves, splits and merges found by comparing the tables.
func recordFiftySteps(t *testing.T, seed uint64) (p *Past, start time.Time, moved, split, merged int) {
	t.Helper()
	db, w := openStore(t), newWorld(t, seed)
	start = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	clock := start
	rec := NewRecorder(db, nil, nil, func() time.Time { return clock })
	for range 50 {
		before := w.table
		must.Do(t, rec.Note(t.Context(), w.table))
		clock = clock.Add(time.Second)
		w.changeAtRandom()
		for _, c := range Compare(before, w.table, true).Collections {
			moved, split, merged = moved+c.Moved, split+c.Split, merged+c.Merged
		}
	}
	must.Do(t, rec.Note(t.Context(), w.table))
	return NewPast(db, func() time.Time { return clock }), start, moved, split, merged
}

func TestTimelineListsEveryChangeOnceForAnyPageSize(t *testing.T) {
	p, start, moved, split, merged := recordFiftySteps(t, 3)
	for _, limit := range []int{1000, 7, 1} {
		q := Query{From: start, To: start.Add(time.Hour), Limit: limit}
		counts := map[Kind]int{}
		var last time.Time
		for pages := 0; ; pages++ {
			got, err := p.Timeline(t.Context(), "c1", q)
			if err != nil || len(got.Items) > limit || pages > 200 {
				t.Fatalf("got %v, %v, %v, want len(got.Items) at most %v, pages at most 200", len(got.Items), pages, err, limit)
			}
			for _, i := range got.Items {
				counts[i.Kind]++
				must.That(t, !i.At.Before(last), "the timeline's items are not sorted by time")
				last = i.At
			}
			if got.Next.IsZero() {
				break
			}
			q.From, q.Skip = got.Next, got.Skip
		}
		if counts[Moved] != moved || counts[Split] != split || counts[Merged] != merged || moved == 0 || split == 0 || merged == 0 ||
			counts[ZoneAdded] == 0 {
			t.Errorf("limit %d: %v, want %d %d %d", limit, counts, moved, split, merged)
		}
	}
	checkSteps(t, p, start)
}

// checkSteps goes forward and back from change to change.
func checkSteps(t *testing.T, p *Past, start time.Time) {
	t.Helper()
	var times []time.Time
	for at := start.Add(-time.Hour); ; at = times[len(times)-1] {
		next, err := p.Step(t.Context(), "c1", at, true, false)
		must.Do(t, err)
		if next.IsZero() {
			break
		}
		times = append(times, next)
	}
	if len(times) < 30 || !times[0].Equal(start) {
		t.Fatalf("%d steps from %s, want at least 30 from %s", len(times), times[0], start)
	}
	for i, at := range times {
		want := time.Time{}
		if i > 0 {
			want = times[i-1]
		}
		if prev, err := p.Step(t.Context(), "c1", at, false, false); err != nil || !prev.Equal(want) {
			t.Fatal(prev, err)
		}
	}
	ticks, err := p.Ticks(t.Context(), "c1", start, start.Add(time.Minute), 60)
	if err != nil || ticks[0].Changes == 0 || ticks[59].Changes != 0 {
		t.Fatalf("got %v, %v, want [0].Changes more than 0, [59].Changes 0", ticks, err)
	}
}

func TestStepsLeadToFailuresAndTheirReasons(t *testing.T) {
	db, w := openStore(t), newWorld(t, 1)
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	bad := must.Get(bson.Marshal(bson.D{{Key: "min", Value: bson.D{{Key: "k", Value: 1}}},
		{Key: "from", Value: "a-shard"}, {Key: "to", Value: "b-shard"}, {Key: "note", Value: "aborted"},
		{Key: "errmsg", Value: "no space"}}))
	good := must.Get(bson.Marshal(bson.D{{Key: "from", Value: "a-shard"}, {Key: "to", Value: "b-shard"}}))
	w.table.Events = []topology.Event{
		{ID: "3", Time: start.Add(3 * time.Minute), What: "moveChunk.commit", NS: "db.things", Details: good},
		{ID: "2", Time: start.Add(2 * time.Minute), What: "moveChunk.from", NS: "db.things", Details: bad},
		{ID: "1", Time: start.Add(time.Minute), What: "moveChunk.commit", NS: "db.things", Details: good},
	}
	clock := start.Add(4 * time.Minute)
	must.Do(t, NewRecorder(db, nil, nil, func() time.Time { return clock }).Note(t.Context(), w.table))
	p := NewPast(db, func() time.Time { return clock })
	if at, err := p.Step(t.Context(), "c1", start, true, true); err != nil || !at.Equal(start.Add(2*time.Minute)) {
		t.Fatal(at, err)
	}
	if at, err := p.Step(t.Context(), "c1", start.Add(2*time.Minute), true, true); err != nil || !at.IsZero() {
		t.Fatal(at, err)
	}
	if at, err := p.Step(t.Context(), "c1", clock, false, true); err != nil || !at.Equal(start.Add(2*time.Minute)) {
		t.Fatal(at, err)
	}
	got, err := p.Timeline(t.Context(), "c1", Query{From: start, To: clock.Add(time.Second), Limit: 100})
	if err != nil || len(got.Items) != 3 || !got.Items[1].Failed || got.Items[1].Reason != "no space" || got.Items[0].Failed {
		t.Fatalf(`got %+v %v, want len 3, [1].Failed true, [1].Reason "no space", [0].Failed false`, got.Items, err)
	}
}

func TestGapIsListedButTheNewestMinuteIsNotOne(t *testing.T) {
	ctx, db, w := t.Context(), openStore(t), newWorld(t, 1)
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	clock := start
	now := func() time.Time { return clock }
	for _, at := range []time.Duration{0, time.Hour} {
		clock = start.Add(at)
		must.Do(t, NewRecorder(db, nil, nil, now).Note(ctx, w.table))
	}
	p := NewPast(db, now)
	got, err := p.Timeline(ctx, "c1", Query{From: start, To: clock, Limit: 10})
	if err != nil || len(got.Gaps) != 1 || !got.Gaps[0].From.Equal(start) || !got.Gaps[0].To.Equal(start.Add(time.Hour)) {
		t.Fatalf("got %+v %v, want one gap of an hour from the start", got.Gaps, err)
	}
	clock = clock.Add(50 * time.Second)
	if got, err = p.Timeline(ctx, "c1", Query{From: start, To: clock, Limit: 10}); err != nil || len(got.Gaps) != 1 {
		t.Fatalf("got %+v %v, want one gap: the next record may be due", got.Gaps, err)
	}
	clock = clock.Add(time.Hour)
	if m, err := p.At(ctx, "c1", clock.Add(-time.Second)); err != nil || m.Watched || !m.Next.IsZero() {
		t.Fatalf("got %+v %v, want an unobserved moment without a next one", m, err)
	}
	got, err = p.Timeline(ctx, "c1", Query{From: start, To: clock, Limit: 10})
	if err != nil || len(got.Gaps) != 2 || !got.Gaps[1].From.Equal(start.Add(time.Hour)) || !got.Gaps[1].To.Equal(clock) {
		t.Fatalf("got %+v %v, want a second gap, from the end of the record until now", got.Gaps, err)
	}
}

func TestChangesOtherThanChunksAreListed(t *testing.T) {
	ctx, db, w := t.Context(), openStore(t), newWorld(t, 1)
	clock := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	rec := NewRecorder(db, nil, nil, func() time.Time { return clock })
	begin := clock
	tables := []*topology.Table{w.table}
	then := func(change func(*topology.Table)) {
		next := *tables[len(tables)-1]
		change(&next)
		tables = append(tables, &next)
	}
	then(func(t *topology.Table) { t.Balancer = topology.Balancer{Known: true, Mode: "full"} })
	then(func(t *topology.Table) { t.Balancer = topology.Balancer{Known: true, Mode: "off"} })
	then(func(t *topology.Table) {
		t.Shards = slices.Clone(t.Shards)
		t.Shards[0].Draining, t.Shards[2].Zones = true, []string{"us"}
	})
	then(func(t *topology.Table) {
		t.Shards = append(slices.Clone(t.Shards), topology.Shard{Name: "d-shard"})
		t.Databases = []topology.Database{{Name: "db", Primary: "a-shard"}}
	})
	then(func(t *topology.Table) { t.Databases = []topology.Database{{Name: "db", Primary: "b-shard"}} })
	then(func(t *topology.Table) { t.Collections = nil })
	for _, table := range tables {
		must.Do(t, rec.Note(ctx, table))
		clock = clock.Add(time.Second)
	}
	got, err := NewPast(db, nil).Timeline(ctx, "c1", Query{From: begin, To: clock, Limit: 100})
	must.Do(t, err)
	var kinds []Kind
	for _, i := range got.Items {
		kinds = append(kinds, i.Kind)
	}
	if want := []Kind{BalancerOff, ShardDraining, ShardZones, ShardAdded, DatabaseCreated, PrimaryMoved, CollectionDropped}; !slices.Equal(
		kinds,
		want,
	) {
		t.Fatalf("got %v, want %v", kinds, want)
	}
}

func TestCauseIsOwnRunOnlyIfNamespaceBoundsShardsAndTimeMatch(t *testing.T) {
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	doc := func(n int) bson.Raw {
		return must.Get(bson.Marshal(bson.D{{Key: "k", Value: n}}))
	}
	move := Item{At: at, Kind: Logged, NS: "db.c", RawMin: doc(1), RawMax: doc(2), From: "a", To: "b",
		Event: &topology.Event{What: "moveChunk.commit"}}
	run := OurRun{ID: "r1", NS: "db.c", Min: doc(1), Max: doc(2), From: "a", To: "b", Start: at.Add(-time.Minute), End: at.Add(time.Second)}
	rounds := topology.Rounds{From: time.Unix(0, 0), To: at.Add(time.Hour),
		Actions: []topology.BalancerAction{{What: "balancer.round", Time: at.Add(2 * time.Second), Took: 3 * time.Second, Moved: 1}}}
	on := state{balancer: topology.Balancer{Known: true, Mode: "full"}, knownColl: true, balances: true, rounds: rounds}
	off, barred, blank := on, on, state{}
	off.balancer.Stopped, barred.balances = true, false
	if c := causeOf(move, "move", []OurRun{run}, off); c.By != ByUs || c.Run != "r1" || c.Inferred {
		t.Fatalf(`got %+v, want By %v, Run "r1", Inferred false`, c, ByUs)
	}
	for name, other := range map[string]func(*OurRun){
		"namespace": func(r *OurRun) { r.NS = "db.d" }, "min": func(r *OurRun) { r.Min = doc(0) }, "max": func(r *OurRun) { r.Max = doc(3) },
		"from": func(r *OurRun) { r.From = "c" }, "to": func(r *OurRun) { r.To = "c" },
		"before": func(r *OurRun) { r.End = at.Add(-time.Hour) }, "after": func(r *OurRun) { r.Start = at.Add(time.Hour) },
	} {
		r := run
		other(&r)
		if c := causeOf(move, "move", []OurRun{r}, off); c.By != ByOther {
			t.Errorf("%s: %+v, want By %v", name, c, ByOther)
		}
	}
	for _, x := range []struct {
		s    state
		want By
	}{{on, ByBalancer}, {off, ByOther}, {barred, ByOther}, {blank, ByUnknown}} {
		if c := causeOf(move, "move", nil, x.s); c.By != x.want || c.Inferred != (x.want != ByUnknown) || c.Basis == "" {
			t.Errorf("%+v, want %s", c, x.want)
		}
	}
	if c := causeOf(Item{Event: &topology.Event{What: "autoMerge"}}, "merge", nil, blank); c.By != ByBalancer || c.Inferred {
		t.Errorf("got %+v, want By %v, Inferred false", c, ByBalancer)
	}
}

// endless has an entry for each second.
type endless struct{ store.History }

func (endless) Events(_ context.Context, _ string, q store.HistoryEvents) (out []store.HistoryEvent, _ error) {
	for i := 0; len(out) < q.Limit; i++ {
		e := store.HistoryEvent{ID: fmt.Sprint(i), At: q.To.Add(-time.Duration(i+1) * time.Second), What: "split"}
		if !q.Without(e) {
			out = append(out, e)
		}
		if q.Enough() {
			break
		}
	}
	return out, nil
}

func TestSearchEndsAtItsBoundsAndSaysWhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := time.Now()
		for each, read := range map[time.Duration]int{0: 25_000, time.Millisecond / 10: 1000} {
			began := time.Now()
			found, err := NewPast(endless{}, time.Now).Search(t.Context(), "c", time.Time{}, to, 5,
				func(topology.Event) bool { time.Sleep(each); return false })
			if want := to.Add(-time.Duration(read) * time.Second); err != nil || len(found.Events) != 0 || !found.Until.Equal(want) ||
				found.LastID != fmt.Sprint(read-1) || time.Since(began) > searchTime {
				t.Errorf("%s for an entry: %+v, %v", each, found, err)
			}
		}
		found, err := NewPast(endless{}, time.Now).Search(t.Context(), "c", time.Time{}, to, 5, func(topology.Event) bool { return true })
		expect.That(t, err == nil && len(found.Events) == 5 && found.Until.IsZero(), "all are found: %+v, %v", found, err)
	})
}
