package topology

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"shardboard/internal/fault"
)

// A collection that finds no room stays as it was and says why, and is read when there is room; others go on.
func TestCollectionsThatFindNoRoomStayAsTheyWere(t *testing.T) {
	var full atomic.Bool
	var asked atomic.Int64
	grow := func(bytes int64) error {
		asked.Add(bytes)
		if full.Load() {
			return fault.New(fault.Conflict, "No room.")
		}
		return nil
	}
	f := newFake(t)
	c := f.add("db.x", 1, 0, 10)
	withWatcher(t, f, Options{Grow: grow}, func(w *Watcher) {
		before := w.Table().Collection("db.x").Chunks
		if asked.Load() < int64(before.Len()) {
			t.Errorf("only %d bytes were asked for", asked.Load())
		}
		full.Store(true)
		f.change(func() {
			c.move(0, f.shards[1].Name)
			f.add("db.new", 2, 0)
		})
		wait(5 * time.Second)
		now := w.Table()
		for _, ns := range []Namespace{"db.x", "db.new"} {
			if d := now.DamageOf(ns); d == nil || d.Kind != DamageUnread || !d.NoRoom || !strings.HasPrefix(d.Text, "No room.") {
				t.Errorf("%s: %+v", ns, d)
			}
		}
		if got := now.Collection("db.x"); got == nil || got.Chunks != before || now.Collection("db.new") != nil {
			t.Error("it grew")
		}
		full.Store(false)
		wait(5 * time.Second)
		now = w.Table()
		if got := now.Collection("db.x"); got.Chunks.Owner(0) != f.shards[1].Name || now.Collection("db.new") == nil || len(now.Damaged) > 0 {
			t.Errorf("not read again: %+v", now.Damaged)
		}
	})
}
