package topology

import (
	"fmt"
	"testing"
	"time"

	"shardboard/internal/fault"
)

func TestStatisticsStayBelowTwoReadsASecond(t *testing.T) {
	f := newFake(t)
	for i := range 200 {
		f.add(Namespace(fmt.Sprintf("db.c%03d", i)), byte(i+1))
	}
	watch(t, f, Options{}, func(w *Watcher) {
		after(30 * time.Second)
		if n := f.count("Sizes"); n < 55 || n > 62 {
			t.Fatalf("%d reads in 30 s, want about 60", n)
		}
	})
}

func TestViewedCollectionsAreReadFirst(t *testing.T) {
	f := newFake(t)
	for i := range 100 {
		f.add(Namespace(fmt.Sprintf("db.c%03d", i)), byte(i+1))
	}
	watch(t, f, Options{}, func(w *Watcher) {
		w.Viewed("db.c099")
		after(time.Second)
		if _, ok := w.Table().Sizes["db.c099"]; !ok {
			t.Fatalf("sizes of a viewed collection are missing; asked %v", f.asked)
		}
	})
}

func TestSizesOfOneCollectionFailAlone(t *testing.T) {
	f := newFake(t)
	f.add("db.x", 1)
	f.add("db.y", 2)
	f.plain["db"] = []Namespace{"db.projects", "db.x"}
	watch(t, f, Options{}, func(w *Watcher) {
		after(10 * time.Second)
		was := w.Table().Sizes["db.x"]
		if len(w.Table().Sizes) != 3 || !was.Sharded || w.Table().Sizes["db.projects"].Sharded {
			t.Fatalf("sizes %+v", w.Table().Sizes)
		}
		f.edit(func() { f.failNS["db.x"] = fault.New(fault.Unavailable, "shard b does not answer") })
		after(2 * time.Minute)
		table := w.Table()
		x, y := table.Sizes["db.x"], table.Sizes["db.y"]
		if x.Reason != "unreachable" || x.Shards["a"].Bytes.Value != 7 || !x.At.Equal(was.At) {
			t.Errorf("the last good figures must stay with their age: %+v", x)
		}
		if y.Reason != "" || !y.At.After(was.At) {
			t.Errorf("another collection suffers: %+v", y)
		}
		if table.Health[PartSizes].Err == nil {
			t.Error("the failure is not told")
		}
		f.edit(func() { delete(f.failNS, "db.x") })
		after(2 * time.Minute)
		if table := w.Table(); table.Health[PartSizes].Err != nil || table.Sizes["db.x"].Reason != "" {
			t.Error("not recovered")
		}
	})
}

func TestUnshardedCollectionsAreListedWithoutShardedOnes(t *testing.T) {
	f := newFake(t)
	f.add("db.x", 1)
	f.plain["db"] = []Namespace{"db.x", "db.users", "db.projects"}
	watch(t, f, Options{}, func(w *Watcher) {
		after(time.Second)
		if got := w.Table().Unsharded; len(got) != 2 || got[0] != "db.projects" || got[1] != "db.users" {
			t.Fatalf("unsharded %v", got)
		}
		f.edit(func() { f.add("db.users", 9) })
		after(2 * time.Second)
		if got := w.Table().Unsharded; len(got) != 1 {
			t.Fatalf("a collection is on both lists: %v", got)
		}
	})
}

func TestUnshardedStaysUnknownWhereListingIsForbidden(t *testing.T) {
	f := newFake(t)
	f.fail["Collections"] = fault.Wrap(fault.Forbidden, &DeniedError{Privilege: "listCollections on db"}, "no")
	watch(t, f, Options{}, func(w *Watcher) {
		after(time.Second)
		if table := w.Table(); table.Unsharded != nil || !table.Health[PartCollections].Denied {
			t.Fatalf("unsharded %v, health %+v", table.Unsharded, table.Health[PartCollections])
		}
	})
}

func TestAllSizesReplaceTheRoundWhereTheServerHasThem(t *testing.T) {
	f := newFake(t)
	f.sums = true
	f.add("db.x", 1)
	f.plain["db"] = []Namespace{"db.plain"}
	watch(t, f, Options{}, func(w *Watcher) {
		after(5 * time.Second)
		if table := w.Table(); len(table.Sizes) != 2 || f.count("Sizes") != 1 || f.asked[0] != "db.plain" {
			t.Fatalf("sizes %v, asked one by one %v", table.Sizes, f.asked)
		}
	})
}

func TestSizesOfDroppedCollectionsAreForgotten(t *testing.T) {
	f := newFake(t)
	f.add("db.x", 1)
	watch(t, f, Options{}, func(w *Watcher) {
		after(2 * time.Second)
		f.edit(func() { delete(f.colls, "db.x") })
		after(2 * time.Second)
		if n := len(w.Table().Sizes); n != 0 {
			t.Fatalf("%d sizes of nothing", n)
		}
	})
}
