package placement

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/placement/ids"
	"shardboard/internal/topology"
)

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
		if _, err := l.Ask(t.Context(), Query{Text: text}); fault.Of(err) != fault.NotFound {
			t.Errorf("%s: %v, want kind %v", text, err, fault.NotFound)
		}
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
		if fault.Of(err) != fault.Invalid || len(fault.Text(err)) < 20 {
			t.Errorf("%s %s: %v", tc.ns, tc.key, err)
		}
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
