package profile

import (
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

func collectionKeyedBy(t *testing.T, ns topology.Namespace, fields ...bson.E) *topology.Collection {
	t.Helper()
	raw := must.Get(bson.Marshal(bson.D(fields)))
	p := must.Get(shardkey.ParsePattern(raw))
	return &topology.Collection{Meta: topology.Meta{NS: ns, Key: p}}
}

func ascending(f string) bson.E { return bson.E{Key: f, Value: int32(1)} }
func hashed(f string) bson.E    { return bson.E{Key: f, Value: "hashed"} }

func TestEveryLayoutNamesItsCollectionsOnce(t *testing.T) {
	for _, l := range Yorkie().Layouts {
		seen := map[string]bool{}
		for _, c := range l.Collections {
			if seen[c.Name] {
				t.Errorf("%s has %s twice", l.Name, c.Name)
			}
			seen[c.Name] = true
			if c.Scope != ScopeCluster && c.ProjectField == "" || c.Scope == ScopeDocument && c.DocumentField == "" {
				t.Errorf("%s: %s has no field for its scope", l.Name, c.Name)
			}
		}
		if !seen["projects"] || !seen["documents"] {
			t.Errorf("%s has no projects or no documents", l.Name)
		}
	}
}

func TestMatchFindsDatabasesOfProjectsAndDocumentsOnly(t *testing.T) {
	tab := &topology.Table{
		Collections: []*topology.Collection{
			collectionKeyedBy(t, "a.documents", ascending("project_id")),
			collectionKeyedBy(t, "b.documents", ascending("tenant")), // documents of another application
			collectionKeyedBy(t, "c.orders", ascending("project_id")),
		},
		Unsharded: []topology.Namespace{"d.documents", "d.projects", "e.projects", "f.documents"},
	}
	if got := Yorkie().Match(tab); !slices.Equal(got, []string{"a", "d"}) {
		t.Errorf("matched %v, want a (by its shard key) and d (by its two collections)", got)
	}
}

func TestNearestLayoutIsChosenByExistingShardKeys(t *testing.T) {
	head := &topology.Table{Collections: []*topology.Collection{
		collectionKeyedBy(t, "y.changes", hashed("doc_id")), collectionKeyedBy(t, "y.clients", ascending("project_id"), hashed("_id")),
		collectionKeyedBy(t, "y.documents", ascending("project_id")), collectionKeyedBy(t, "y.revisions", hashed("doc_id")),
	}}
	old := &topology.Table{Collections: []*topology.Collection{
		collectionKeyedBy(t, "y.changes", ascending("doc_id")), collectionKeyedBy(t, "y.clients", ascending("project_id")),
		collectionKeyedBy(t, "y.documents", ascending("project_id")), collectionKeyedBy(t, "y.syncedseqs", ascending("doc_id")),
	}}
	if got := Yorkie().Nearest(head, "y").Name; got != "yorkie-head" {
		t.Errorf(`head is taken for %s, want "yorkie-head"`, got)
	}
	if got := Yorkie().Nearest(old, "y").Name; got != "yorkie-0.4" {
		t.Errorf(`0.4 is taken for %s, want "yorkie-0.4"`, got)
	}
	if got := Yorkie().Nearest(&topology.Table{}, "y").Name; got != "yorkie-head" {
		t.Errorf("an empty database is taken for %s, want the newest layout", got)
	}
}
