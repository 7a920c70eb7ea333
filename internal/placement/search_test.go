package placement

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/topology"
)

func TestExactNameWinsOverNamesNearToIt(t *testing.T) {
	l := locator(t, &fakeSource{}, project(1, "app", ""), project(2, "APP", ""), project(3, "apple", ""))
	for typed, want := range map[string]byte{"app": 1, "APP": 2} {
		a, err := l.Ask(t.Context(), Query{Text: typed, Near: true})
		if err != nil || len(a.Items) != 1 || a.Items[0].ID != oid(want).Hex() || len(a.Items[0].Notes) > 0 || a.Near != nil {
			t.Errorf("%s: %+v, %v, want project %d without a note", typed, a.Items, err, want)
		}
	}
}

func TestOnlyNearNameAnswersWithANote(t *testing.T) {
	src := &fakeSource{docs: []DocumentRow{{ID: oid(9), Project: oid(1), Key: "k"}}}
	l := locator(t, src, project(1, "Wiki-Pages", ""), project(2, "shop", ""))
	for _, typed := range []string{"wiki-pages", "WIKI", "wiki/k"} {
		a, err := l.Ask(t.Context(), Query{Text: typed, Near: true})
		if err != nil || len(a.Items) != 1 || a.Items[0].Project.Name != "Wiki-Pages" {
			t.Errorf("%s: %+v, %v, want Wiki-Pages", typed, a.Items, err)
			continue
		}
		name, _, _ := strings.Cut(typed, "/")
		if n := a.Items[0].Notes; len(n) != 1 || n[0].Code != NoteNearName ||
			n[0].String() != "You typed "+name+". No project has exactly this name; this is Wiki-Pages." {
			t.Errorf("%s: notes %v", typed, n)
		}
	}
	if _, err := l.Ask(t.Context(), Query{Text: "wiki/none", Near: true}); fault.Of(err) != fault.NotFound ||
		!strings.Contains(fault.Text(err), "No project has exactly this name") {
		t.Errorf("a document of a near project: %v", err)
	}
	// A program that did not ask for near names never gets another project's shard.
	if a, err := l.Ask(t.Context(), Query{Text: "wiki"}); fault.Of(err) != fault.NotFound || len(a.Items) > 0 ||
		!strings.HasSuffix(fault.Text(err), `Did you mean "Wiki-Pages"?`) {
		t.Errorf("without near names: %+v, %v", a.Items, err)
	}
}

func TestSeveralNearNamesAreListedAndNoneIsTaken(t *testing.T) {
	l := locator(t, &fakeSource{}, project(1, "app-1", ""), project(2, "APP-2", ""), project(3, "orders", ""), project(4, "Orders", ""))
	for typed, want := range map[string]struct {
		how   Nearness
		names []string
	}{
		"app": {NearBeginning, []string{"APP-2", "app-1"}}, "ORDERS": {NearCase, []string{"Orders", "orders"}},
		"odrers": {NearSpelling, []string{"Orders", "orders"}}, "app-12": {NearSpelling, []string{"APP-2", "app-1"}},
	} {
		a, err := l.Ask(t.Context(), Query{Text: typed, Near: true})
		if fault.Of(err) != fault.NotFound || len(a.Items) > 0 || a.Near == nil || a.Near.How != want.how {
			t.Errorf("%s: %+v, %+v, %v", typed, a.Items, a.Near, err)
			continue
		}
		var names []string
		for _, p := range a.Near.Projects {
			names = append(names, p.Name)
		}
		slices.Sort(names)
		expect.EqualSlices(t, names, want.names, "%s: near", typed)
	}
	one := locator(t, &fakeSource{}, project(1, "orders", ""))
	a, err := one.Ask(t.Context(), Query{Text: "odrers", Near: true})
	if fault.Of(err) != fault.NotFound || len(a.Items) > 0 ||
		a.Near == nil {
		t.Errorf("a spelling is a guess, it is never taken: %+v, %v", a.Items, err)
	}
	for _, typed := range []string{"zz", "nothing-like-it", strings.Repeat("o", 4096), "\x01\x02\x03", "ör"} {
		if a, err := l.Ask(t.Context(), Query{Text: typed, Near: true}); fault.Of(err) != fault.NotFound || a.Near != nil {
			t.Errorf("%.20q: near %+v, %v", typed, a.Near, err)
		}
	}
}

func TestKeyShapedTextIsComparedWithNoName(t *testing.T) {
	l := locator(t, &fakeSource{}, project(1, apiKey+"-copy", ""), project(2, apiKey[:21]+"x", ""))
	for _, typed := range []string{apiKey, apiKey + "/doc"} {
		a, err := l.Ask(t.Context(), Query{Text: typed, Near: true})
		if fault.Of(err) != fault.NotFound || a.Near != nil || len(a.Items) > 0 {
			t.Errorf("%s: %+v, near %+v, %v", typed, a.Items, a.Near, err)
		}
	}
}

func TestBoundedDistanceIsTheWholeOne(t *testing.T) {
	letters := rapid.SliceOfN(rapid.SampledFrom([]byte("abc")), 0, 9)
	var s speller
	rapid.Check(t, func(t *rapid.T) {
		a, b := string(letters.Draw(t, "a")), string(letters.Draw(t, "b"))
		most := rapid.IntRange(0, 4).Draw(t, "most")
		if got, want := s.distance(a, b, most), min(wholeDistance(a, b), most+1); got != want {
			t.Fatalf("%q %q: %d of at most %d, want %d", a, b, got, most, want)
		}
	})
}

// wholeDistance fills the whole table, as textbooks do.
func wholeDistance(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			same := 1
			if a[i-1] == b[j-1] {
				same = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+same)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}

// TestASearchRanksProjectsTheSameEverywhere: lists and the palette name the same project first.
func TestASearchRanksProjectsTheSameEverywhere(t *testing.T) {
	named := func(i byte, name, key string) Project {
		return Project{DB: db, ID: oid(i), Name: name, PublicKey: key}
	}
	d := NewDirectory(1, []string{db}, []Project{
		named(1, "my boards", "aaaaAAAA"), named(2, "Boards", "bbbbBBBB"), named(3, "boards-2", "ccccCCCC"), named(4, "other", "boardsKEY"),
		named(5, oid(4).Hex(), "ddddDDDD"),
	}, topology.Health{})
	for _, c := range []struct{ text, want string }{
		{"boards", "Boards, boards-2, other, my boards"},
		{" BOARDS ", "Boards, boards-2, other, my boards"},
		{"boards my", "my boards"},
		{"bbbbbbbb", "Boards"},
		{oid(2).Hex(), "Boards"},
		{oid(4).Hex(), oid(4).Hex() + ", other"},
		{"nothing", ""},
	} {
		var names []string
		found := d.Search(c.text)
		for _, p := range found {
			names = append(names, p.Name)
		}
		expect.Equal(t, strings.Join(names, ", "), c.want, "what %q finds", c.text)
		best := d.Match(strings.Fields(strings.ToLower(c.text)), 1)
		if len(found) > 0 && (!slices.Equal(best.Items, found[:1]) || best.More != len(found)-1) {
			t.Errorf("%q: the palette has %v and %d more, the list %q", c.text, best.Items, best.More, names)
		}
	}
	expect.Equal(t, len(d.Search(" ")), 5, "a text without words does not list all")
}

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
	moved := collection("snapshot_bodies", routing.Pattern("_id"), nil, "b")
	moved.Unsplittable = true
	f := l.tables.(fixedTable)
	sharded := len(f.t.Collections)
	f.t.Collections = append(f.t.Collections, moved)
	a, err := l.Ask(t.Context(), Query{Text: "plan", Near: true})
	must.That(t, fault.Of(err) == fault.NotFound && len(src.asked) == 0, "without being asked: %v, %v", src.asked, err)
	i := slices.IndexFunc(a.Wider, func(w WiderSearch) bool { return w.In == InProjects })
	if i < 0 || a.Wider[i].Queries != 3 || a.Wider[i].Shards != 2 || a.Wider[i].Projects != 2500 || a.Wider[i].Time != WiderTime {
		t.Errorf("offered: %+v, want 3 queries to 2 shards", a.Wider)
	}
	j := slices.IndexFunc(a.Wider, func(w WiderSearch) bool { return w.In == InCollections })
	expect.That(t, j >= 0 && a.Wider[j].Collections == sharded, "offered: %+v, want a search in %d sharded collections", a.Wider, sharded)
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
	must.That(t, err == nil && len(a.Items) == 1, "%+v, %v", a.Items, err)
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
