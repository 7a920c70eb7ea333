package heat

import (
	"math"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// gini computes the index by its definition, over every pair.
func gini(x []float64) float64 {
	var diff, sum float64
	for _, a := range x {
		sum += a
		for _, b := range x {
			diff += math.Abs(a - b)
		}
	}
	if sum == 0 {
		return 0
	}
	return diff / (2 * float64(len(x)) * sum)
}

func TestSkewIsTheMeanDifferenceOfAllPairs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(0, 1e6), 1, 30).Draw(rt, "x")
		zeros := rapid.IntRange(0, 50).Draw(rt, "zeros")
		all := append(append([]float64{}, x...), make([]float64, zeros)...)
		got := IndexOf(x, len(all))
		if want := gini(all); math.Abs(got.Gini-want) > 1e-9 || got.N != len(all) {
			rt.Errorf("%v, want %v", got, want)
		}
	})
	if i := IndexOf([]float64{5, 5, 5}, 3); math.Abs(i.Gini) > 1e-12 || i.MaxMean != 1 {
		t.Errorf("even: %+v", i)
	}
	if i := IndexOf([]float64{9}, 10); math.Abs(i.Gini-0.9) > 1e-12 || i.MaxMean != 10 || i.Most != 1 {
		t.Errorf("one of ten: %+v", i)
	}
	if i := IndexOf(nil, 4); i.Gini != 0 || i.MaxMean != 0 || i.N != 4 {
		t.Errorf("nothing: %+v", i)
	}
}

// tableByRange is Yorkie's table with changes by a ranged key of one field, split at these ids.
func tableByRange(field string, cuts ...bson.ObjectID) *topology.Table {
	table, p := yorkieTable(), routing.Pattern(field)
	table.Collections[0] = routing.Collection("y.changes", p, routing.Bounds(p, cuts...), "a", "b")
	return table
}

// windowOn returns a window of slots that were counted with this table.
func windowOn(table *topology.Table, slots ...Slot) Window {
	c := NewCollector(nil, fixedTable{table}, profile.Yorkie(), Options{})
	of := targetOf(table, c.prof, "y.changes")
	for _, s := range slots {
		s.NS, s.To = "y.changes", s.From.Add(Tick)
		if s.Every == 0 {
			s.Every = 1
		}
		assignChunks(&s, table.Collection(s.NS), of)
		c.ring.add(s)
	}
	return c.Window("y.changes", time.Hour)
}

func TestGrowingKeyIsDetectedByWhereRowsWereWritten(t *testing.T) {
	begin := time.Unix(1_800_000_000, 0).Truncate(Tick)
	past := bson.NewObjectIDFromTimestamp(begin.Add(-time.Hour))
	var slots []Slot
	for i := range 6 {
		slots = append(slots, Slot{From: begin.Add(time.Duration(i) * Tick), Counts: []Count{{docID(1, 0), docID(1, i), 20}}})
	}
	byID := tableByRange("_id", past)
	g := windowOn(byID, slots...).Growing(byID)
	if !g.Is || g.Share != 1 || g.Rows != 120 || g.Slots != 6 || g.Of != 6 || g.Field != "_id" || g.Shard != "b" {
		t.Errorf(`got %+v, want Is true, Share 1, Rows 120, Slots 6, Of 6, Field "_id", Shard "b"`, g)
	}
	if w := windowOn(byID, slots[0]).Growing(byID); w.Is || w.Rows != 20 {
		t.Errorf("too little evidence: %+v, want Is false, Rows 20", w)
	}
	hashed := yorkieTable()
	if g := windowOn(hashed, slots...).Growing(hashed); g.Is {
		t.Errorf("a hashed key does not grow: %+v", g)
	}
	byDocument := tableByRange("doc_id", docID(1, 3))
	if g := windowOn(byDocument, slots...).Growing(byDocument); g.Is || g.Share != 0.5 {
		t.Errorf("half of it is elsewhere: %+v, want Is false, Share 0.5", g)
	}
}

func TestEffectOfASplitDependsOnWhoWrites(t *testing.T) {
	begin := time.Unix(1_800_000_000, 0).Truncate(Tick)
	judge := func(table *topology.Table, counts ...Count) Splitting {
		w := windowOn(table, Slot{From: begin, Counts: counts})
		return w.Splittings(table, profile.Yorkie(), w.Chunks(table, profile.Yorkie()))[0]
	}
	hashed := yorkieTable()
	if s := judge(hashed, Count{docID(1, 0), docID(1, 1), 90}); !s.Can || s.Code != "document" || s.Share != 1 ||
		s.DocumentText != docID(1, 1).Hex() {
		t.Errorf(`got %+v, want the splitting "document" of document 1 with the whole share`, s)
	}
	byProject := tableByRange("project_id", docID(1, 0), docID(2, 0), docID(9, 0))
	if s := judge(byProject, Count{docID(3, 0), docID(3, 1), 50}, Count{docID(4, 0), docID(4, 1), 50}); !s.Can || s.Code != "divides" {
		t.Errorf(`two projects: %+v, want Can true, Code "divides"`, s)
	}
	if s := judge(byProject, Count{docID(3, 0), docID(3, 1), 50}, Count{docID(3, 0), docID(3, 2), 50}); !s.Can || s.Code != "project" {
		t.Errorf(`one project among others: %+v, want Can true, Code "project"`, s)
	}
	next := docID(1, 0)
	next[11]++
	one := tableByRange("project_id", docID(1, 0), next)
	if s := judge(one, Count{docID(1, 0), docID(1, 1), 50}); s.Can || s.Code != "single" {
		t.Errorf(`a chunk of one project: %+v, want Can false, Code "single"`, s)
	}
	hash := shardkey.HashObjectID(docID(1, 1))
	narrow := yorkieTable()
	narrow.Collections[0] = routing.Collection("y.changes", narrow.Collections[0].Key,
		[]shardkey.Key{shardkey.HashKey(hash), shardkey.HashKey(hash + 1)}, "a")
	if s := judge(narrow, Count{docID(1, 0), docID(1, 1), 50}); s.Can || s.Code != "single" {
		t.Errorf(`a chunk of one hash: %+v, want Can false, Code "single"`, s)
	}
}

func TestPartOfAWindowHasOnlyItsOwnDocuments(t *testing.T) {
	table := yorkieTable()
	c := table.Collection("y.changes")
	w := windowOn(table, Slot{From: time.Unix(1_800_000_000, 0).Truncate(Tick), Every: 10, Counts: []Count{
		{docID(1, 0), docID(1, 1), 9}, {docID(1, 0), docID(1, 2), 5}, {docID(2, 0), docID(2, 1), 4}, {docID(2, 0), docID(2, 9), 2}}})
	var all int64
	for _, ch := range c.Chunks.All() {
		part := w.Within(table, profile.Yorkie(), shardkey.Range{Min: ch.Min, Max: ch.Max})
		var rows int64
		for _, l := range part.Documents() {
			rows += l.Rate.Rows
		}
		if rate := part.Range(); rate.Rows != rows {
			t.Errorf("%d rows in documents, %d in the range", rows, rate.Rows)
		}
		all += rows
	}
	expect.Equal(t, all, 20, "rows in all parts")
}
