package topology

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func TestWatcherDoesNotNotifyWithoutAChange(t *testing.T) {
	f := newFake(t)
	f.add("db.x", 1, 0)
	withWatcher(t, f, Options{Statistics: time.Hour}, func(w *Watcher) {
		wait(30 * time.Second)
		table, changed, end := w.Subscribe()
		defer end()
		heads, slow, chunks := f.count("Heads"), f.count("Shards"), f.count("Chunks")
		wait(20 * time.Second)
		select {
		case <-changed:
			t.Error("a notification without a change")
		default:
		}
		now := w.Table()
		if now.Seq != table.Seq || !now.Health[PartRouting].At.After(table.Health[PartRouting].At) ||
			now.Balancer.Rounds == table.Balancer.Rounds {
			t.Errorf("seq %d then %d; the time of the last read and the balancer's rounds must advance", table.Seq, now.Seq)
		}
		expect.Equal(t, f.count("Heads")-heads, 10, "routing polls of one command in 20 s")
		expect.Equal(t, f.count("Shards")-slow, 2, "slow polls in 20 s")
		expect.Equal(t, f.count("Chunks")-chunks, 0, "chunk reads while nothing changed")
	})
}

func TestWatcherKeepsLastTableWhenPollFails(t *testing.T) {
	f := newFake(t)
	f.add("db.x", 1, 0)
	withWatcher(t, f, Options{}, func(w *Watcher) {
		good := w.Table()
		f.change(func() { f.fail["all"] = fault.New(fault.Unavailable, "The cluster cannot be reached.") })
		wait(2 * time.Second)
		bad := w.Table()
		if bad.Collections[0] != good.Collections[0] || bad.Health[PartRouting].Err == nil {
			t.Fatalf("the table must stay and its health must show the failure: %+v", bad.Health[PartRouting])
		}
		if !bad.Health[PartRouting].At.Equal(good.Health[PartRouting].At) || !bad.Stale(PartRouting, time.Now()) {
			t.Error("the age must be that of the last good read")
		}
		// It retries at least every ten seconds.
		wait(time.Minute)
		n := f.count("Server")
		wait(time.Minute)
		if tries := f.count("Server") - n; tries < 5 || tries > 7 {
			t.Errorf("%d attempts a minute while the cluster is lost, want about 6", tries)
		}
		if seq := w.Table().Seq; seq > bad.Seq+20 {
			t.Errorf("the same failure was published %d times", seq-bad.Seq)
		}
		f.change(func() { delete(f.fail, "all") })
		wait(12 * time.Second)
		if h := w.Table().Health; h[PartRouting].Err != nil || h[PartShards].Err != nil {
			t.Errorf("not recovered: %v, %v", h[PartRouting].Err, h[PartShards].Err)
		}
	})
}

func TestWatcherGivesUpOnAHangingCluster(t *testing.T) {
	f := newFake(t)
	f.add("db.x", 1)
	withWatcher(t, f, Options{}, func(w *Watcher) {
		f.change(func() { f.hang["all"] = true })
		wait(23 * time.Second)
		for _, p := range []Part{PartRouting, PartShards, PartZones, PartEvents, PartBalancer} {
			expect.That(t, w.Table().Health[p].Err != nil, "%s is still being read", p)
		}
	})
}

func TestWatcherDegradesOnlyTheForbiddenPart(t *testing.T) {
	f := newFake(t)
	f.add("db.x", 1)
	f.fail["Zones"] = fault.Wrap(fault.Forbidden, &DeniedError{Privilege: "find on config.tags"}, "The cluster user may not read the zones.")
	withWatcher(t, f, Options{}, func(w *Watcher) {
		table := w.Table()
		h := table.Health[PartZones]
		if !table.Loaded || !h.Denied || h.Privilege != "find on config.tags" || !table.Health[PartShards].At.Equal(time.Now()) {
			t.Fatalf("loaded %t, zones %+v", table.Loaded, h)
		}
	})
}

func TestWatcherKeepsTheReadableRowsWhenSomeAreSkipped(t *testing.T) {
	f := newFake(t)
	f.fail["Shards"] = &SkippedError{What: "config.shards", Count: 1, First: fmt.Errorf("a shard without a name")}
	withWatcher(t, f, Options{}, func(w *Watcher) {
		if table := w.Table(); len(table.Shards) != 3 || table.Health[PartShards].Note == "" || table.Health[PartShards].Err != nil {
			t.Fatalf("%d shards, health %+v", len(table.Shards), table.Health[PartShards])
		}
	})
}

func TestWatcherNeverPublishesATornTable(t *testing.T) {
	f := newFake(t)
	c := f.add("db.x", 1, 0, 10)
	withWatcher(t, f, Options{}, func(w *Watcher) {
		// An incremental read that saw only one half of a split, twice.
		full := slices.Clone(c.rows)
		f.change(func() {
			c.rows[1].Max = at(t, c.meta.Key, 5)
			c.rows[1].Version = Version{2, 0}
		})
		wait(2 * time.Second)
		table := w.Table()
		if table.Collection("db.x").Chunks.Len() != 3 || table.Collection("db.x").Highest != (Version{1, 2}) {
			t.Fatal("a table with a gap was published")
		}
		d := table.DamageOf("db.x")
		if d == nil || d.Kind != DamageGap || len(d.Places) != 1 || d.Places[0].Min.Compare(at(t, c.meta.Key, 5)) != 0 ||
			table.Health[PartRouting].Err != nil {
			t.Fatalf("got damage %+v, health %+v, want the gap from 5 to 10", d, table.Health[PartRouting])
		}
		f.change(func() {
			c.rows = append(full[:1:1], row(t, c.meta.Key, 0, 5, "b", 2, 0), row(t, c.meta.Key, 5, 10, "b", 2, 1), full[2])
		})
		wait(12 * time.Second)
		if table := w.Table(); table.Collection("db.x").Chunks.Len() != 4 || len(table.Damaged) > 0 {
			t.Fatalf("%d chunks, %v", table.Collection("db.x").Chunks.Len(), table.Damaged)
		}
	})
}

func TestWatcherReadsAgainWhenACollectionIsReplacedDuringTheRead(t *testing.T) {
	f := newFake(t)
	c := f.add("db.x", 1, 0, 10)
	withWatcher(t, f, Options{}, func(w *Watcher) {
		seq := w.Table().Seq
		f.change(func() {
			c.move(0, "b")
			f.afterChunks = func(ns Namespace) { // recreated right after its chunks were read
				f.afterChunks = nil
				f.add("db.x", 2, 100)
			}
		})
		wait(2 * time.Second)
		got := w.Table().Collection("db.x")
		if got.Incarnation.UUID != [16]byte{2} || got.Chunks.Len() != 2 {
			t.Fatalf("life %v with %d chunks, want the second with 2", got.Incarnation.UUID[0], got.Chunks.Len())
		}
		if changes, _ := w.Table().Since(seq); len(changes) != 1 || changes[0].Kind != Reloaded {
			t.Fatalf("changes %+v", changes)
		}
	})
}

func TestWatcherFollowsDropsCreationsAndFlags(t *testing.T) {
	f := newFake(t)
	c := f.add("db.x", 1)
	withWatcher(t, f, Options{}, func(w *Watcher) {
		seq := w.Table().Seq
		f.change(func() { f.add("db.y", 2, 5); c.meta.NoBalance = true })
		wait(2 * time.Second)
		table := w.Table()
		changes, _ := table.Since(seq)
		if table.Collection("db.y") == nil || !table.Collection("db.x").NoBalance || len(changes) != 1 || changes[0].Kind != Created {
			t.Fatalf("changes %+v", changes)
		}
		seq = table.Seq
		f.change(func() { delete(f.colls, "db.x") })
		wait(2 * time.Second)
		table = w.Table()
		if changes, _ := table.Since(seq); table.Collection("db.x") != nil || len(changes) != 1 || changes[0].Kind != Dropped {
			t.Fatalf("changes %+v", changes)
		}
	})
}

func TestWatcherUpdatesOtherCollectionsWhenOneFails(t *testing.T) {
	f := newFake(t)
	x, y := f.add("db.x", 1, 0), f.add("db.y", 2, 0)
	withWatcher(t, f, Options{}, func(w *Watcher) {
		f.change(func() {
			x.move(0, "c")
			y.move(0, "c")
			f.failNS["db.x"] = fault.New(fault.Unavailable, "no")
		})
		wait(2 * time.Second)
		table := w.Table()
		if table.Collection("db.y").Chunks.Owner(0) != "c" || table.Collection("db.x").Chunks.Owner(0) != "a" ||
			table.Health[PartRouting].Err == nil {
			t.Fatalf("y on %s, x on %s", table.Collection("db.y").Chunks.Owner(0), table.Collection("db.x").Chunks.Owner(0))
		}
	})
}

func TestWatcherRefusesAnotherCluster(t *testing.T) {
	f := newFake(t)
	f.add("db.x", 1)
	withWatcher(t, f, Options{}, func(w *Watcher) {
		f.change(func() { f.fail["Heads"] = fault.New(fault.Unavailable, "gone") })
		wait(2 * time.Second)
		f.change(func() { delete(f.fail, "Heads"); f.id = "c2"; delete(f.colls, "db.x") })
		wait(10 * time.Second)
		table := w.Table()
		var other *OtherClusterError
		if err := table.Health[PartRouting].Err; table.ClusterID != "c1" || table.Collection("db.x") == nil ||
			!errors.As(err, &other) || other.Watched != "c1" || other.Found != "c2" || fault.Of(err) != fault.Unavailable {
			t.Fatalf("cluster %s, health %v", table.ClusterID, table.Health[PartRouting].Err)
		}
	})
}

func TestWatcherTriesAgainWhenTheTargetIsNotAMongos(t *testing.T) {
	f := newFake(t)
	f.add("db.x", 1, 0)
	f.fail["all"] = fault.New(fault.Invalid, "it is a mongod")
	withWatcher(t, f, Options{}, func(w *Watcher) {
		if table := w.Table(); table.Loaded || fault.Of(table.NotLoaded()) != fault.Unavailable ||
			!strings.Contains(fault.Text(table.NotLoaded()), "it is a mongod") {
			t.Fatalf("loaded %t, %v", table.Loaded, table.NotLoaded())
		}
		f.change(func() { delete(f.fail, "all") })
		wait(12 * time.Second)
		must.That(t, w.Table().Loaded, "not loaded although a mongos is there now")
	})
}

func TestClusterOfTheAddressIsKnownBeforeItIsReached(t *testing.T) {
	for name, c := range map[string]struct{ known, id, formerly string }{
		"the same one":    {"c1", "c1", ""},
		"another one":     {"c0", "c1", "c0"},
		"none was known":  {"", "c1", ""},
		"may not be read": {"c0", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.add("db.x", 1, 0)
			f.id = c.id
			f.fail["all"] = fault.New(fault.Unavailable, "The cluster cannot be reached.")
			withWatcher(t, f, Options{Known: c.known}, func(w *Watcher) {
				if table := w.Table(); table.ClusterID != c.known || table.Loaded || table.Began.IsZero() {
					t.Fatalf("cluster %q, loaded %t, began %s", table.ClusterID, table.Loaded, table.Began)
				}
				f.change(func() { delete(f.fail, "all") })
				wait(12 * time.Second)
				if table := w.Table(); table.ClusterID != c.id || table.Formerly != c.formerly || !table.Loaded {
					t.Fatalf("cluster %q, formerly %q, loaded %t", table.ClusterID, table.Formerly, table.Loaded)
				}
			})
		})
	}
}

func TestRotationFindsChangesInEveryCollection(t *testing.T) {
	f := newFake(t)
	var all []*fakeColl
	for i := range 23 {
		all = append(all, f.add(Namespace(fmt.Sprintf("db.c%02d", i)), byte(i+1), 0))
	}
	withWatcher(t, f, Options{RotateAbove: 5}, func(w *Watcher) {
		must.That(t, len(w.Table().Collections) == 23, "%d collections after the first poll", len(w.Table().Collections))
		wait(10 * time.Second) // one whole rotation
		f.change(func() {
			for _, c := range all {
				c.move(0, "c")
			}
			delete(f.colls, "db.c07")
			f.add("db.zz", 99)
			f.window = nil
		})
		wait(10 * time.Second)
		table := w.Table()
		for _, c := range table.Collections {
			expect.That(t, c.NS == "db.zz" || c.Chunks.Owner(0) == "c", "%s was not read", c.NS)
		}
		if table.Collection("db.c07") != nil || table.Collection("db.zz") == nil {
			t.Error("a drop or a creation was missed")
		}
		var asked []Window
		f.change(func() { asked = slices.Clone(f.window) })
		for _, win := range asked {
			expect.That(t, len(win.Only) != 0 || win.Limit == 5, "a poll asked for %+v", win)
		}
	})
}

func TestRotationReadsLoggedCollectionsAtOnce(t *testing.T) {
	f := newFake(t)
	var all []*fakeColl
	for i := range 100 {
		all = append(all, f.add(Namespace(fmt.Sprintf("db.c%02d", i)), byte(i+1), 0))
	}
	f.events = []Event{{ID: "e1"}}
	withWatcher(t, f, Options{RotateAbove: 5}, func(w *Watcher) {
		f.change(func() {
			all[77].move(0, "c")
			f.events = append([]Event{{ID: "e2", What: "moveChunk.commit", NS: "db.c77"}}, f.events...)
		})
		wait(2 * time.Second)
		must.That(t, w.Table().Collection("db.c77").Chunks.Owner(0) == "c", "the move was not found within one poll")
	})
}

func TestJumboFlagsAreFoundAfterAFailedMoveAndByTheSweep(t *testing.T) {
	f := newFake(t)
	c := f.add("db.x", 1, 0, 10)
	f.events = []Event{{ID: "e1"}}
	withWatcher(t, f, Options{Sweep: 10 * time.Minute}, func(w *Watcher) {
		lower := must.Get(bson.Marshal(bson.D{{Key: "k", Value: int64(0)}}))
		details := must.Get(bson.Marshal(bson.D{{Key: "min", Value: bson.Raw(lower)}, {Key: "note", Value: "aborted"}}))
		f.change(func() {
			c.rows[1].Jumbo = true
			f.events = append([]Event{{ID: "e2", What: "moveChunk.from", NS: "db.x", Details: details}}, f.events...)
		})
		wait(10 * time.Second)
		if got := w.Table().Collection("db.x").Chunks; got.Jumbo() != 1 || !got.At(1).Jumbo {
			t.Fatalf("%d jumbo chunks after the failed move", got.Jumbo())
		}
		f.change(func() { c.rows[1].Jumbo, c.rows[2].Jumbo = false, true })
		wait(time.Minute)
		must.That(t, w.Table().Collection("db.x").Chunks.Jumbo() == 0, "the cleared flag was not found")
		must.That(t, !w.Table().Collection("db.x").Chunks.At(2).Jumbo, "the flag was found too early")
		wait(10 * time.Minute)
		if got := w.Table().Collection("db.x").Chunks; got.Jumbo() != 1 || !got.At(2).Jumbo {
			t.Fatalf("%d jumbo chunks after a sweep", got.Jumbo())
		}
	})
}

func TestSweepStaysBelowItsRateAndReachesEveryChunk(t *testing.T) {
	f := newFake(t)
	cuts := make([]int64, 0, 9999)
	for i := range int64(9999) {
		cuts = append(cuts, i)
	}
	c := f.add("db.x", 1, cuts...)
	f.add("db.y", 2, 0)
	withWatcher(t, f, Options{SweepPerMinute: 1000}, func(w *Watcher) {
		loaded := w.Table().FlagsRead["db.x"]
		must.That(t, !loaded.IsZero(), "the age of the flags is not known after the load")
		f.change(func() { f.rowsRead = 0; c.rows[9990].Jumbo = true })
		wait(5 * time.Minute)
		read := 0
		f.change(func() { read = f.rowsRead })
		must.That(t, read <= 5000 && read >= 4000, "%d chunk documents in five minutes, want at most 1,000 a minute", read)
		if at := w.Table().FlagsRead["db.x"]; at != loaded {
			t.Fatalf("half a pass counts as a whole one: %v, %v before", at, loaded)
		}
		wait(6 * time.Minute)
		if n := w.Table().Collection("db.x").Chunks.Jumbo(); n != 1 {
			t.Fatalf("%d jumbo chunks after a pass", n)
		}
		for _, ns := range []Namespace{"db.x", "db.y"} {
			if age := time.Since(w.Table().FlagsRead[ns]); age > 12*time.Minute {
				t.Errorf("the flags of %s are %v old after a pass", ns, age)
			}
		}
	})
}

func TestSweepGoesOnAfterAFailedRead(t *testing.T) {
	f := newFake(t)
	x, y := f.add("db.x", 1, 0), f.add("db.y", 2, 0)
	withWatcher(t, f, Options{}, func(w *Watcher) {
		f.change(func() {
			f.failNS["db.x"] = fault.New(fault.Internal, "odd")
			x.rows[0].Jumbo, y.rows[0].Jumbo = true, true
		})
		wait(2 * time.Minute)
		expect.Equal(t, w.Table().Collection("db.y").Chunks.Jumbo(), 1,
			"a collection that can't be read holds the sweep up")
		f.change(func() { delete(f.failNS, "db.x") })
		wait(2 * time.Minute)
		expect.Equal(t, w.Table().Collection("db.x").Chunks.Jumbo(), 1, "the collection is not tried again")
	})
}

// The newest servers clear a flag without a new version.
func TestFlagsThatAreClearedAreFoundSoonWhateverTheNumberOfChunks(t *testing.T) {
	f := newFake(t)
	cuts := make([]int64, 0, 9999)
	for i := range int64(9999) {
		cuts = append(cuts, i)
	}
	c := f.add("db.x", 1, cuts...)
	for i := 100; i < 220; i++ {
		c.rows[i].Jumbo = true
	}
	withWatcher(t, f, Options{}, func(w *Watcher) {
		if n := w.Table().Collection("db.x").Chunks.Jumbo(); n != 120 {
			t.Fatalf("%d jumbo chunks", n)
		}
		f.change(func() {
			for i := 100; i < 220; i++ {
				c.rows[i].Jumbo = i == 150
			}
		})
		wait(3 * time.Minute)
		expect.Equal(t, w.Table().Collection("db.x").Chunks.Jumbo(), 1,
			"jumbo chunks three minutes after all but one were cleared")
	})
}

func TestZonesAreCompletedToKeys(t *testing.T) {
	f := newFake(t)
	c := f.add("db.x", 1, 0, 10)
	c.meta.Key = pattern(t, bson.E{Key: "k", Value: int32(1)})
	lo, _ := bson.Marshal(bson.D{{Key: "k", Value: int64(0)}})
	hi, _ := bson.Marshal(bson.D{{Key: "k", Value: int64(12)}})
	f.zones = []ZoneRange{{NS: "db.x", Zone: "z", RawMin: lo, RawMax: hi}, {NS: "db.plain", Zone: "y", RawMin: lo, RawMax: hi}}
	withWatcher(t, f, Options{}, func(w *Watcher) {
		table := w.Table()
		x := table.Collection("db.x")
		for i, want := range []struct {
			zone      string
			straddles bool
		}{{"", false}, {"z", false}, {"", true}} {
			if zone, straddles := table.ZoneOf(x, i); zone != want.zone || straddles != want.straddles {
				t.Errorf("chunk %d: zone %q, straddles %t", i, zone, straddles)
			}
		}
		if z := table.ZonesOf("db.plain"); len(z) != 1 || !z[0].Min.IsZero() {
			t.Errorf("ranges of a collection that is not sharded keep their documents only: %+v", z)
		}
	})
}
