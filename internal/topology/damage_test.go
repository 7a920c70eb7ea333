package topology

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/shardkey"
)

// Random damage to some of twelve collections, before or after the watcher has seen them whole: the others are complete
// and right, the damaged ones are named with exactly the keys that no shard or several shards own, and mended ones are
// good again at the next poll.
func TestDamageOfOneCollectionStaysItsOwn(t *testing.T) {
	seeds := uint64(1000)
	if testing.Short() {
		seeds = 60
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 2))
			f := newFake(t)
			for i := range 12 {
				var cuts []int64
				for k := range int64(rng.IntN(12)) {
					cuts = append(cuts, k*10)
				}
				f.add(Namespace(fmt.Sprintf("db.c%02d", i)), byte(i+1), cuts...)
			}
			whole := map[Namespace][]Chunk{}
			for ns, c := range f.colls {
				whole[ns] = slices.Clone(c.rows)
			}
			broken := map[Namespace]bool{}
			hurt := func() {
				for ns, c := range f.colls {
					if rng.IntN(4) == 0 {
						broken[ns] = c.hurt(rng)
					}
				}
			}
			late := rng.IntN(2) == 0
			if !late {
				hurt()
			}
			withWatcher(t, f, Options{}, func(w *Watcher) {
				if late {
					f.change(hurt)
				}
				wait(3 * time.Minute) // a row that is missing is found by the sweep
				table := w.Table()
				if h := table.Health[PartRouting]; h.Err != nil || !table.Loaded {
					t.Fatalf("the cluster counts as unreachable: %v", h.Err)
				}
				for ns, c := range f.colls {
					f.check(t, table, ns, c, broken[ns], late)
				}
				f.change(func() {
					for ns, c := range f.colls {
						c.rows = whole[ns]
					}
				})
				wait(4 * time.Second)
				for ns, c := range f.colls {
					f.check(t, w.Table(), ns, c, false, late)
				}
			})
		})
	}
}

// hurt takes chunks out, or makes one longer, with a new version beside it so that a poll sees it.
func (c *fakeColl) hurt(rng *rand.Rand) (broken bool) {
	v := c.highest()
	i := rng.IntN(len(c.rows))
	switch {
	case rng.IntN(8) == 0:
		c.rows = nil
		return true
	case len(c.rows) > 1 && (rng.IntN(2) == 0 || i+1 == len(c.rows)):
		c.rows = slices.Delete(slices.Clone(c.rows), i, i+1)
	case i+1 < len(c.rows):
		c.rows = slices.Clone(c.rows)
		c.rows[i].Max = c.rows[min(i+1+rng.IntN(2), len(c.rows)-1)].Max
		c.rows[i+1].Version = Version{v.Major + 1, 0} // newer: an older row inside a newer one is superseded, as for mongos
		return true
	default:
		return false
	}
	c.rows[rng.IntN(len(c.rows))].Version = Version{v.Major + 1, 0}
	return true
}

// check compares what the table says of a collection with its rows.
func (f *fake) check(t *testing.T, table *Table, ns Namespace, c *fakeColl, broken, seenWhole bool) {
	t.Helper()
	d, col := table.DamageOf(ns), table.Collection(ns)
	if !broken {
		expect.That(t, d == nil && col != nil && col.Chunks.Len() == len(c.rows), "%s is sound, got damage %+v", ns, d)
		return
	}
	if d == nil || (col != nil) != seenWhole {
		t.Fatalf("%s: got damage %+v, last good picture %t, want damage and %t", ns, d, col != nil, seenWhole)
	}
	if len(c.rows) == 0 {
		if d.Kind != DamageEmpty || d.Kind.Inconsistency() != "MissingRoutingTable" {
			t.Errorf("%s has no chunks: got %s", ns, d.Kind)
		}
		return
	}
	for n := int64(-5); n < 130; n += 5 {
		k := at(t, c.meta.Key, n)
		var want []string
		for _, r := range c.rows {
			if r.Min.Compare(k) <= 0 && k.Compare(r.Max) < 0 {
				want = append(want, r.Shard)
			}
		}
		got, of, known := d.Owners(k)
		slices.Sort(want)
		got = slices.Sorted(slices.Values(got))
		if !known || !slices.Equal(got, want) || !(shardkey.Range{Min: of.Min, Max: of.Max}).Contains(k) {
			t.Errorf("%s: %d is owned by %v in %v, want %v (rows %v)", ns, n, got, of, want, c.rows)
		}
		listed := slices.ContainsFunc(d.Places, func(p DamagedRange) bool { return p.Min.Compare(k) <= 0 && k.Compare(p.Max) < 0 })
		expect.Equal(t, listed, (len(want) != 1), "%s: whether %d, with owners %v, is listed", ns, n, want)
	}
}

// Rows that cannot both be true are found in whatever order they come, confirmed by a read of all parts that began
// later, and forgotten when they are mended.
func TestContradictionsAreFoundConfirmedAndForgotten(t *testing.T) {
	f := newFake(t)
	f.add("db.sound", 1, 10, 20)
	lost := f.add("db.lost", 2, 10)
	f.add("other.c", 3, 10)
	tracked := f.add("db.tracked", 4)
	tracked.meta.Unsplittable = true
	bound := func(field string, n int64) bson.Raw {
		return must.Get(bson.Marshal(bson.D{{Key: field, Value: n}}))
	}
	withWatcher(t, f, Options{}, func(w *Watcher) {
		wait(time.Second)
		f.change(func() {
			lost.move(1, "gone")
			f.databases = append(f.databases, Database{Name: "orphaned", Primary: "gone"})
			split := tracked.rows[0]
			tracked.rows = []Chunk{split, split}
			key := at(t, tracked.meta.Key, 5)
			tracked.rows[0].Max, tracked.rows[1].Min = key, key
			tracked.rows[1].Version = Version{2, 0}
			field := f.colls["db.sound"].meta.Key.Fields()[0].Name
			f.zones = []ZoneRange{
				{NS: "db.sound", Zone: "x", RawMin: bound(field, 0), RawMax: bound(field, 10)},
				{NS: "db.sound", Zone: "y", RawMin: bound(field, 5), RawMax: bound(field, 20)},
				{NS: "db.sound", Zone: "z", RawMin: bound("wrong", 5), RawMax: bound("wrong", 20)},
			}
		})
		wait(time.Minute)
		var got []Contradiction
		for _, c := range w.Table().Contradictions {
			expect.That(t, !c.Since.IsZero() && c.Confirmed, "%+v is not confirmed after a minute", c)
			c.Since, c.Confirmed = time.Time{}, false
			got = append(got, c)
		}
		want := []Contradiction{
			{Kind: ChunkOwnerUnknown, NS: "db.lost", Shard: "gone", Chunks: 1},
			{Kind: DatabaseUnknown, NS: "other.c", Database: "other"},
			{Kind: PrimaryUnknown, Database: "orphaned", Shard: "gone"},
			{Kind: ManyChunks, NS: "db.tracked", Chunks: 2},
			{Kind: ZoneBound, NS: "db.sound", Zone: "z"},
			{Kind: ZonesOverlap, NS: "db.sound", Zone: "x", Other: "y"},
		}
		expect.That(t, slices.Equal(got, want), "got %+v\nwant %+v", got, want)
		f.change(func() {
			f.shards = append(f.shards, Shard{Name: "gone"})
			f.databases = append(f.databases, Database{Name: "other", Primary: "b"})
			f.zones = nil
			tracked.meta.Unsplittable = false
		})
		wait(time.Minute)
		expect.Len(t, w.Table().Contradictions, 0, "mended, and still")
	})
}

// A shard that is added, gets a chunk and is listed only by the next read of the shards is no contradiction: it is
// never confirmed.
func TestANewShardIsNoContradiction(t *testing.T) {
	f := newFake(t)
	c := f.add("db.c", 1, 10, 20)
	withWatcher(t, f, Options{}, func(w *Watcher) {
		for i := range 20 {
			wait(time.Duration(i) * 700 * time.Millisecond)
			f.change(func() {
				name := string(rune('k' + i))
				f.shards = append(f.shards, Shard{Name: name})
				c.move(i%3, name)
			})
			for range 100 {
				wait(100 * time.Millisecond)
				if slices.ContainsFunc(w.Table().Contradictions, func(c Contradiction) bool { return c.Confirmed }) {
					t.Fatalf("%+v", w.Table().Contradictions)
				}
			}
		}
	})
}

// A command that answers once and ends reads again before it takes two reads for a contradiction.
func TestLoadConfirmsContradictions(t *testing.T) {
	f := newFake(t)
	f.add("other.c", 1, 10)
	table, err := NewWatcher(f, Options{}).Load(t.Context())
	if err != nil || len(table.Contradictions) != 1 || !table.Contradictions[0].Confirmed {
		t.Errorf("%v: %+v", err, table.Contradictions)
	}
}
