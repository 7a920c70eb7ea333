package placement

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/message"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

func placeIn(t *testing.T, it Item, coll string) Place {
	t.Helper()
	i := slices.IndexFunc(it.Places, func(p Place) bool { return p.NS.Collection() == coll })
	if i < 0 {
		t.Fatalf("%s %s has no place in %s", it.Kind, it.ID, coll)
	}
	return it.Places[i]
}

func TestProjectAndDocumentKeyGiveEveryCollectionOfTheDocument(t *testing.T) {
	doc := bson.ObjectID{9, 9, 9}
	src := &fakeSource{docs: []DocumentRow{{ID: doc, Project: oid(5), Key: "codepair$x/y"}}}
	l := locator(t, src, project(5, "app", "pubkey"))
	for _, ref := range []string{"app", "pubkey", oid(5).Hex()} {
		items, err := l.Locate(t.Context(), Query{Text: " " + ref + "/codepair$x/y"})
		if err != nil || len(items) != 1 {
			t.Fatalf("%s: %v, %v, want len(items) 1", ref, items, err)
		}
		it := items[0]
		if it.Kind != "document" || it.ID != doc.Hex() || it.Project == nil || it.Project.Name != "app" {
			t.Errorf("%s: item %+v", ref, it)
		}
		if p := placeIn(t, it, "documents"); !slices.Equal(p.Shards, []string{"b"}) || !p.Exact || p.Exists != "yes" {
			t.Errorf("documents: %+v", p)
		}
		p := placeIn(t, it, "changes")
		want := shardkey.HashObjectID(doc)
		if p.Hash == nil || *p.Hash != want || len(p.Shards) != 1 || p.Exists != "would-be" {
			t.Errorf("changes: %+v, want hash %d", p, want)
		}
		if p := placeIn(t, it, "snapshot_bodies"); p.Sharded || !slices.Equal(p.Shards, []string{"a"}) {
			t.Errorf("snapshot_bodies: got %+v, want the primary", p)
		}
		if p := placeIn(t, it, "revisions"); p.Exists != "absent" || len(p.Shards) != 0 {
			t.Errorf("revisions: got %+v, want absent", p)
		}
	}
}

// The longer key of documents that shardboard suggests has the name of the document, which tells the chunk.
func TestDocumentWhoseNameIsInTheShardKeyIsInOneChunk(t *testing.T) {
	key := routing.Pattern("project_id", "key")
	table := testTable()
	table.Collections[2] = collection("documents", key, []shardkey.Key{routing.Bound(key, oid(5), "m")}, "a", "b")
	f := fixedTable{table, NewDirectory(1, []string{db}, []Project{project(5, "app", "")}, topology.Health{})}
	named := func(name string) Stored {
		kind, value, err := bson.MarshalValue(name)
		must.Do(t, err)
		return StoredOf(bson.RawValue{Type: kind, Value: value})
	}
	src := &fakeSource{docs: []DocumentRow{
		{ID: oid(1), Project: oid(5), Key: "early", StoredKey: named("early")},
		{ID: oid(2), Project: oid(5), Key: "old"}, // its name was not read
		{ID: oid(3), Project: oid(5), Key: "zoo", StoredKey: named("zoo")},
	}}
	l := NewLocator(src, f, f, profile.Yorkie())
	want := map[string][]string{"early": {"a"}, "old": {"a", "b"}, "zoo": {"b"}}
	for name, shards := range want {
		items, err := l.Locate(t.Context(), Query{Text: "app/" + name})
		if err != nil || len(items) != 1 {
			t.Fatalf("%s: %v, %v", name, items, err)
		}
		if p := placeIn(t, items[0], "documents"); !slices.Equal(p.Shards, shards) || p.Exact != (len(shards) == 1) {
			t.Errorf("%s: %+v, want %v", name, p, shards)
		}
	}
	listed, err := l.Documents(t.Context(), project(5, "app", ""), DocumentPage{Limit: 9})
	if err != nil || len(listed) != len(want) {
		t.Fatalf("%v, %v", listed, err)
	}
	for _, d := range listed {
		expect.EqualSlices(t, d.Place.Shards, want[d.Key], "%s in the list", d.Key)
	}
}

func TestLiveDocumentComesBeforeRemovedOnesWithItsKey(t *testing.T) {
	src := &fakeSource{docs: []DocumentRow{
		{ID: oid(1), Project: oid(5), Key: "k", Removed: true}, {ID: oid(2), Project: oid(5), Key: "k"},
	}}
	items, err := locator(t, src, project(5, "app", "")).Locate(t.Context(), Query{Text: "app/k"})
	if err != nil || len(items) != 2 || items[0].Removed || !items[1].Removed {
		t.Errorf("got %+v, %v, want len 2, [0].Removed false, [1].Removed true", items, err)
	}
}

func TestAProjectsClientsMayBeOnSeveralShards(t *testing.T) {
	items, err := locator(t, &fakeSource{}, project(5, "app", "")).Locate(t.Context(), Query{Text: oid(5).Hex()})
	if err != nil || len(items) != 1 {
		t.Fatalf("got %v, %v, want len 1", items, err)
	}
	p := placeIn(t, items[0], "clients")
	if p.Exact || !slices.Equal(p.Shards, []string{"a", "c"}) || p.Chunks != 2 {
		t.Errorf("clients: %+v", p)
	}
	if p := placeIn(t, items[0], "projects"); p.Exists != "yes" || !slices.Equal(p.Shards, []string{"a"}) {
		t.Errorf("clients, the client's own row: %+v", p)
	}
}

func TestBareIDIsSearchedInEveryCandidateCollection(t *testing.T) {
	id := bson.ObjectID{7, 7}
	src := &fakeSource{ids: map[topology.Namespace][]IDRow{
		db + ".clients":   {{ID: id, Project: oid(5), Key: "c"}},
		db + ".documents": {{ID: id, Project: oid(5), Key: "d"}, {ID: id, Project: oid(1), Key: "e"}},
	}}
	items, err := locator(t, src, project(5, "app", "")).Locate(t.Context(), Query{Text: id.Hex()})
	if err != nil || len(items) != 3 {
		t.Fatalf("%d items, %v, want 3", len(items), err)
	}
	var kinds []string
	for _, it := range items {
		kinds = append(kinds, it.Kind)
	}
	expect.EqualSlices(t, kinds, []string{"document", "document", "client"}, "kinds")
	if len(items[1].Notes) != 2 { // notes: unknown project, duplicate id
		t.Errorf("notes of the duplicate: %+v, want len 2", items[1].Notes)
	}
}

func TestAShardKeyValueIsLocatedWithoutReading(t *testing.T) {
	src := &fakeSource{}
	l := locator(t, src)
	tests := []struct {
		ns, key string
		shards  []string
		hash    bool
	}{
		{"documents", `{"project_id":{"$oid":"` + oid(4).Hex() + `"}}`, []string{"a"}, false},
		{"documents", `{"$oid":"` + oid(5).Hex() + `"}`, []string{"b"}, false},
		{"clients", `{"project_id":{"$oid":"` + oid(5).Hex() + `"}}`, []string{"a", "c"}, false},
		{"changes", `{"doc_id":{"$oid":"` + oid(1).Hex() + `"}}`, nil, true},
		{"documents", `{"project_id":{"$minKey":1}}`, []string{"a"}, false},
	}
	for _, tc := range tests {
		items, err := l.Locate(t.Context(), Query{NS: topology.Namespace(db + "." + tc.ns), Key: tc.key})
		if err != nil || len(items) != 1 || len(items[0].Places) != 1 {
			t.Errorf("%s %s: %v, %v", tc.ns, tc.key, items, err)
			continue
		}
		p := items[0].Places[0]
		if tc.shards != nil && !slices.Equal(p.Shards, tc.shards) {
			t.Errorf("%s %s: on %v, want %v", tc.ns, tc.key, p.Shards, tc.shards)
		}
		expect.Equal(t, (p.Hash != nil), tc.hash, "%s %s: hash %v", tc.ns, tc.key, p.Hash)
	}
	expect.Equal(t, len(src.asked), 0, "the cluster was asked: %v", src.asked)
}

func TestInvalidQueryIsRefusedAndMissingDocumentIsNotFound(t *testing.T) {
	l := locator(t, &fakeSource{}, project(5, "app", ""))
	tests := []struct {
		q    Query
		kind fault.Kind
	}{
		{Query{}, fault.Invalid},
		{Query{Text: "  "}, fault.Invalid},
		{Query{Text: "app/"}, fault.Invalid},
		{Query{Text: "a\x00b"}, fault.Invalid},
		{Query{Text: "\xff\xfe"}, fault.Invalid},
		{Query{Text: strings.Repeat("x", 10<<10)}, fault.Invalid},
		{Query{Key: `{"a":1}`}, fault.Invalid},
		{Query{NS: db + ".documents"}, fault.Invalid},
		{Query{NS: db + ".documents", Key: `{"project_id":{"$gt":""}}`}, fault.Invalid},
		{Query{NS: db + ".documents", Key: `{"project_id":[1]}`}, fault.Invalid},
		{Query{NS: db + ".documents", Key: `{"project_id":1,"$where":"1"}`}, fault.Invalid},
		{Query{NS: db + ".documents", Key: `not json`}, fault.Invalid},
		{Query{NS: db + ".documents", Key: `{"other":1}`}, fault.Invalid},
		{Query{NS: "no.such", Key: `{"a":1}`}, fault.NotFound},
		{Query{Text: "nobody"}, fault.NotFound},
		{Query{Text: "nobody/key"}, fault.NotFound},
		{Query{Text: "app/nokey"}, fault.NotFound},
		{Query{Text: "ffffffffffffffffffffffff"}, fault.NotFound},
		{Query{Text: `<script>alert(1)</script>`}, fault.NotFound},
		{Query{Text: `{"$gt": ""}`}, fault.NotFound},
		{Query{Text: `.*`}, fault.NotFound},
	}
	for _, tc := range tests {
		items, err := l.Locate(t.Context(), tc.q)
		if err == nil || fault.Of(err) != tc.kind {
			t.Errorf("%.60v: %v, %v; want %v", tc.q, items, err, tc.kind)
			continue
		}
		if text := fault.Text(err); strings.ContainsRune(text, 0) || len(text) > 600 {
			t.Errorf("%.60v: sentence %.80q", tc.q, text)
		}
	}
}

func TestFailedReadIsReportedAsAnError(t *testing.T) {
	cause := errors.New("boom")
	src := &fakeSource{err: fault.Wrap(fault.Unavailable, cause, "The cluster does not answer.")}
	l := locator(t, src, project(5, "app", ""))
	for _, q := range []string{"app/key", "ffffffffffffffffffffffff"} {
		if _, err := l.Locate(t.Context(), Query{Text: q}); !errors.Is(err, cause) || fault.Of(err) != fault.Unavailable {
			t.Errorf("%s: %v, want %v, kind %v", q, err, cause, fault.Unavailable)
		}
	}
}

func TestNothingIsLocatedBeforeTheTableIsLoaded(t *testing.T) {
	f := fixedTable{&topology.Table{}, NewDirectory(0, nil, nil, topology.Health{})}
	if _, err := NewLocator(&fakeSource{}, f, f, nil).Locate(t.Context(), Query{Text: "x"}); fault.Of(err) != fault.Unavailable {
		t.Errorf("got %v, want kind %v", err, fault.Unavailable)
	}
}

func TestWhatIsNotFoundIsSaidInTheProfilesWords(t *testing.T) {
	shop := *profile.Yorkie()
	shop.Tenants = profile.Called{One: "Tenant", Many: "Tenants"}
	l := locator(t, &fakeSource{})
	l.profile = &shop
	for _, text := range []string{"", "https://example.org/nothing", "nothing"} {
		_, err := l.Ask(t.Context(), Query{Text: text})
		if err == nil || !strings.Contains(err.Error(), "tenant") || strings.Contains(err.Error(), "project") {
			t.Errorf("%q: %v", text, err)
		}
	}
	a := Answer{Notes: []message.Message{nearNote("project", Project{Name: "a project"})}}
	l.ownNotes(&a)
	if got := a.Notes[0].String(); got != "You typed project. No tenant has exactly this name; this is a project." {
		t.Error(got)
	}
}
