package placement

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/message"
	"shardboard/internal/placement/ids"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

func placeIn(t *testing.T, it Item, coll string) Place {
	t.Helper()
	i := slices.IndexFunc(it.Places, func(p Place) bool { return p.NS.Collection() == coll })
	must.That(t, i >= 0, "%s %s has no place in %s", it.Kind, it.ID, coll)
	return it.Places[i]
}

func TestProjectAndDocumentKeyGiveEveryCollectionOfTheDocument(t *testing.T) {
	doc := bson.ObjectID{9, 9, 9}
	src := &fakeSource{docs: []DocumentRow{{ID: doc, Project: oid(5), Key: "codepair$x/y"}}}
	l := locator(t, src, project(5, "app", "pubkey"))
	for _, ref := range []string{"app", "pubkey", oid(5).Hex()} {
		items, err := l.Locate(t.Context(), Query{Text: " " + ref + "/codepair$x/y"})
		must.That(t, err == nil && len(items) == 1, "%s: %v, %v, want len(items) 1", ref, items, err)
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
		must.That(t, err == nil && len(items) == 1, "%s: %v, %v", name, items, err)
		if p := placeIn(t, items[0], "documents"); !slices.Equal(p.Shards, shards) || p.Exact != (len(shards) == 1) {
			t.Errorf("%s: %+v, want %v", name, p, shards)
		}
	}
	listed, err := l.Documents(t.Context(), project(5, "app", ""), DocumentPage{Limit: 9})
	must.That(t, err == nil && len(listed) == len(want), "%v, %v", listed, err)
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
	must.That(t, err == nil && len(items) == 1, "got %v, %v, want len 1", items, err)
	p := placeIn(t, items[0], "clients")
	expect.That(t, !p.Exact && slices.Equal(p.Shards, []string{"a", "c"}) && p.Chunks == 2, "clients: %+v", p)
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
	must.That(t, err == nil && len(items) == 3, "%d items, %v, want 3", len(items), err)
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

func TestLogLineReferenceCostsOneTargetedQuery(t *testing.T) {
	doc, client := bson.ObjectID{7, 7}, bson.ObjectID{8, 8}
	src := &fakeSource{ids: map[topology.Namespace][]IDRow{
		db + ".documents": {{ID: doc, Project: oid(5), Key: "d"}, {ID: doc, Project: oid(1), Key: "other"}},
		db + ".clients":   {{ID: client, Project: oid(5), Key: "c"}},
	}}
	l := locator(t, src, project(5, "app", ""), project(1, "one", ""))
	for _, tc := range []struct {
		text     string
		kinds    []string
		targeted int
	}{
		{"Document (" + oid(5).Hex() + "." + doc.Hex() + ")", []string{"document"}, 1},
		{"ERROR x.go:1 Client (" + oid(5).Hex() + "." + client.Hex() + ") of Document (" + oid(5).Hex() + "." + doc.Hex() + ")",
			[]string{"client", "document"}, 2},
		{oid(5).Hex() + "." + doc.Hex(), []string{"document"}, 3}, // documents, clients, schemas
	} {
		a, err := l.Ask(t.Context(), Query{Text: tc.text})
		if err != nil {
			t.Errorf("%s: %v", tc.text, err)
			continue
		}
		var kinds []string
		for _, it := range a.Items {
			kinds = append(kinds, it.Kind)
			if it.Project == nil || it.Project.Name != "app" {
				t.Errorf(`%s: project %+v, want it.Project not nil, it.Project.Name "app"`, tc.text, it.Project)
			}
		}
		if !slices.Equal(kinds, tc.kinds) || a.Cost.Broadcast != 0 || a.Cost.Targeted > tc.targeted {
			t.Errorf("%s: %v, cost %+v", tc.text, kinds, a.Cost)
		}
		if len(a.Anatomy) == 0 || a.Anatomy[0].Kind != ids.ObjectID {
			t.Errorf("%s: anatomy %+v, want len(a.Anatomy) more than 0, a.Anatomy[0].Kind %v", tc.text, a.Anatomy, ids.ObjectID)
		}
	}
}

func TestDeletedRowIsShownWhereItWouldBe(t *testing.T) {
	l := locator(t, &fakeSource{}, project(5, "app", ""))
	a, err := l.Ask(t.Context(), Query{Text: "Document (" + oid(5).Hex() + "." + hexA + ")"})
	if err != nil || len(a.Items) != 1 || a.Items[0].Notes[0].Code != "note.rowGone" {
		t.Fatalf(`got %+v, %v, want len 1, [0].Notes[0].Code "note.rowGone"`, a.Items, err)
	}
	if p := placeIn(t, a.Items[0], "documents"); p.Exists != "would-be" || !slices.Equal(p.Shards, []string{"b"}) {
		t.Errorf("got %+v, want where the document would be, shard b", p)
	}
	for _, text := range []string{"Document (" + hexB + "." + hexA + ")", oid(5).Hex() + "." + hexA} {
		refused.As(t, must.Err(l.Ask(t.Context(), Query{Text: text})), fault.NotFound, "%s", text)
	}
}

func TestDashboardAddressLeadsToItsDocumentOrProject(t *testing.T) {
	src := &fakeSource{docs: []DocumentRow{{ID: oid(9), Project: oid(5), Key: "a key/with"}}}
	l := locator(t, src, project(5, "app", ""))
	for text, kind := range map[string]string{
		"https://any.example/projects/app/documents/a%20key%2Fwith":   "document",
		"https://any.example/projects/app/documents/a%20key/with?x=1": "document",
		"any.example:8080/projects/app/documents/a%20key%2Fwith":      "document",
		"https://any.example/console/projects/app":                    "project",
	} {
		a, err := l.Ask(t.Context(), Query{Text: text})
		if err != nil || len(a.Items) != 1 || a.Items[0].Kind != kind || a.Cost.Broadcast != 0 || a.Cost.Targeted > 2 {
			t.Errorf("%s: %+v, %v", text, a, err)
		}
	}
}

func TestProjectAndKeyCostOneTargetedQueryPerProjectOfThatName(t *testing.T) {
	src := &fakeSource{docs: []DocumentRow{{ID: oid(9), Project: oid(1), Key: "k"}, {ID: oid(8), Project: oid(2), Key: "k"}}}
	l := locator(t, src, project(1, "twin", ""), project(2, "twin", ""), project(3, "Twin", ""))
	a, err := l.Ask(t.Context(), Query{Text: "twin/k"})
	if err != nil || len(a.Items) != 2 || a.Cost != (Cost{Targeted: 2}) {
		t.Errorf("%d items, %+v, %v", len(a.Items), a.Cost, err)
	}
}

func TestUnknownProjectKeyIsNotEchoed(t *testing.T) {
	l := locator(t, &fakeSource{}, project(5, "app", "otherotherotherother22"))
	for _, text := range []string{apiKey, apiKey + "/doc", "https://x.example/projects/" + apiKey + "/documents/d"} {
		a, err := l.Ask(t.Context(), Query{Text: text})
		if fault.Of(err) != fault.NotFound || !strings.Contains(fault.Text(err), "rotate it") || strings.Contains(err.Error(), apiKey) ||
			!a.Input.KeyShaped {
			t.Errorf("%s: %v", text, err)
		}
	}
	if a, err := l.Ask(t.Context(), Query{Text: "otherotherotherother22"}); err != nil || len(a.Items) != 1 {
		t.Errorf("a public key: %v", err)
	}
}

func TestUUIDIsDecodedAndPlacedOnlyInAChosenCollection(t *testing.T) {
	src := &fakeSource{}
	l := locator(t, src, project(5, "app", ""))
	a, err := l.Ask(t.Context(), Query{Text: uuid})
	if err != nil || len(a.Items) != 0 || len(a.Anatomy) != 1 || a.Anatomy[0].Kind != ids.UUID7 || a.Cost != (Cost{}) {
		t.Fatalf("got %+v, %v, want the anatomy of a UUID version 7 without places or cost", a, err)
	}
	// A UUID can be placed in a collection of other data; in Yorkie's own collections
	// it has the wrong type.
	f := l.tables.(fixedTable)
	key := routing.Pattern("k#")
	f.t.Collections = append(f.t.Collections, collection("orders", key, nil, "c"))
	for _, q := range []Query{{Text: uuid, NS: db + ".orders"}, {Key: uuid, NS: db + ".orders"},
		{Text: "{" + strings.ToUpper(uuid) + "}", NS: db + ".orders"}} {
		a, err = l.Ask(t.Context(), q)
		if err != nil || len(a.Items) != 2 || a.Items[0].Places[0].Hash == nil || *a.Items[0].Places[0].Hash == *a.Items[1].Places[0].Hash {
			t.Errorf("%+v: %+v, %v", q, a.Items, err)
		}
		expect.Equal(t, len(a.Anatomy), 1, "%+v: no anatomy", q)
	}
	if _, err := l.Ask(t.Context(), Query{Text: uuid, NS: db + ".documents"}); fault.Of(err) != fault.Invalid {
		t.Errorf("a UUID where an ObjectID belongs: %v, want kind %v", err, fault.Invalid)
	}
	expect.Equal(t, len(src.asked), 0, "the cluster was asked: %v", src.asked)
}

func TestValueOfTheWrongTypeIsRefusedWithAnExplanation(t *testing.T) {
	l := locator(t, &fakeSource{}, project(5, "app", ""))
	for _, tc := range []struct{ ns, key string }{
		{"documents", `{"project_id":"` + hexA + `"}`}, {"documents", `{"project_id":5}`}, {"documents", `{"project_id":null}`},
		{"changes", `{"doc_id":"` + hexA + `"}`}, {"changes", `{"doc_id":{"$regularExpression":{"pattern":".*","options":""}}}`},
		{"clients", `{"project_id":{"$oid":"` + hexA + `"},"_id":"x"}`}, {"documents", `{"project_id":{"$in":[]}}`},
		{"documents", `{"project_id":{"a":1}}`},
	} {
		_, err := l.Ask(t.Context(), Query{NS: topology.Namespace(db + "." + tc.ns), Key: tc.key})
		expect.That(t, fault.Of(err) == fault.Invalid && len(fault.Text(err)) >= 20, "%s %s: %v", tc.ns, tc.key, err)
	}
	a, err := l.Ask(t.Context(), Query{NS: db + ".documents", Text: oid(5).Hex()})
	if err != nil || !slices.Equal(a.Items[0].Places[0].Shards, []string{"b"}) {
		t.Errorf("got %v, %v, want a place on shard b", a.Items, err)
	}
}

func TestIDKnownToBeSharedHasANote(t *testing.T) {
	doc := bson.ObjectID{7, 7}
	src := &fakeSource{ids: map[topology.Namespace][]IDRow{db + ".documents": {{ID: doc, Project: oid(5)}}}}
	l := locator(t, src, project(5, "app", ""))
	l.MarkShared(sharedStub{IDPlace{db + ".documents", doc}: {Rows: []SharedRow{{Shard: "b"}, {Shard: "a"}}}})
	a, err := l.Ask(t.Context(), Query{Text: doc.Hex()})
	if err != nil || len(a.Items) != 1 || len(a.Items[0].Notes) != 1 || a.Items[0].Notes[0].Code != "note.sharedID" ||
		fmt.Sprint(a.Items[0].Notes[0].Args()) != fmt.Sprint(map[string]string{"ns": db + ".documents", "shards": "a, b"}) {
		t.Errorf("got %+v, %v, want one note that names documents and shards a and b", a.Items, err)
	}
}

type sharedStub map[IDPlace]SharedID

func (s sharedStub) Shared(p IDPlace) (SharedID, bool) { one, ok := s[p]; return one, ok }
