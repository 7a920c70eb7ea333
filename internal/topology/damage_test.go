package topology

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
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
		if d != nil || col == nil || col.Chunks.Len() != len(c.rows) {
			t.Errorf("%s is sound, got damage %+v", ns, d)
		}
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
