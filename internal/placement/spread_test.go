package placement

import (
	"slices"
	"testing"

	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

func collectionSpread(t *testing.T, s Spread, coll string) CollectionSpread {
	t.Helper()
	i := slices.IndexFunc(s.Collections, func(c CollectionSpread) bool { return c.NS.Collection() == coll })
	if i < 0 {
		t.Fatalf("no %s in the spread", coll)
	}
	return s.Collections[i]
}

func TestSpreadShowsWhereEachCollectionIsAndWhatCanBeDone(t *testing.T) {
	p := project(5, "app", "")
	p.Documents = topology.Figure{Known: true, Value: 12}
	s := SpreadOf(testTable(), profile.Yorkie(), p)
	if s.Layout != "yorkie-head" {
		t.Errorf(`layout %s, want "yorkie-head"`, s.Layout)
	}
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
