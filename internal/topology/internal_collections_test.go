package topology

import (
	"fmt"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
)

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
