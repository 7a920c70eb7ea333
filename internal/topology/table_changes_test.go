package topology

import (
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
)

func TestChangesSinceAnOlderTableAreCompleteOrMarkedIncomplete(t *testing.T) {
	w := NewWatcher(nil, Options{})
	move := func(n int) {
		w.publish(func(t *Table) bool { t.Changes = make([]Change, n); return true })
	}
	for range 10 {
		move(2)
	}
	if got, complete := w.Table().Since(7); !complete || len(got) != 6 {
		t.Errorf("%d changes since 7, complete %t; want 6", len(got), complete)
	}
	if got, complete := w.Table().Since(10); !complete || len(got) != 0 {
		t.Errorf("%d changes since now", len(got))
	}
	for range historyLength {
		move(1)
	}
	if _, complete := w.Table().Since(9); complete {
		t.Error("the changes since a very old table cannot be complete")
	}
	if got, complete := w.Table().Since(10); !complete || len(got) != historyLength {
		t.Errorf("%d changes since 10, complete %t", len(got), complete)
	}
	move(historyChanges + 1)
	if _, complete := w.Table().Since(w.Table().Seq - 2); complete {
		t.Error("too many changes are kept")
	}
	if got, complete := w.Table().Since(w.Table().Seq - 1); !complete || len(got) != historyChanges+1 {
		t.Errorf("the newest changes are missing: %d, %t", len(got), complete)
	}
}

func TestNotificationsCoalesceAndEnd(t *testing.T) {
	w := NewWatcher(nil, Options{})
	table, changed, end := w.Subscribe()
	for range 3 {
		w.publish(func(*Table) bool { return true })
	}
	w.publish(func(*Table) bool { return false })
	<-changed
	select {
	case <-changed:
		t.Error("three publications, two notifications waiting")
	default:
	}
	expect.That(t, w.Table().Seq == table.Seq+3, "seq %d after %d", w.Table().Seq, table.Seq)
	end()
	end()
	w.publish(func(*Table) bool { return true })
	select {
	case <-changed:
		t.Error("notified after the end")
	default:
	}
}

func TestPartsGoStaleByAgeAndByFailure(t *testing.T) {
	now := time.Now()
	table := &Table{every: Options{}.withDefaults().every(), Health: map[Part]Health{PartRouting: {At: now.Add(-5 * time.Second)},
		PartShards: {At: now.Add(-31 * time.Second)}, PartZones: {At: now, Err: fault.New(fault.Unavailable, "no")}}}
	for p, want := range map[Part]bool{PartRouting: false, PartShards: true, PartZones: true, PartEvents: true} {
		expect.Equal(t, table.Stale(p, now), want, "%s stale", p)
	}
}
