package placement

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

func collectionSpread(t *testing.T, s Spread, coll string) CollectionSpread {
	t.Helper()
	i := slices.IndexFunc(s.Collections, func(c CollectionSpread) bool { return c.NS.Collection() == coll })
	must.That(t, i >= 0, "no %s in the spread", coll)
	return s.Collections[i]
}

func TestSpreadShowsWhereEachCollectionIsAndWhatCanBeDone(t *testing.T) {
	p := project(5, "app", "")
	p.Documents = topology.Figure{Known: true, Value: 12}
	s := SpreadOf(testTable(), profile.Yorkie(), p)
	expect.Equal(t, s.Layout, "yorkie-head", "layout")
	docs := collectionSpread(t, s, "documents")
	if !docs.Exact || docs.Basis != BasisKeyPrefix || len(docs.Shards) != 1 || docs.Shards[0].Shard != "b" {
		t.Errorf(`documents: %+v, want Exact true, Basis %v, len(Shards) 1, Shards[0].Shard "b"`, docs, BasisKeyPrefix)
	}
	if docs.Shards[0].Documents.Value != 12 || docs.Shards[0].Bytes.Known {
		t.Errorf("documents' figures: %+v, want Documents.Value 12, Bytes.Known false", docs.Shards[0])
	}
	if !docs.Pin.Can || !docs.Split.Can || docs.Split.Why.Code != "split.betweenProjects" {
		t.Errorf("documents: pin %+v split %+v", docs.Pin, docs.Split)
	}
	clients := collectionSpread(t, s, "clients")
	if len(clients.Shards) != 2 || clients.Shards[0].Share != 0.5 || !clients.Split.Can || clients.Split.Why.Args()["field"] != "_id" {
		t.Errorf("clients: %+v", clients)
	}
	changes := collectionSpread(t, s, "changes")
	if changes.Exact || changes.Basis != BasisByDocument || len(changes.Shards) != 3 || changes.Pin.Can {
		t.Errorf("changes: %+v, want Exact false, Basis %v, len(Shards) 3, Pin.Can false", changes, BasisByDocument)
	}
	bodies := collectionSpread(t, s, "snapshot_bodies")
	if bodies.Sharded || !bodies.Exact || bodies.Shards[0].Shard != "a" || bodies.Split.Why.Code != "split.unsharded" {
		t.Errorf(`snapshot_bodies: %+v, want Sharded false, Exact true, Shards[0].Shard "a", Split.Why.Code "split.unsharded"`, bodies)
	}
	if rev := collectionSpread(t, s, "revisions"); rev.Presence != PresenceNo || len(rev.Shards) != 0 {
		t.Errorf("revisions: %+v, want Presence %v, len(Shards) 0", rev, PresenceNo)
	}

	// A chunk that ends where the project does, with an ObjectID or a whole number as its id.
	five := p
	five.Stored = StoredOf(rawOf(t, int64(5)))
	for _, x := range []struct {
		project Project
		bounds  []any
	}{{p, []any{oid(5), oid(6)}}, {five, []any{int64(5), int64(6)}}} {
		table, one := testTable(), routing.Pattern("project_id")
		table.Collections[2] = collection("documents", one, routing.Bounds(one, x.bounds...), "a", "b", "c")
		docs = collectionSpread(t, SpreadOf(table, profile.Yorkie(), x.project), "documents")
		if docs.Split.Can || docs.Split.Why.Code != "split.singleValue" {
			t.Errorf("documents in a chunk of their own: split %+v", docs.Split)
		}
	}

	// A key that has the project in the second place.
	table, region := testTable(), routing.Pattern("region", "project_id")
	table.Collections[2] = collection("documents", region, []shardkey.Key{routing.Bound(region, int64(5), oid(1))}, "a", "b")
	docs = collectionSpread(t, SpreadOf(table, profile.Yorkie(), p), "documents")
	if docs.Exact || docs.Basis != BasisOtherKey || len(docs.Shards) != 2 || docs.Pin.Can || docs.Split.Why.Args()["field"] != "region" {
		t.Errorf("documents by region: %+v, want any of 2 shards, split at regions", docs)
	}
}

// From 8.0 on, a collection that is not sharded may be on another shard than the primary one of its database.
func TestAnUnshardedCollectionOfItsOwnPlaceIsNotOnThePrimaryShard(t *testing.T) {
	tab, key := testTable(), routing.Pattern("_id")
	moved := collection("snapshot_bodies", key, nil, "c")
	moved.Unsplittable = true
	tab.Collections = append(tab.Collections, moved)
	spread := func() CollectionSpread {
		return collectionSpread(t, SpreadOf(tab, profile.Yorkie(), project(5, "app", "")), "snapshot_bodies")
	}
	if s := spread(); s.Sharded || !s.Exact || s.Basis != BasisTracked || s.Shards[0].Shard != "c" || s.Pin.Why.Code != "pin.tracked" {
		t.Errorf("snapshot_bodies: %+v", s)
	}
	tab.Collections = tab.Collections[:len(tab.Collections)-1]
	tab.Damaged = []*topology.Damage{{Meta: moved.Meta, Kind: topology.DamageGap}}
	if s := spread(); s.Sharded || s.Basis != BasisUnknown || s.BasisText() != "Its chunks are not known." {
		t.Errorf("damaged: %+v, %s", s, s.BasisText())
	}
}

func TestWithoutListCollectionsPresenceIsUnknownNotAbsent(t *testing.T) {
	tab := testTable()
	tab.Unsharded = nil
	if rev := collectionSpread(t, SpreadOf(tab, profile.Yorkie(), project(5, "app", "")), "revisions"); rev.Presence != PresenceUnknown ||
		len(rev.Shards) != 1 {
		t.Errorf("revisions: %+v, want Presence %v, len(Shards) 1", rev, PresenceUnknown)
	}
}

func TestContentsOfAShardNameTheAffectedProjects(t *testing.T) {
	dir := NewDirectory(1, []string{db}, []Project{project(4, "four", ""), project(5, "five", ""), project(6, "six", "")}, topology.Health{})
	on := func(shard string) map[string]float64 {
		out := map[string]float64{}
		for _, p := range ShardContents(testTable(), dir, profile.Yorkie(), shard).Projects {
			out[p.Project.Name] = p.Share
		}
		return out
	}
	// four: documents and clients on a; five: documents on b, clients on a and c; six: documents on b, clients on c.
	if got := on("a"); got["four"] != 1 || got["five"] != 0.25 || len(got) != 2 {
		t.Errorf(`on a: %v, want ["four"] 1, ["five"] 0.25, len 2`, got)
	}
	if got := on("b"); got["five"] != 0.5 || got["six"] != 0.5 || len(got) != 2 {
		t.Errorf(`on b: %v, want ["five"] 0.5, ["six"] 0.5, len 2`, got)
	}
	c := ShardContents(testTable(), dir, profile.Yorkie(), "c")
	if len(c.ByDocument) != 1 || c.ByDocument[0].NS != db+".changes" || c.ByDocument[0].Of != 3 {
		t.Errorf("by document on c: %+v, want len 1, [0].NS %v, [0].Of 3", c.ByDocument, db+".changes")
	}
	a := ShardContents(testTable(), dir, profile.Yorkie(), "a")
	if n := len(a.Collections); n != 5 { // three sharded, two unsharded
		t.Errorf("%d collections on a: %+v, want 5", n, a.Collections)
	}
	for _, c := range a.Collections {
		if c.Size.Bytes.Known || c.Size.Bytes.Reason == "" {
			t.Errorf("%s: a size nobody read: %+v, want c.Size.Bytes.Known false, c.Size.Bytes.Reason not empty", c.NS, c.Size.Bytes)
		}
	}
}

// Owner is the shard of the place that answers give to a row with all values of the shard key, as stored:
// for comparisons with the cluster and for measurements.
func Owner(c *topology.Collection, values ...bson.RawValue) (string, error) {
	p := Place{NS: c.NS}
	if err := p.inChunks(noZones, c, values); err != nil {
		return "", err
	}
	return p.Shards[0], nil
}

var noZones = &topology.Table{}

type askedOwners struct{ times int }

func (a *askedOwners) Owners(context.Context, topology.Namespace) ([]topology.OwnersRow, bool, error) {
	a.times++
	return []topology.OwnersRow{{Shards: []string{"s"}}}, true, errors.New("one row was left out")
}

func TestOwnersAreAskedForOnceInTenSeconds(t *testing.T) {
	src, now := &askedOwners{}, time.Unix(1, 0)
	o := NewOwners(src, func() time.Time { return now })
	for _, step := range []struct {
		after time.Duration
		ns    topology.Namespace
		want  int
	}{{0, "a.b", 1}, {9 * time.Second, "a.b", 1}, {0, "a.c", 2}, {time.Second, "a.b", 3}} {
		now = now.Add(step.after)
		rows, more, err := o.Owners(t.Context(), step.ns)
		if len(rows) != 1 || !more || err == nil || src.times != step.want {
			t.Errorf("%s: asked %d times, want %d; %v %v %v", step.ns, src.times, step.want, rows, more, err)
		}
	}
}

// For any rows, the reported interval contains the true share.
func TestRowShareIntervalContainsTheTruth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sums tally
		var here, all float64
		whole := true
		for range rapid.IntRange(1, 4).Draw(t, "collections") {
			rows := float64(rapid.IntRange(0, 1000).Draw(t, "rows"))
			known := rowsOf{low: rows, high: rows, counted: true}
			switch rapid.IntRange(0, 2).Draw(t, "known") {
			case 1:
				known = rowsOf{high: rows + float64(rapid.IntRange(0, 500).Draw(t, "others"))}
			case 2:
				known = rowsOf{high: math.Inf(1)}
			}
			p := ProjectPart{Of: rapid.IntRange(1, 3).Draw(t, "of")}
			p.Chunks = rapid.IntRange(0, p.Of).Draw(t, "chunks")
			part := 0.0
			switch p.Chunks {
			case 0:
			case p.Of:
				part = 1
			default:
				part = rapid.Float64Range(0, 1).Draw(t, "part")
			}
			whole = whole && p.Chunks == p.Of
			sums.add(p, known)
			here, all = here+rows*part, all+rows
		}
		got := sums.share(whole)
		switch {
		case !got.Known && got.Reason == "":
			t.Fatal("neither a share nor a reason")
		case !got.Known:
			return
		case got.Low < 0 || got.High > 1 || got.Low > got.High || got.Method == "":
			t.Fatalf("got %+v, want an interval within 0 and 1 and a method", got)
		case whole != got.Exact:
			t.Fatalf("whole %v, exact %v", whole, got.Exact)
		}
		const eps = 1e-9
		if truth := here / all; all > 0 && (truth < got.Low-eps || truth > got.High+eps) {
			t.Fatalf("%g of %g rows is a share of %g, reported as %g to %g", here, all, truth, got.Low, got.High)
		}
	})
}

// One chunk of three can have all the rows or none, so the share of chunks is not the
// share of rows.
func TestRowShareIsNotTheShareOfChunks(t *testing.T) {
	count := func(n int64) topology.Figure { return topology.Figure{Known: true, Value: n} }
	var sums tally
	sums.add(ProjectPart{Chunks: 1, Of: 1}, rowsOf{low: 900, high: 900, counted: true})
	sums.add(ProjectPart{Chunks: 0, Of: 1}, rowsOf{low: 100, high: 100, counted: true})
	if got := sums.share(false); got.Low != 0.9 || got.High != 0.9 || got.Exact || got.Method != "projectStats" {
		t.Errorf(`got %+v, want Low 0.9, High 0.9, Exact false, Method "projectStats"`, got)
	}
	sums.add(ProjectPart{Chunks: 0, Of: 2}, rowsOf{high: float64(count(1000).Value)})
	if got := sums.share(false); got.Low != 0.45 || got.High != 0.9 || got.Method != "rowBounds" {
		t.Errorf(`got %+v, want Low 0.45, High 0.9, Method "rowBounds"`, got)
	}
}
