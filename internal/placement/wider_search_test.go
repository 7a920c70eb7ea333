package placement

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/topology"
)

func manyProjects(n int) []Project {
	out := make([]Project, n)
	for i := range out {
		out[i] = Project{DB: db, ID: bson.ObjectID{0: 1, 10: byte(i >> 8), 11: byte(i)}, Name: fmt.Sprintf("p%d", i)}
	}
	return out
}

func TestDocumentKeyIsSearchedInAllProjectsOnlyWhenAsked(t *testing.T) {
	projects := manyProjects(2500)
	src := &fakeSource{docs: []DocumentRow{
		{ID: oid(201), Project: projects[2400].ID, Key: "plan"}, {ID: oid(202), Project: projects[7].ID, Key: "plan", Removed: true},
		{ID: oid(203), Project: projects[7].ID, Key: "plan"}, {ID: oid(204), Project: projects[8].ID, Key: "Plan"},
	}}
	l := locator(t, src, projects...)
	a, err := l.Ask(t.Context(), Query{Text: "plan", Near: true})
	if fault.Of(err) != fault.NotFound || len(src.asked) > 0 {
		t.Fatalf("without being asked: %v, %v", src.asked, err)
	}
	i := slices.IndexFunc(a.Wider, func(w WiderSearch) bool { return w.In == InProjects })
	if i < 0 || a.Wider[i].Queries != 3 || a.Wider[i].Shards != 2 || a.Wider[i].Projects != 2500 || a.Wider[i].Time != WiderTime {
		t.Errorf("offered: %+v, want 3 queries to 2 shards", a.Wider)
	}
	a, err = l.Ask(t.Context(), Query{Text: "plan", In: InProjects})
	if err != nil || a.Cost != (Cost{Targeted: 3}) || len(src.asked) != 3 {
		t.Fatalf("cost %+v, asked %v, %v", a.Cost, src.asked, err)
	}
	var found []string
	for _, it := range a.Items {
		found = append(found, fmt.Sprint(it.Project.Name, " ", it.Removed))
	}
	expect.EqualSlices(t, found, []string{"p7 false", "p7 true", "p2400 false"}, "found")
	if _, err := l.Ask(t.Context(), Query{Text: "nowhere", In: InProjects}); fault.Of(err) != fault.NotFound ||
		!strings.Contains(fault.Text(err), "2500") {
		t.Errorf("a key that no project has: %v", err)
	}
}

func TestSearchInAllProjectsIsBoundedAndSaysWhatItLeftOut(t *testing.T) {
	projects := manyProjects(2000)
	var docs []DocumentRow
	for i := range 80 {
		docs = append(docs, DocumentRow{ID: bson.ObjectID{9, byte(i)}, Project: projects[i].ID, Key: "k"})
	}
	a, err := locator(t, &fakeSource{docs: docs}, projects...).Ask(t.Context(), Query{Text: "k", In: InProjects})
	if err != nil || len(a.Items) != MaxKeyMatches || len(a.Notes) != 1 || a.Notes[0].Code != "note.moreMatches" {
		t.Errorf("%d items, notes %v, %v", len(a.Items), a.Notes, err)
	}
	slow := fault.New(fault.Unavailable, "Too slow.")
	src := &fakeSource{docs: docs[:1], late: map[int]error{2: slow}}
	a, err = locator(t, src, projects...).Ask(t.Context(), Query{Text: "none", In: InProjects})
	if fault.Of(err) != fault.NotFound || len(a.Notes) != 1 || a.Notes[0].Code != "note.projectsLate" ||
		!strings.Contains(fault.Text(err), "not searched in time: 1") {
		t.Errorf("half of it late: %v, %v", a.Notes, err)
	}
	src = &fakeSource{late: map[int]error{1: slow, 2: slow}}
	if _, err = locator(t, src, projects...).Ask(t.Context(), Query{Text: "k", In: InProjects}); fault.Of(err) != fault.Unavailable {
		t.Errorf("all of it late: %v", err)
	}
	src = &fakeSource{err: fault.New(fault.Forbidden, "Not permitted.")}
	if _, err = locator(t, src, projects...).Ask(t.Context(), Query{Text: "k", In: InProjects}); fault.Of(err) != fault.Forbidden {
		t.Errorf("not permitted: %v", err)
	}
	if _, err = locator(t, src).Ask(t.Context(), Query{Text: "k", In: "everything"}); fault.Of(err) != fault.Invalid {
		t.Errorf("an unknown place: %v", err)
	}
}

func TestIDOfARowOfAnyKnownCollectionIsFound(t *testing.T) {
	change, doc := bson.ObjectID{7, 7}, oid(9)
	row := must.Get(bson.Marshal(bson.D{{Key: "_id", Value: change}, {Key: "doc_id", Value: doc}, {Key: "project_id", Value: oid(5)}}))
	src := &fakeSource{rows: map[topology.Namespace][]bson.Raw{db + ".changes": {row}},
		denied: map[topology.Namespace]error{db + ".snapshot_bodies": fault.New(fault.Forbidden, "no")}}
	l := locator(t, src, project(5, "app", ""))
	a, err := l.Ask(t.Context(), Query{Text: change.Hex()})
	if err != nil || len(a.Items) != 1 {
		t.Fatalf("%+v, %v", a.Items, err)
	}
	it := a.Items[0]
	if it.Kind != "row" || it.Name != "changes" || it.ID != change.Hex() || it.Project == nil || it.Project.Name != "app" {
		t.Errorf("%+v", it)
	}
	if p := it.Places[0]; !p.Exact || p.Exists != "yes" || p.Hash == nil {
		t.Errorf("place %+v, want one shard by the hash of doc_id", p)
	}
	if len(a.Notes) != 1 || a.Notes[0].Code != "note.collectionsDenied" {
		t.Errorf("notes %v, want that snapshot_bodies was not searched", a.Notes)
	}
}

func TestOtherIDsAreSearchedInShardedCollectionsWhenAsked(t *testing.T) {
	src := &fakeSource{rows: map[topology.Namespace][]bson.Raw{}}
	l := locator(t, src, project(5, "app", ""))
	f := l.tables.(fixedTable)
	f.t.Collections = append(f.t.Collections, collection("orders", routing.Pattern("region"), nil, "c"))
	for _, id := range []any{"A-17", int32(17), int64(17), float64(17.5), bson.Binary{Subtype: 4, Data: make([]byte, 16)}, oid(77)} {
		row := must.Get(bson.Marshal(bson.D{{Key: "_id", Value: id}, {Key: "region", Value: "eu"}}))
		src.rows[db+".orders"] = append(src.rows[db+".orders"], row)
	}
	for _, text := range []string{"A-17", "17.5", "00000000-0000-0000-0000-000000000000", oid(77).Hex()} {
		src.asked = nil
		a, err := l.Ask(t.Context(), Query{Text: text, In: InCollections})
		if err != nil || len(a.Items) != 1 || !slices.Equal(a.Items[0].Places[0].Shards, []string{"c"}) {
			t.Errorf("%s: %+v, %v, want one row on c", text, a.Items, err)
		}
		if a.Cost != (Cost{Broadcast: 4}) || len(src.asked) != 4 {
			t.Errorf("%s: cost %+v, asked %q, want 4 collections", text, a.Cost, src.asked)
		}
	}
	if _, err := l.Ask(t.Context(), Query{Text: `{"$gt":""}`, In: InCollections}); fault.Of(err) != fault.NotFound {
		t.Errorf("an operator is text: %v", err)
	}
}
