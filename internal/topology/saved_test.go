package topology

import (
	"errors"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// savedOf is what a process saves of a cluster now.
func savedOf(t *testing.T, f *fake) *Table {
	read, err := NewWatcher(f, Options{}).Load(t.Context())
	must.Do(t, err)
	clear(f.calls)
	return &Table{Loaded: true, Saved: time.Now(), ClusterID: read.ClusterID, ServerInfo: read.ServerInfo, Shards: read.Shards,
		Databases: read.Databases, Collections: read.Collections, FlagsRead: read.FlagsRead, Balancer: read.Balancer}
}

// A start from a saved table reads the collections that have changed, of these what has changed, and nothing else.
func TestASavedTableIsComparedNotReadAgain(t *testing.T) {
	f := newFake(t)
	f.add("db.same", 1, 0, 10)
	moved := f.add("db.moved", 2, 0, 10)
	f.add("db.anew", 3, 0)
	f.add("db.gone", 4, 0)
	from := savedOf(t, f)
	moved.move(0, "c")
	f.add("db.anew", 5, 0, 10, 20)
	f.add("db.new", 6, 0)
	delete(f.colls, "db.gone")
	withWatcher(t, f, Options{Saved: from, Known: "c1"}, func(w *Watcher) {
		now := w.Table()
		if !now.IsRead() || w.Shown() != now || len(now.Collections) != 4 {
			t.Fatalf("read %t, %d collections", now.IsRead(), len(now.Collections))
		}
		if now.Collection("db.same").Chunks != from.Collection("db.same").Chunks || now.Collection("db.moved").Chunks.Owner(0) != "c" ||
			now.Collection("db.anew").Chunks.Len() != 4 || now.Collection("db.gone") != nil {
			t.Error("it is not the table of now")
		}
		if f.calls["AllChunks"] != 2 || f.calls["Chunks"] != 1 {
			t.Errorf("calls: %v, want all chunks of the two new ones and what moved", f.calls)
		}
		if got := now.FlagsRead["db.same"]; !got.Equal(from.FlagsRead["db.same"]) || now.FlagsRead["db.new"].Equal(got) {
			t.Errorf("flags read: %v, saved %v", now.FlagsRead, from.FlagsRead)
		}
	})
}

// Until something was read pages show what was saved, marked; nothing else sees it.
func TestASavedTableIsShownButNotTheTable(t *testing.T) {
	f := newFake(t)
	f.add("db.x", 1, 0, 10)
	from := savedOf(t, f)
	f.fail["all"] = fault.New(fault.Unavailable, "It is down.")
	withWatcher(t, f, Options{Saved: from, Known: "c1"}, func(w *Watcher) {
		wait(5 * time.Second)
		if now := w.Table(); now.Loaded || len(now.Collections) > 0 || len(now.Shards) > 0 {
			t.Error("what was saved is in the table that was read")
		}
		shown := w.Shown()
		h := shown.Health[PartRouting]
		if shown.IsRead() || !shown.Loaded || shown.Collection("db.x").Chunks.Len() != 3 || len(shown.Shards) != 3 ||
			!h.At.Equal(from.Saved) || h.Err == nil || !shown.Stale(PartRouting, from.Saved) || !shown.Health[PartEvents].At.IsZero() {
			t.Errorf("shown: %+v", shown.Health)
		}
		expect.Equal(t, w.Shown(), shown, "it is made anew for each question")
		f.change(func() { f.fail = map[string]error{} })
		wait(20 * time.Second)
		if shown := w.Shown(); !shown.IsRead() || shown != w.Table() {
			t.Error("it is still shown")
		}
	})
}

// What cannot be read now must not count as read because it was saved.
func TestASavedCollectionThatCannotBeComparedIsNotKept(t *testing.T) {
	f := newFake(t)
	f.add("db.other", 2, 0, 10)
	f.add("db.x", 1, 0, 10)
	from := savedOf(t, f)
	f.colls["db.x"].move(1, "a")
	f.failNS["db.x"] = errors.New("it does not work")
	withWatcher(t, f, Options{Saved: from, Known: "c1"}, func(w *Watcher) {
		if now := w.Table(); now.Collection("db.other") == nil || now.Collection("db.x") != nil || now.DamageOf("db.x") == nil {
			t.Errorf("%+v", now.Collections)
		}
	})
}

// The table of another cluster is neither shown nor gone on from, whichever of the two is known first.
func TestASavedTableOfAnotherClusterIsNotUsed(t *testing.T) {
	for known, id := range map[string]string{"c1": "c2", "c3": "c1"} {
		f := newFake(t)
		f.add("db.x", 1, 0, 10)
		from := savedOf(t, f)
		f.id = id
		withWatcher(t, f, Options{Saved: from, Known: known}, func(w *Watcher) {
			expect.That(t, f.calls["AllChunks"] == 1 && w.Shown() == w.Table(), "known as %s, is %s: %v", known, id, f.calls)
		})
	}
}

// The chunk of a move that failed while no process ran may have been flagged without a new version.
func TestChunksOfMovesThatFailedSinceATableWasSavedAreReadAgain(t *testing.T) {
	f := newFake(t)
	c := f.add("db.x", 1, 0, 10)
	from := savedOf(t, f)
	from.Saved = time.Now().Add(-2 * time.Hour)
	c.rows[1].Jumbo = true
	failed := must.Get(bson.Marshal(bson.M{"min": must.Get(c.meta.Key.Document(c.rows[1].Min)), "from": "b", "to": "c"}))
	f.events = []Event{{ID: "2", Time: time.Now(), What: "split", NS: "db.y"},
		{ID: "1", Time: time.Now().Add(-time.Hour), What: "moveChunk.error", NS: "db.x", Details: failed}}
	withWatcher(t, f, Options{Saved: from, Known: "c1"}, func(w *Watcher) {
		wait(30 * time.Second)
		expect.Equal(t, w.Table().Collection("db.x").Chunks.Jumbo(), 1, "the flag is not seen")
	})
}
