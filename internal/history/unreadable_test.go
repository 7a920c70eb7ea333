package history

import (
	"context"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// damagedStore is a store in which some rows cannot be decoded.
type damagedStore struct {
	store.History
	is func(store.HistoryEntry) bool
}

func (s damagedStore) damage(list []store.HistoryEntry, err error) ([]store.HistoryEntry, error) {
	for i := range list {
		if s.is(list[i]) {
			list[i].Body = []byte{0, 255, 123}
		}
	}
	return list, err
}

func (s damagedStore) HistoryOf(ctx context.Context, cluster, stream string, at time.Time) ([]store.HistoryEntry, error) {
	return s.damage(s.History.HistoryOf(ctx, cluster, stream, at))
}

func (s damagedStore) HistoryBetween(ctx context.Context, cluster, prefix string, from, to time.Time,
	limit int) ([]store.HistoryEntry, error) {
	return s.damage(s.History.HistoryBetween(ctx, cluster, prefix, from, to, limit))
}

func TestUnreadableChangeIsOmittedFromTheTimelineAndCounted(t *testing.T) {
	p, start, _, _, _ := recordFiftySteps(t, 3)
	q := Query{From: start, To: start.Add(time.Hour), Limit: 1000}
	whole, err := p.Timeline(t.Context(), "c1", q)
	if err != nil || whole.Unreadable != 0 {
		t.Fatalf("got %v, %v, want 0", whole.Unreadable, err)
	}
	list, err := p.kept.HistoryBetween(t.Context(), "c1", chunksPrefix, start, start.Add(time.Hour), 1000)
	must.Do(t, err)
	for name, bad := range map[string]store.HistoryEntry{"a change in the middle": list[len(list)/2], "the whole state": list[0],
		"the last change": list[len(list)-1]} {
		kept := damagedStore{p.kept, func(e store.HistoryEntry) bool { return e.Seq == bad.Seq }}
		got, err := NewPast(kept, p.now).Timeline(t.Context(), "c1", q)
		if err != nil || got.Unreadable == 0 {
			t.Errorf("%s: %d unreadable, %v, want got.Unreadable more than 0", name, got.Unreadable, err)
		}
		if bad.Seq != list[0].Seq && len(got.Items) < len(whole.Items)/3 {
			t.Errorf("%s: %d of %d items are left, want all but the unreadable ones", name, len(got.Items), len(whole.Items))
		}
	}
}

func TestUnreadableStateIsReportedAndDoesNotHideOtherTimes(t *testing.T) {
	p, start, _, _, _ := recordFiftySteps(t, 3)
	frames, err := p.kept.HistoryBetween(t.Context(), "c1", frameStream, start, start.Add(time.Hour), 100)
	if err != nil || len(frames) < 2 {
		t.Fatalf("got %v, %v, want at least 2", len(frames), err)
	}
	bad := frames[len(frames)-1]
	past := NewPast(damagedStore{p.kept, func(e store.HistoryEntry) bool { return e.Seq == bad.Seq }}, p.now)
	if _, err := past.At(t.Context(), "c1", bad.At); fault.Of(err) != fault.Unavailable ||
		!strings.Contains(fault.Text(err), "is unreadable") {
		t.Errorf(`got %v, want kind %v, …"is unreadable"…`, err, fault.Unavailable)
	}
	if _, err := past.At(t.Context(), "c1", bad.At.Add(-time.Millisecond)); err != nil {
		t.Errorf("the time before: %v", err)
	}
	past = NewPast(damagedStore{p.kept, func(e store.HistoryEntry) bool { return strings.HasPrefix(e.Stream, chunksPrefix) }}, p.now)
	m, err := past.At(t.Context(), "c1", bad.At)
	must.Do(t, err)
	if note := m.Table.Health[topology.PartRouting].Note; len(m.Table.Collections) != 0 || len(m.Table.Shards) != 3 ||
		!strings.Contains(note, "db.things") {
		t.Errorf("%d collections, %d shards, note %q", len(m.Table.Collections), len(m.Table.Shards), note)
	}
}
