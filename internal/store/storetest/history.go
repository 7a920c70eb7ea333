package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"shardboard/internal/store"
)

// placementHistory tests what a stored past returns.
func placementHistory(t *testing.T, open func(*testing.T) store.Store) {
	s, ctx := open(t), t.Context()
	at := func(n int) time.Time { return begin().Add(time.Duration(n) * time.Minute) }
	add := func(n int, stream string, whole bool, events ...store.HistoryEvent) {
		must(t, s.AppendHistory(ctx, "c", []store.HistoryEntry{{At: at(n), Stream: stream, Whole: whole, Body: []byte{byte(n)}}}, events))
	}
	add(0, "frame", true)
	add(0, "chunks/a/1", true)
	add(2, "chunks/a/1", false, store.HistoryEvent{ID: "e1", At: at(1), What: "moveChunk.error", NS: "a", Failed: true})
	add(4, "chunks/b/1", true, store.HistoryEvent{ID: "e2", At: at(3), What: "split", NS: "b", Details: []byte{5, 0, 0, 0, 0}},
		store.HistoryEvent{ID: "e1", At: at(1), What: "again", NS: "a"})
	must(t, s.AppendHistory(ctx, "other", []store.HistoryEntry{{At: at(1), Stream: "frame", Whole: true, Body: []byte{9}}}, nil))

	got, err := s.HistoryBetween(ctx, "c", "chunks/", at(0), at(4), 10)
	if must(t, err); len(got) != 2 || !got[0].Whole || got[1].Whole || got[1].Body[0] != 2 || !got[1].At.Equal(at(2)) ||
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
	if must(t, err); len(events) != 2 || events[0].What != "moveChunk.error" || len(events[1].Details) != 5 {
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
	must(t, s.AppendHistory(ctx, "c", nil, []store.HistoryEvent{
		{ID: "e3", At: at(3).Add(59 * time.Second), What: "split", NS: "b", CountedAs: "part"},
		{ID: "e4", At: at(1).Add(time.Second), What: "moveChunk.error", NS: "a", Failed: true},
	}))
	for _, x := range []struct {
		width time.Duration
		want  string
	}{
		{time.Minute, "1 moveChunk.error a true 2; 3 part b false 1; 3 split b false 1; "},
		{10 * time.Minute, "0 moveChunk.error a true 2; 0 part b false 1; 0 split b false 1; "},
	} {
		counts, err := s.EventCounts(ctx, "c", at(0), at(4), x.width)
		must(t, err)
		said := ""
		for _, c := range counts {
			said += fmt.Sprintln(int(c.At.Sub(begin().Truncate(x.width)).Minutes()), c.What, c.NS, c.Failed, c.N)
		}
		if said = strings.ReplaceAll(said, "\n", "; "); said != x.want {
			t.Errorf("counted by %s: %s, want %s", x.width, said, x.want)
		}
	}
	for _, n := range []int{0, 1, 2, 9} {
		must(t, s.NoteWatched(ctx, "c", at(n), 3*time.Minute))
	}
	spans, err := s.WatchedSpans(ctx, "c", time.Time{}, time.Time{})
	if must(t, err); len(spans) != 2 || !spans[0].From.Equal(at(0)) || !spans[0].To.Equal(at(2)) || !spans[1].From.Equal(at(9)) {
		t.Errorf("watched: %+v", spans)
	}
	must(t, s.TrimHistory(ctx, "c", at(3)))
	if got, err = s.HistoryOf(ctx, "c", "chunks/a/1", at(3)); err != nil || len(got) != 2 {
		t.Errorf("what is needed for a kept time is gone: %+v %v", got, err)
	}
	if events, err = s.Events(ctx, "c", store.HistoryEvents{Limit: 10}); err != nil || len(events) != 2 {
		t.Errorf("after trimming: %+v %v", events, err)
	}
	if counts, err := s.EventCounts(ctx, "c", at(0), at(9), time.Minute); err != nil || len(counts) != 2 {
		t.Errorf("counted after trimming: %+v %v", counts, err)
	}
}
