package storetest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

// placementHistory tests what a stored past returns.
func placementHistory(t *testing.T, open func(*testing.T) store.Store) {
	s, ctx := open(t), t.Context()
	at := func(n int) time.Time { return begin().Add(time.Duration(n) * time.Minute) }
	add := func(n int, stream string, whole bool, events ...store.HistoryEvent) {
		must.Do(t, s.AppendHistory(ctx, "c", []store.HistoryEntry{{At: at(n), Stream: stream, Whole: whole, Body: []byte{byte(n)}}}, events))
	}
	add(0, "frame", true)
	add(0, "chunks/a/1", true)
	add(2, "chunks/a/1", false, store.HistoryEvent{ID: "e1", At: at(1), What: "moveChunk.error", NS: "a", Failed: true})
	add(4, "chunks/b/1", true, store.HistoryEvent{ID: "e2", At: at(3), What: "split", NS: "b", Details: []byte{5, 0, 0, 0, 0}},
		store.HistoryEvent{ID: "e1", At: at(1), What: "again", NS: "a"})
	must.Do(t, s.AppendHistory(ctx, "other", []store.HistoryEntry{{At: at(1), Stream: "frame", Whole: true, Body: []byte{9}}}, nil))

	got, err := s.HistoryBetween(ctx, "c", "chunks/", at(0), at(4), 10)
	if must.Do(t, err); len(got) != 2 || !got[0].Whole || got[1].Whole || got[1].Body[0] != 2 || !got[1].At.Equal(at(2)) ||
		got[0].Seq >= got[1].Seq {
		t.Errorf("between: %+v", got)
	}
	if got, err = s.HistoryBetween(ctx, "c", "chunks/a/", time.Time{}, time.Time{}, 1); err != nil || len(got) != 1 ||
		got[0].Stream != "chunks/a/1" {
		t.Errorf("limit: %+v %v", got, err)
	}
	if got, err = s.HistoryOf(ctx, "c", "chunks/a/1", at(3)); err != nil || len(got) != 2 || !got[0].Whole {
		t.Errorf("of: %+v %v", got, err)
	}
	for _, x := range []struct {
		from    int
		forward bool
		want    int
	}{{-5, true, 0}, {0, true, 2}, {2, true, 4}, {4, false, 2}, {2, false, 0}} {
		if next, err := s.HistoryStep(ctx, "c", "chunks/", at(x.from), x.forward); err != nil || !next.Equal(at(x.want)) {
			t.Errorf("step from %d: %s %v", x.from, next, err)
		}
	}
	if next, err := s.HistoryStep(ctx, "c", "chunks/", at(4), true); err != nil || !next.IsZero() {
		t.Errorf("after the last: %s %v", next, err)
	}
	events, err := s.Events(ctx, "c", store.HistoryEvents{Ascending: true, Limit: 10})
	if must.Do(t, err); len(events) != 2 || events[0].What != "moveChunk.error" || len(events[1].Details) != 5 {
		t.Errorf("events: %+v", events)
	}
	if events, err = s.Events(ctx, "c", store.HistoryEvents{OnlyFailed: true, From: at(2), Limit: 10}); err != nil || len(events) != 0 {
		t.Errorf("failures: %+v %v", events, err)
	}
	var passed []string
	without := func(e store.HistoryEvent) bool { passed = append(passed, e.ID); return e.NS == "a" }
	if events, err = s.Events(ctx, "c", store.HistoryEvents{Ascending: true, Limit: 1, Without: without}); err != nil || len(events) != 1 ||
		events[0].ID != "e2" ||
		len(passed) != 2 {
		t.Errorf("without a: %+v %v, passed %v", events, err, passed)
	}
	all, enough := func(store.HistoryEvent) bool { return false }, func() bool { return true }
	if events, err = s.Events(ctx, "c", store.HistoryEvents{Limit: 9, Without: all, Enough: enough}); err != nil ||
		len(events) != 1 {
		t.Errorf("of one entry read: %+v %v", events, err)
	}
	for _, x := range []struct {
		q    store.HistoryEvents
		want int
	}{
		{store.HistoryEvents{NS: "a"}, 1},
		{store.HistoryEvents{OnlyFailed: true, To: at(2)}, 1},
		{store.HistoryEvents{OnlyFailed: true, NS: "a", Ascending: true}, 1},
		{store.HistoryEvents{OnlyFailed: true, NS: "b"}, 0},
	} {
		x.q.Limit = 10
		if events, err = s.Events(ctx, "c", x.q); err != nil || len(events) != x.want {
			t.Errorf("%+v: %+v %v", x.q, events, err)
		}
	}
	for _, n := range []int{0, 1, 2, 9} {
		must.Do(t, s.NoteWatched(ctx, "c", at(n), 3*time.Minute))
	}
	spans, err := s.WatchedSpans(ctx, "c", time.Time{}, time.Time{})
	if must.Do(t, err); len(spans) != 2 || !spans[0].From.Equal(at(0)) || !spans[0].To.Equal(at(2)) || !spans[1].From.Equal(at(9)) {
		t.Errorf("watched: %+v", spans)
	}
	must.Do(t, s.TrimHistory(ctx, "c", at(3)))
	if got, err = s.HistoryOf(ctx, "c", "chunks/a/1", at(3)); err != nil || len(got) != 2 {
		t.Errorf("what is needed for a kept time is gone: %+v %v", got, err)
	}
	if events, err = s.Events(ctx, "c", store.HistoryEvents{Limit: 10}); err != nil || len(events) != 1 || events[0].ID != "e2" {
		t.Errorf("after trimming: %+v %v", events, err)
	}
}

// eventCounts tests that entries are counted alike by minutes, hours and days, each once.
func eventCounts(t *testing.T, open func(*testing.T) store.Store) {
	s := open(t)
	from := time.Date(2026, 3, 1, 17, 23, 0, 0, time.UTC)
	random := rand.New(rand.NewPCG(1, 2))
	var events []store.HistoryEvent
	for i := range 600 {
		e := store.HistoryEvent{ID: fmt.Sprint(i), At: from.Add(time.Duration(random.Int64N(int64(12 * 24 * time.Hour)))),
			What: []string{"split", "merge"}[i%2], NS: fmt.Sprint("app.c", i%3), Failed: i%5 == 0}
		if i%7 == 0 {
			e.CountedAs = "part"
		}
		events = append(events, e)
	}
	must.Do(t, s.AppendHistory(t.Context(), "c", nil, append(events, events[0])))
	must.Do(t, s.AppendHistory(t.Context(), "c", nil, events[:9]))
	check := func() {
		t.Helper()
		for _, width := range []time.Duration{time.Minute, 30 * time.Minute, time.Hour, 3 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour} {
			for _, span := range [][2]time.Duration{{0, 12 * 24 * time.Hour}, {37 * time.Minute, 3 * time.Hour}, {25 * time.Hour, 200 * time.Hour},
				{time.Hour, time.Hour}} {
				from, to := from.Add(span[0]), from.Add(span[1])
				counts := must.Get(s.EventCounts(t.Context(), "c", from, to, width))
				want := map[store.EventCount]int{}
				for _, e := range events {
					if !e.At.Before(from) && e.At.Before(to) {
						want[store.EventCount{At: e.At.Add(-time.Duration(e.At.UnixNano() % int64(width))), What: cmp.Or(e.CountedAs, e.What), NS: e.NS,
							Failed: e.Failed}]++
					}
				}
				for _, c := range counts {
					key := c
					if key.N = 0; want[key] != c.N {
						t.Fatalf("by %s, %v: %+v, want %d", width, span, c, want[key])
					}
				}
				must.That(t, len(counts) == len(want),
					"by %s, %v: %d counts, want %d", width, span, len(counts), len(want))
			}
		}
	}
	check()
	before := from.Add(77*time.Hour + 11*time.Minute)
	must.Do(t, s.TrimHistory(t.Context(), "c", before))
	events = slices.DeleteFunc(events, func(e store.HistoryEvent) bool { return e.At.Before(before) })
	check()
}
