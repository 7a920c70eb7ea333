package topology

import (
	"slices"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
)

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
		if w.Table().Stale(PartDisks, time.Now()) || w.Table().DiskOld("b", time.Now()) {
			t.Error("it is stale")
		}
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
		if is.Seq != was.Seq {
			t.Errorf("%d tables were published for it", is.Seq-was.Seq)
		}
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
