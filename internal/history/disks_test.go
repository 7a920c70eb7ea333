package history

import (
	"context"
	"slices"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
	"shardboard/internal/store/sqlite"
	"shardboard/internal/topology"
)

// Disk usage changes all the time and would otherwise be recorded at every poll.
func TestDiskUsageIsNotRecordedAndThePastSaysSo(t *testing.T) {
	kept := must.Get(sqlite.Open(t.Context(), t.TempDir()))
	defer kept.Close()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	now := func() time.Time { return at }
	w := newWorld(t, 1)
	counting := &countingStore{History: kept}
	r := NewRecorder(counting, nil, nil, now)
	for i := range 20 {
		next := *w.table
		next.Seq++
		next.Disks = map[string]topology.Disk{shardName(0): {
			Used:  topology.Figure{Known: true, Value: int64(1000 * i), Method: "dbStats", At: at},
			Total: topology.Figure{Known: true, Value: 1_000_000, Method: "dbStats", At: at},
		}}
		w.table = &next
		must.Do(t, r.Note(t.Context(), w.table))
		at = at.Add(time.Minute)
	}
	expect.Equal(t, counting.n, 1, "writes for one table whose disks moved")
	m, err := NewPast(kept, now).At(t.Context(), "c1", at)
	must.Do(t, err)
	for _, s := range m.Table.Shards {
		if d := m.Table.DiskOf(s.Name); d.Known() || d.Used.Reason != "notKept" {
			t.Errorf("%s: %+v", s.Name, d)
		}
	}
	if m.Table.Health[topology.PartDisks].At.IsZero() ||
		slices.ContainsFunc(m.Table.Shards, func(s topology.Shard) bool { return m.Table.DiskOld(s.Name, at.Add(time.Hour)) }) {
		t.Error("the disks of the past have no read time or are shown as outdated")
	}
}

// countingStore counts the writes of history.
type countingStore struct {
	store.History
	n int
}

func (a *countingStore) AppendHistory(ctx context.Context, cluster string, entries []store.HistoryEntry,
	events []store.HistoryEvent) error {
	a.n++
	return a.History.AppendHistory(ctx, cluster, entries, events)
}
