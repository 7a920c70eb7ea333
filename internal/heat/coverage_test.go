package heat

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// tableWith returns Yorkie's table with additional collections of one chunk.
func tableWith(more map[topology.Namespace]shardkey.Pattern) *topology.Table {
	table := yorkieTable()
	for ns, p := range more {
		table.Collections = append(table.Collections, routing.Collection(ns, p, nil, "a"))
	}
	slices.SortFunc(table.Collections, func(a, b *topology.Collection) int { return cmp.Compare(a.NS, b.NS) })
	return table
}

func TestEveryCollectionIsCountedOrHasAReason(t *testing.T) {
	type keys = map[topology.Namespace]shardkey.Pattern
	byDocument, byID := routing.Pattern("doc_id#"), routing.Pattern("_id#")
	table := tableWith(keys{"y.snapshots": byDocument, "y.revisions": byDocument, "y.versionvectors": byDocument, "y.clients": byID,
		"y.other": byID, "shop.orders": byID, "config.system.sessions": routing.Pattern("_id")})
	table.Unsharded = append(table.Unsharded, "y.schemas", "y.snapshot_bodies")
	want := []Coverage{{NS: "y.changes"}, {NS: "y.revisions"}, {NS: "y.snapshots"}, {NS: "y.documents", Method: ChangedRows},
		{NS: "shop.orders", Not: "unprofiled"}, {NS: "y.clients", Not: "scattered"}, {NS: "y.other", Not: "unprofiled"},
		{NS: "y.schemas", Not: "unsharded"}, {NS: "y.snapshot_bodies", Not: "unsharded"}, {NS: "y.versionvectors", Not: "inPlace"}}
	if got := Cover(table, profile.Yorkie()); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %v", got, want)
	}
	// A collection is counted once it is sharded. The oldest layout has three
	// collections.
	table.Unsharded = nil
	bodies := tableWith(keys{"y.snapshot_bodies": byDocument, "y.projects": byID})
	if got := Counted(bodies, profile.Yorkie()); !slices.Equal(got, []topology.Namespace{"y.changes", "y.snapshot_bodies"}) {
		t.Errorf("counted collections %v, want y.changes and y.snapshot_bodies", got)
	}
	old := tableWith(keys{"y.snapshots": routing.Pattern("doc_id"), "y.syncedseqs": routing.Pattern("doc_id")})
	for _, c := range Cover(old, profile.Yorkie()) {
		if (c.NS == "y.syncedseqs") != (c.Not == "inPlace") {
			t.Errorf("got %+v, want the reason inPlace for y.syncedseqs only", c)
		}
	}
}

// partialSource answers for some collections itself and passes the others to
// knownWrites.
type partialSource struct {
	*knownWrites
	quiet map[topology.Namespace]int64 // rows returned for any time span
	fail  map[topology.Namespace]error
}

func (o partialSource) Writes(ctx context.Context, q WriteQuery) (Written, error) {
	if err := o.fail[q.NS]; err != nil {
		o.queries = append(o.queries, q)
		return Written{}, err
	}
	if n, ok := o.quiet[q.NS]; ok && q.Date == "" {
		o.queries = append(o.queries, q)
		o.returned++
		return Written{Counts: []Count{{Project: docID(1, 0), Document: docID(1, 1), Rows: n}}}, nil
	}
	return o.knownWrites.Writes(ctx, q)
}

func TestBusyCollectionLeavesBudgetForQuietOnes(t *testing.T) {
	table := tableWith(map[topology.Namespace]shardkey.Pattern{
		"y.snapshots": routing.Pattern("doc_id#"), "y.revisions": routing.Pattern("doc_id#")})
	src := partialSource{
		knownWrites: newKnownWrites(6, 40, 60, func(int) float64 { return 75 }),
		quiet:       map[topology.Namespace]int64{"y.snapshots": 3, "y.revisions": 1},
	}
	c := collectFor(t, table, src, 2*time.Minute+5*time.Second, Options{Seed: 4}, nil)
	for _, ns := range []topology.Namespace{"y.snapshots", "y.revisions"} {
		w := c.Window(ns, 5*time.Minute)
		if w.Seconds != 120 || !w.Total.Exact {
			t.Errorf("%s: %.0f s, exact %v: the busy collection took the budget", ns, w.Seconds, w.Total.Exact)
		}
	}
	if w := c.Window("y.changes", time.Minute); w.Total.PlusMinus == 0 {
		t.Error("changes were not sampled, so the budget was not tested")
	}
	if limit := PerSecond*125 + PerSecond*burstSeconds; src.returned > limit {
		t.Errorf("%d documents returned, budget %d", src.returned, limit)
	}
	// One command a tick for each collection, and one a minute for each hot project.
	dated := 0
	for _, q := range src.queries {
		if q.Date != "" {
			dated++
		}
	}
	if asked := len(src.queries) - dated; asked != 12*3 || dated != 2*HottestProjects {
		t.Errorf("%d counts of new rows and %d of changed ones in 12 ticks", asked, dated)
	}
}

func TestUpdatedRowsAreCountedPerMinuteForTheHottestProjectsOnly(t *testing.T) {
	// Project 15's clients are split into two chunks; the chunk bounds are at other projects.
	table, key := yorkieTable(), routing.Pattern("project_id", "_id#")
	cut := must.Get(key.KeyOf(objectIDValue(docID(15, 0)), objectIDValue(docID(15, 1))))
	table.Collections = slices.Insert(table.Collections, 1, routing.Collection("y.clients", key, []shardkey.Key{cut}, "a", "b"))
	var slots []Slot
	src := newKnownWrites(5, 15, 1, func(i int) float64 { return float64(1 + 3*i) })
	c := collectFor(t, table, src, 3*time.Minute+5*time.Second, Options{Seed: 4}, func(s Slot) {
		if s.Method == ChangedRows {
			slots = append(slots, s)
		}
	})
	must.That(t, len(slots) == 3*2, "%d slots, want %v", len(slots), 3*2)
	for _, s := range slots {
		if !s.From.Equal(s.From.Truncate(time.Minute)) || s.To.Sub(s.From) != time.Minute || !s.Capped || len(s.Counts) != HottestProjects ||
			s.Rows() != 7*HottestProjects {
			t.Errorf("got %+v, want a whole minute with 7 rows for each of the hottest projects", s)
		}
		placed := int64(0)
		for _, p := range s.Pieces {
			placed += p.Rows
		}
		if want := map[topology.Namespace]int64{"y.documents": 0, "y.clients": 7}[s.NS]; s.Astray != want || placed != s.Rows()-want {
			t.Errorf("%s: %d rows outside of all chunks, %d in chunks, of %d", s.NS, s.Astray, placed, s.Rows())
		}
	}
	// The shortest window contains the newest minute fully, and all its figures are
	// lower bounds.
	w := c.Window("y.clients", Shortest)
	if w.Method != ChangedRows || w.Seconds != 60 || w.Total.Exact || !w.Total.AtLeast || w.Total.Rows != 70 {
		t.Errorf("got %+v, want Method %v, Seconds 60, Total.Exact false, Total.AtLeast true, Total.Rows 70", w, ChangedRows)
	}
	if g, s := w.Growing(table), w.Skew(table, profile.Yorkie()); g.Rows != 0 || s.Chunks.N != 0 {
		t.Errorf("judged by a part of the projects: %+v %+v, want g.Rows 0, s.Chunks.N 0", g, s)
	}
	lines := w.Chunks(table, profile.Yorkie())
	if len(lines) != 1 || lines[0].Chunk != 0 || lines[0].Projects != HottestProjects-1 ||
		w.Splittings(table, profile.Yorkie(), lines)[0].Code != "projects" {
		t.Errorf(`got %+v, want chunk 0 with the splitting "projects"`, lines)
	}
	if hot := c.Updated("y", docID(15, 0)); len(hot) != 2 || hot[0].NS != "y.documents" || hot[0].Rows != 7 || hot[0].PerSecond() != 7.0/60 {
		t.Errorf("got %+v, want 7 rows of y.documents in a minute", hot)
	}
	expect.Len(t, c.Updated("y", docID(1, 0)), 0, "a cold project was counted")
	expect.Equal(t, len(w.Documents()), 0, "rows of a project are attributed to a document")
	for _, q := range src.queries {
		if q.Date != "" && (!q.To.IsZero() || q.Of.IsZero() || q.Date != "updated_at") {
			t.Errorf("unexpected query %+v: it has no end, because rows that are updated all the time have later dates", q)
		}
	}
}

func TestProjectsWhoseCountTimesOutAreSkippedAndUnknown(t *testing.T) {
	slow := fault.New(fault.Unavailable, "slow")
	src := partialSource{knownWrites: newKnownWrites(5, 3, 1, func(i int) float64 { return 5 }),
		fail: map[topology.Namespace]error{"y.documents": slow}}
	c := collectFor(t, yorkieTable(), src, 10*time.Minute, Options{Seed: 4}, func(s Slot) {
		expect.That(t, s.Method != ChangedRows, "counted: %+v, want Method not %v", s, ChangedRows)
	})
	if h, ok := c.Health("y.documents"); !ok || h.Err == nil {
		t.Errorf("got %+v %v, want ok true, h.Err not nil", h, ok)
	}
	asked := 0
	for _, q := range src.queries {
		if q.NS == "y.documents" {
			asked++
		}
	}
	expect.That(t, asked == 3, "asked %d times in ten minutes, want once for each project", asked)
	if w := c.Window("y.documents", time.Hour); w.Seconds != 0 {
		t.Errorf("got %+v, want Seconds 0", w)
	}
}

func TestProjectRefusedByTheBudgetIsCountedOnceBudgetIsAvailable(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	clock := func() time.Time { return now }
	budget := NewBudget(0, clock)
	src := newKnownWrites(5, 3, 1, func(int) float64 { return 5 })
	c := NewCollector(src, fixedTable{yorkieTable()}, profile.Yorkie(), Options{Seed: 5, Budget: budget, Now: clock})
	documents := byMethod(ChangedRows, targets(yorkieTable(), c.prof))[0]
	budget.Hold(budget.Burst())
	project := placement.ObjectIDValue(docID(1, 0))
	if _, err := c.countUnlessResting(t.Context(), documents, project); !errors.Is(err, errNoBudget) || len(src.queries) != 0 {
		t.Fatalf("%v, asked %d times, want %v, 0", err, len(src.queries), errNoBudget)
	}
	now = now.Add(time.Minute)
	if n, err := c.countUnlessResting(t.Context(), documents, project); n != 7 || err != nil {
		t.Errorf("%d rows a minute later, %v, want 7", n, err)
	}
}

func TestCombinedShardLoadCoversTheTimeOfAllCollections(t *testing.T) {
	at := time.Unix(1_800_000_000, 0)
	span := func(from, to int) Load {
		a, b := reading{at.Add(time.Duration(from) * Tick), map[string]Operations{"a": {}}}, reading{
			at.Add(time.Duration(to) * Tick),
			map[string]Operations{"a": {Writes: 3}},
		}
		return loadBetween(a, b)["a"]
	}
	got := Together([]Load{span(3, 6), span(0, 3), span(1, 4)})
	if !got.Known || !got.From.Equal(at) || !got.To.Equal(at.Add(6*Tick)) {
		t.Errorf("got %+v, want a load known from tick 0 to tick 6", got)
	}
	if none := Together([]Load{span(3, 6), {}}); none.Known || !none.From.IsZero() {
		t.Errorf("got %+v, want an unknown load if one collection's is unknown", none)
	}
}

// A collection whose counters cannot be read is in the account with no figure: a sum without it would be too little.
func TestCountersThatCannotBeReadAreUnknownInsteadOfLeftOut(t *testing.T) {
	src := &failingCounters{}
	c := NewCollector(src, fixedTable{yorkieTable()}, profile.Yorkie(), Options{})
	for i, x := range []struct {
		err   error
		known bool
	}{{nil, false}, {nil, true}, {errors.New("a shard hangs"), false}} {
		src.err = x.err
		c.readOperations(t.Context(), "y.changes", time.Unix(0, 0).Add(time.Duration(i)*3*Tick))
		if by := c.Load("y.changes"); by == nil || by["a"].Known != x.known {
			t.Errorf("read %d: %+v, want known %v", i, by, x.known)
		}
	}
}

type failingCounters struct {
	knownWrites
	err error
}

func (s *failingCounters) Operations(context.Context, topology.Namespace) (map[string]Operations, error) {
	return map[string]Operations{"a": {Reads: 1}}, s.err
}

func objectIDValue(id bson.ObjectID) bson.RawValue {
	return bson.RawValue{Type: bson.TypeObjectID, Value: id[:]}
}
