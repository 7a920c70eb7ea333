package topology

import (
	"slices"
	"testing"
	"time"

	"shardboard/internal/fault"
)

func disk(used, total int64) Disk {
	f := func(n int64) Figure { return Figure{Known: true, Exact: true, Value: n, Method: "dbStats"} }
	return Disk{Used: f(used), Total: f(total)}
}

// weighs gives every shard of the fake a disk of a million bytes, half full.
func weighs(f *fake, db string) map[string]Disk {
	on := map[string]Disk{"a": disk(500_000, 1_000_000), "b": disk(500_000, 1_000_000), "c": disk(500_000, 1_000_000)}
	if f.disks == nil {
		f.disks = map[string]map[string]Disk{}
	}
	f.disks[db] = on
	return on
}

func refusal(db string) error {
	return fault.Wrap(fault.Forbidden, &DeniedError{Privilege: "dbStats on " + db}, "no")
}

func TestDisksAreReadOnceAMinuteWithOneCommand(t *testing.T) {
	f := newFake(t)
	weighs(f, "db")
	watch(t, f, Options{}, func(w *Watcher) {
		after(10 * time.Minute)
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

func TestADiskThatMovesALittleWakesNobody(t *testing.T) {
	f := newFake(t)
	on := weighs(f, "db")
	watch(t, f, Options{}, func(w *Watcher) {
		after(90 * time.Second)
		was := w.Table()
		for range 8 { // 800 bytes of a million, 100 at a time
			f.edit(func() { d := on["a"]; d.Used.Value += 100; on["a"] = d })
			after(time.Minute)
		}
		is := w.Table()
		if is.Seq != was.Seq {
			t.Errorf("%d tables were published for it", is.Seq-was.Seq)
		}
		if is.DiskOf("a").Used.Value != 500_800 || !is.DiskOf("a").Used.At.After(was.DiskOf("a").Used.At) {
			t.Errorf("the figure is not taken over: %+v", is.DiskOf("a"))
		}
		if was.DiskOf("a").Used.Value != 500_000 {
			t.Error("an old table has changed")
		}
		for range 3 { // steps that are small each add up
			f.edit(func() { d := on["a"]; d.Used.Value += 100; on["a"] = d })
			after(time.Minute)
		}
		if got := w.Table().Seq - was.Seq; got != 1 {
			t.Errorf("%d tables were published for a thousandth", got)
		}
	})
}

func TestADiskIsAskedForByAnotherDatabaseWhereOneIsNotThere(t *testing.T) {
	f := newFake(t)
	f.databases = []Database{{Name: "db", Primary: "a"}, {Name: "other", Primary: "b"}, {Name: "third", Primary: "b"}}
	f.add("other.x", 1, 10, 20) // on a, b and c
	on := weighs(f, "other")
	delete(on, "c")
	weighs(f, "db")
	watch(t, f, Options{}, func(w *Watcher) {
		after(time.Second)
		if !w.Table().DiskOf("c").Known() || w.Table().Health[PartDisks].Err != nil {
			t.Errorf("%+v", w.Table().DiskOf("c"))
		}
		if !slices.Equal(f.weighed, []string{"other", "db"}) {
			t.Errorf("asked by %v", f.weighed)
		}
		f.edit(func() { f.weighed = nil })
		after(time.Minute)
		if !slices.Equal(f.weighed, []string{"db"}) {
			t.Errorf("then asked by %v, not by the one that served", f.weighed)
		}
	})
}

func TestADeniedDatabaseLeadsToTheNextAndAllDeniedToAPrivilege(t *testing.T) {
	f := newFake(t)
	f.databases = []Database{{Name: "db", Primary: "a"}, {Name: "other", Primary: "b"}}
	weighs(f, "other")
	f.failNS["db"], f.failNS["config"] = refusal("db"), refusal("config")
	watch(t, f, Options{}, func(w *Watcher) {
		after(time.Second)
		if h := w.Table().Health[PartDisks]; h.Denied || !w.Table().DiskOf("a").Known() {
			t.Fatalf("%+v", h)
		}
	})
	f.failNS["other"] = refusal("other")
	watch(t, f, Options{}, func(w *Watcher) {
		after(time.Second)
		h := w.Table().Health[PartDisks]
		if !h.Denied || h.Privilege != "dbStats on db" || w.Table().DiskOf("a").Used.Reason != "notPermitted" {
			t.Errorf("%+v %+v", h, w.Table().DiskOf("a"))
		}
	})
}

func TestAShardThatFailsKeepsItsLastDiskAndNoOther(t *testing.T) {
	f := newFake(t)
	on := weighs(f, "db")
	delete(on, "c")
	watch(t, f, Options{}, func(w *Watcher) {
		after(time.Second)
		if d := w.Table().DiskOf("c"); d.Known() || d.Used.Reason != "noDisk" {
			t.Errorf("%+v", d)
		}
		if d := w.Table().DiskOf("nobody"); d.Known() {
			t.Errorf("%+v", d)
		}
		f.edit(func() { on["b"] = NoDisk("unreachable"); on["a"] = disk(900_000, 1_000_000) })
		after(10 * time.Minute)
		table := w.Table()
		if d := table.DiskOf("b"); d.Used.Value != 500_000 || !table.DiskOld("b", time.Now()) {
			t.Errorf("%+v", d)
		}
		if d := table.DiskOf("a"); d.Used.Value != 900_000 || table.DiskOld("a", time.Now()) {
			t.Errorf("%+v", d)
		}
	})
}

func TestADiskSaysWhyItIsNotKnown(t *testing.T) {
	for want, h := range map[string]Health{
		"notLoaded": {}, "notPermitted": {Denied: true, Err: refusal("db")}, "noDisk": {At: time.Unix(1, 0)},
		"unreachable": {Err: fault.New(fault.Unavailable, "down")},
	} {
		table := &Table{Health: map[Part]Health{PartDisks: h}}
		if d := table.DiskOf("a"); d.Known() || d.Used.Reason != want || d.Total.Reason != want {
			t.Errorf("%+v, want %s", d, want)
		}
	}
}
