package topology

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func TestStatisticsStayBelowTwoReadsASecond(t *testing.T) {
	f := newFake(t)
	for i := range 200 {
		f.add(Namespace(fmt.Sprintf("db.c%03d", i)), byte(i+1))
	}
	withWatcher(t, f, Options{}, func(w *Watcher) {
		wait(30 * time.Second)
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
	withWatcher(t, f, Options{}, func(w *Watcher) {
		w.Viewed("db.c099")
		wait(time.Second)
		if _, ok := w.Table().Sizes["db.c099"]; !ok {
			t.Fatalf("sizes of a viewed collection are missing; asked %v", f.sizesAsked())
		}
	})
}

func TestFailingSizesOfOneCollectionDoNotAffectOthers(t *testing.T) {
	f := newFake(t)
	f.add("db.x", 1)
	f.add("db.y", 2)
	f.plain["db"] = []Namespace{"db.projects", "db.x"}
	withWatcher(t, f, Options{}, func(w *Watcher) {
		wait(10 * time.Second)
		was := w.Table().Sizes["db.x"]
		if len(w.Table().Sizes) != 3 || !was.Sharded || w.Table().Sizes["db.projects"].Sharded {
			t.Fatalf("sizes %+v", w.Table().Sizes)
		}
		f.change(func() { f.failNS["db.x"] = fault.New(fault.Unavailable, "shard b does not answer") })
		wait(2 * time.Minute)
		table := w.Table()
		x, y := table.Sizes["db.x"], table.Sizes["db.y"]
		if x.Reason != "unreachable" || x.Shards["a"].Bytes.Value != 7 || !x.At.Equal(was.At) {
			t.Errorf("the last good figures are gone or look current: %+v", x)
		}
		expect.That(t, y.Reason == "" && y.At.After(was.At), "another collection is affected: %+v", y)
		expect.That(t, table.Health[PartSizes].Err != nil, "the failure is not reported")
		f.change(func() { delete(f.failNS, "db.x") })
		wait(2 * time.Minute)
		if table := w.Table(); table.Health[PartSizes].Err != nil || table.Sizes["db.x"].Reason != "" {
			t.Error("not recovered")
		}
	})
}

func TestUnshardedCollectionsAreListedWithoutShardedOnes(t *testing.T) {
	f := newFake(t)
	f.add("db.x", 1)
	f.plain["db"] = []Namespace{"db.x", "db.users", "db.projects"}
	withWatcher(t, f, Options{}, func(w *Watcher) {
		wait(time.Second)
		if got := w.Table().Unsharded; len(got) != 2 || got[0] != "db.projects" || got[1] != "db.users" {
			t.Fatalf("unsharded %v", got)
		}
		f.change(func() { f.add("db.users", 9) })
		wait(2 * time.Second)
		if got := w.Table().Unsharded; len(got) != 1 {
			t.Fatalf("a collection is in both lists: %v", got)
		}
	})
}

func TestUnshardedCollectionsStayUnknownWhenListingIsForbidden(t *testing.T) {
	f := newFake(t)
	f.fail["Collections"] = fault.Wrap(fault.Forbidden, &DeniedError{Privilege: "listCollections on db"}, "no")
	withWatcher(t, f, Options{}, func(w *Watcher) {
		wait(time.Second)
		if table := w.Table(); table.Unsharded != nil || !table.Health[PartCollections].Denied {
			t.Fatalf("unsharded %v, health %+v", table.Unsharded, table.Health[PartCollections])
		}
	})
}

func TestSizesAreReadAllAtOnceWhereTheServerSupportsIt(t *testing.T) {
	f := newFake(t)
	f.sums = true
	f.add("db.x", 1)
	f.plain["db"] = []Namespace{"db.plain"}
	withWatcher(t, f, Options{}, func(w *Watcher) {
		wait(5 * time.Second)
		asked := f.sizesAsked()
		if table := w.Table(); len(table.Sizes) != 2 || f.count("Sizes") != 2 || asked[0] != "db.plain" || asked[1] != "db.x" {
			t.Fatalf("sizes %v, asked one by one %v", table.Sizes, asked)
		}
		wait(9 * time.Minute)
		if n := strings.Count(fmt.Sprint(f.sizesAsked()), "db.x"); n != 1 {
			t.Errorf("what the one command does not tell was read %d times in nine minutes", n)
		}
		x := w.Table().SizeOn("db.x", "a")
		if x.Bytes.Value != 6 || x.Storage.Value != 5 || x.Indexes.Value != 3 {
			t.Errorf("bytes %v, on disk %v, indexes %v", x.Bytes, x.Storage, x.Indexes)
		}
		if age, disk := time.Since(x.Bytes.At), time.Since(x.Storage.At); age > time.Minute+time.Second || disk < 8*time.Minute {
			t.Errorf("the bytes are %s old, those on disk %s", age, disk)
		}
		wait(90 * time.Second)
		if disk := time.Since(w.Table().SizeOn("db.x", "a").Storage.At); disk > 2*time.Minute {
			t.Errorf("after ten minutes the bytes on disk are %s old", disk)
		}
	})
}

// $shardedDataDistribution leaves out what is not sharded, with a place of its own or without. What was measured on the
// primary shard says nothing of the shard that moveCollection chose.
func TestAnUnshardedCollectionIsMeasuredAgainWhereItHasMoved(t *testing.T) {
	f := newFake(t)
	f.sums = true
	f.plain["db"] = []Namespace{"db.plain"}
	withWatcher(t, f, Options{}, func(w *Watcher) {
		wait(5 * time.Second)
		must.That(t, w.Table().SizeOn("db.plain", "a").Bytes.Known, "not read")
		f.change(func() {
			f.fail["Sizes"] = fault.New(fault.Unavailable, "no answer")
			c := f.add("db.plain", 9)
			c.meta.Unsplittable = true
			c.move(0, "c")
		})
		wait(10 * time.Second)
		expect.That(t, !w.Table().SizeOn("db.plain", "c").Bytes.Known, "it counts as empty there: %+v", w.Table().Sizes["db.plain"])
		f.change(func() { delete(f.fail, "Sizes") })
		wait(2 * time.Minute)
		before := w.Table().Sizes["db.plain"].At
		wait(5 * time.Minute)
		if now := w.Table().Sizes["db.plain"]; now.Reason != "" || now.Sharded || now.At.Sub(before) < 4*time.Minute {
			t.Errorf("five minutes later: %+v, before of %s", now, before)
		}
	})
}

func TestSizesOnAFormerPrimaryShardAreForgotten(t *testing.T) {
	f := newFake(t)
	f.plain["db"] = []Namespace{"db.plain"}
	withWatcher(t, f, Options{}, func(w *Watcher) {
		wait(5 * time.Second)
		must.That(t, w.Table().SizeOn("db.plain", "a").Bytes.Known, "not read")
		f.change(func() { f.databases = []Database{{Name: "db", Primary: "b"}} })
		for range 90 {
			wait(time.Second)
			x := w.Table().SizeOn("db.plain", "b").Bytes
			must.That(t, w.Table().Primary("db") == "a" || !x.Known || x.Value == 7, "it counts as empty there: %+v", x)
		}
		expect.That(t, w.Table().SizeOn("db.plain", "b").Bytes.Known, "not read again")
	})
}

func TestBytesOnDiskAreUnknownUntilTheyAreRead(t *testing.T) {
	f := newFake(t)
	f.sums = true
	f.add("db.x", 1)
	f.fail["Sizes"] = fault.New(fault.Forbidden, "no collStats")
	withWatcher(t, f, Options{}, func(w *Watcher) {
		wait(time.Minute)
		table := w.Table()
		for _, shard := range []string{"a", "b"} {
			if x := table.SizeOn("db.x", shard); !x.Bytes.Known || x.Storage.Known || x.Indexes.Known {
				t.Errorf("on %s: %+v", shard, x)
			}
		}
		expect.That(t, table.Health[PartSizes].Err == nil, "the sizes count as failing although they are read")
	})
}

// A collection of the same name with another UUID has other files.
func TestBytesOnDiskOfAReplacedCollectionAreForgotten(t *testing.T) {
	f := newFake(t)
	f.sums = true
	f.add("db.x", 1)
	withWatcher(t, f, Options{}, func(w *Watcher) {
		wait(10 * time.Second)
		must.That(t, w.Table().SizeOn("db.x", "a").Storage.Known, "not read")
		f.change(func() { f.fail["Sizes"] = fault.New(fault.Unavailable, "no answer"); f.add("db.x", 9) })
		wait(2 * time.Minute)
		if x := w.Table().SizeOn("db.x", "a"); x.Storage.Known || !x.Bytes.Known {
			t.Errorf("%+v", x)
		}
	})
}

func TestSizesOfDroppedCollectionsAreForgotten(t *testing.T) {
	f := newFake(t)
	f.add("db.x", 1)
	withWatcher(t, f, Options{}, func(w *Watcher) {
		wait(2 * time.Second)
		f.change(func() { delete(f.colls, "db.x") })
		wait(2 * time.Second)
		if n := len(w.Table().Sizes); n != 0 {
			t.Fatalf("%d sizes of dropped collections", n)
		}
	})
}

func TestUnknownSizeHasAReason(t *testing.T) {
	at := time.Unix(1_800_000_000, 0)
	read := Sizes{At: at, Shards: map[string]Size{"a": {Bytes: Figure{Known: true, Value: 7}}}}
	tests := []struct {
		name   string
		table  Table
		shard  string
		known  bool
		value  int64
		reason string
	}{
		{"read", Table{Sizes: map[Namespace]Sizes{"d.c": read}}, "a", true, 7, ""},
		{"a shard that the read did not mention", Table{Sizes: map[Namespace]Sizes{"d.c": read}}, "b", true, 0, ""},
		{"never read", Table{}, "a", false, 0, "notLoaded"},
		{"failed", Table{Sizes: map[Namespace]Sizes{"d.c": {Reason: "unreachable"}}}, "a", false, 0, "unreachable"},
		{"denied", Table{Health: map[Part]Health{PartSizes: {Denied: true}}}, "a", false, 0, "notPermitted"},
	}
	for _, tc := range tests {
		if got := tc.table.SizeOn("d.c", tc.shard).Bytes; got.Known != tc.known || got.Value != tc.value || got.Reason != tc.reason {
			t.Errorf("%s: %+v", tc.name, got)
		}
	}
}

func disk(used, total int64) Disk {
	f := func(n int64) Figure { return Figure{Known: true, Exact: true, Value: n, Method: "dbStats"} }
	return Disk{Used: f(used), Total: f(total)}
}

// addDisks gives every shard of the fake a disk of a million bytes, half full.
func addDisks(f *fake, db string) map[string]Disk {
	on := map[string]Disk{"a": disk(500_000, 1_000_000), "b": disk(500_000, 1_000_000), "c": disk(500_000, 1_000_000)}
	if f.disks == nil {
		f.disks = map[string]map[string]Disk{}
	}
	f.disks[db] = on
	return on
}

func notFoundError(db string) error {
	return fault.Wrap(fault.Forbidden, &DeniedError{Privilege: "dbStats on " + db}, "no")
}

func TestDisksAreReadOnceAMinuteWithOneCommand(t *testing.T) {
	f := newFake(t)
	addDisks(f, "db")
	withWatcher(t, f, Options{}, func(w *Watcher) {
		wait(10 * time.Minute)
		if n := f.count("Disks"); n < 10 || n > 11 {
			t.Errorf("%d reads in ten minutes", n)
		}
		if d := w.Table().DiskOf("b"); !d.Known() || d.Free() != 500_000 || d.Share() != 0.5 {
			t.Errorf("%+v", d)
		}
		expect.That(t, !w.Table().Stale(PartDisks, time.Now()) && !w.Table().DiskOld("b", time.Now()), "it is stale")
	})
}

func TestSmallDiskChangeIsNotPublished(t *testing.T) {
	f := newFake(t)
	on := addDisks(f, "db")
	withWatcher(t, f, Options{}, func(w *Watcher) {
		wait(90 * time.Second)
		was := w.Table()
		for range 8 { // 800 bytes of a million, 100 at a time
			f.change(func() { d := on["a"]; d.Used.Value += 100; on["a"] = d })
			wait(time.Minute)
		}
		is := w.Table()
		expect.Equal(t, is.Seq, was.Seq, "%d tables were published for it", is.Seq-was.Seq)
		if is.DiskOf("a").Used.Value != 500_800 || !is.DiskOf("a").Used.At.After(was.DiskOf("a").Used.At) {
			t.Errorf("the figure is not updated: %+v", is.DiskOf("a"))
		}
		expect.Equal(t, was.DiskOf("a").Used.Value, 500_000, "an old table has changed")
		for range 3 { // small steps add up
			f.change(func() { d := on["a"]; d.Used.Value += 100; on["a"] = d })
			wait(time.Minute)
		}
		expect.Equal(t, w.Table().Seq-was.Seq, 1, "tables that were published for a thousandth")
	})
}

func TestDiskIsReadThroughAnotherDatabaseWhenOneIsMissing(t *testing.T) {
	f := newFake(t)
	f.databases = []Database{{Name: "db", Primary: "a"}, {Name: "other", Primary: "b"}, {Name: "third", Primary: "b"}}
	f.add("other.x", 1, 10, 20) // on a, b and c
	on := addDisks(f, "other")
	delete(on, "c")
	addDisks(f, "db")
	withWatcher(t, f, Options{}, func(w *Watcher) {
		wait(time.Second)
		if !w.Table().DiskOf("c").Known() || w.Table().Health[PartDisks].Err != nil {
			t.Errorf("%+v", w.Table().DiskOf("c"))
		}
		expect.EqualSlices(t, f.disksAskedOf, []string{"other", "db"}, "databases that it was read through")
		f.change(func() { f.disksAskedOf = nil })
		wait(time.Minute)
		if !slices.Equal(f.disksAskedOf, []string{"db"}) {
			t.Errorf("then read through %v instead of the database that worked", f.disksAskedOf)
		}
	})
}

func TestDeniedDatabaseLeadsToTheNextAndThenNamesThePrivilege(t *testing.T) {
	f := newFake(t)
	f.databases = []Database{{Name: "db", Primary: "a"}, {Name: "other", Primary: "b"}}
	addDisks(f, "other")
	f.failNS["db"], f.failNS["config"] = notFoundError("db"), notFoundError("config")
	withWatcher(t, f, Options{}, func(w *Watcher) {
		wait(time.Second)
		if h := w.Table().Health[PartDisks]; h.Denied || !w.Table().DiskOf("a").Known() {
			t.Fatalf("%+v", h)
		}
	})
	f.failNS["other"] = notFoundError("other")
	withWatcher(t, f, Options{}, func(w *Watcher) {
		wait(time.Second)
		h := w.Table().Health[PartDisks]
		if !h.Denied || h.Privilege != "dbStats on db" || w.Table().DiskOf("a").Used.Reason != "notPermitted" {
			t.Errorf("%+v %+v", h, w.Table().DiskOf("a"))
		}
	})
}

func TestFailingShardKeepsItsLastDisk(t *testing.T) {
	f := newFake(t)
	on := addDisks(f, "db")
	delete(on, "c")
	withWatcher(t, f, Options{}, func(w *Watcher) {
		wait(time.Second)
		if d := w.Table().DiskOf("c"); d.Known() || d.Used.Reason != "noDisk" {
			t.Errorf("%+v", d)
		}
		if d := w.Table().DiskOf("nobody"); d.Known() {
			t.Errorf("%+v", d)
		}
		f.change(func() { on["b"] = NoDisk("unreachable"); on["a"] = disk(900_000, 1_000_000) })
		wait(10 * time.Minute)
		table := w.Table()
		if d := table.DiskOf("b"); d.Used.Value != 500_000 || !table.DiskOld("b", time.Now()) {
			t.Errorf("%+v", d)
		}
		if d := table.DiskOf("a"); d.Used.Value != 900_000 || table.DiskOld("a", time.Now()) {
			t.Errorf("%+v", d)
		}
	})
}

func TestUnknownDiskHasAReason(t *testing.T) {
	for want, h := range map[string]Health{
		"notLoaded": {}, "notPermitted": {Denied: true, Err: notFoundError("db")}, "noDisk": {At: time.Unix(1, 0)},
		"unreachable": {Err: fault.New(fault.Unavailable, "down")},
	} {
		table := &Table{Health: map[Part]Health{PartDisks: h}}
		if d := table.DiskOf("a"); d.Known() || d.Used.Reason != want || d.Total.Reason != want {
			t.Errorf("%+v, want %s", d, want)
		}
	}
}

// Shards on one disk are found by a machine that they have in common and by figures that are the same.
func TestShardsOnOneDiskAreFound(t *testing.T) {
	half := disk(500_000_000, 1_000_000_000)
	near, far := disk(500_000_100, 1_000_000_000), disk(600_000_000, 1_000_000_000)
	for name, x := range map[string]struct {
		hosts [3]string
		disks [3]Disk
		want  int
	}{
		"one machine":                       {[3]string{"m:1", "m:2", "m:3"}, [3]Disk{half, near, half}, 1},
		"a disk of its own on one machine":  {[3]string{"m:1", "m:2", "m:3"}, [3]Disk{half, far, half}, 2},
		"machines of one size, all as full": {[3]string{"x:1", "y:1", "z:1"}, [3]Disk{half, half, half}, 3},
		"one not known":                     {[3]string{"m:1", "m:2", "m:3"}, [3]Disk{half, NoDisk("noDisk"), half}, 1},
		"by address":                        {[3]string{"[::1]:1", "[::1]:2", "z"}, [3]Disk{half, half, half}, 2},
	} {
		table := &Table{Disks: map[string]Disk{}}
		for i, host := range x.hosts {
			shard := string(rune('a' + i))
			table.Shards = append(table.Shards, Shard{Name: shard, Hosts: []string{host}})
			table.Disks[shard] = x.disks[i]
		}
		if got := table.SharedDisks(); len(got) != x.want {
			t.Errorf("%s: %v, want %d disks", name, got, x.want)
		}
	}
}
