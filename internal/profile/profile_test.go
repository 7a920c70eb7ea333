package profile

import (
	"slices"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/topology"
)

func collectionKeyedBy(ns topology.Namespace, fields ...string) *topology.Collection {
	return &topology.Collection{Meta: topology.Meta{NS: ns, Key: routing.Pattern(fields...)}}
}

func TestEveryLayoutNamesItsCollectionsOnce(t *testing.T) {
	for _, l := range Yorkie().Layouts {
		seen := map[string]bool{}
		for _, c := range l.Collections {
			expect.That(t, !seen[c.Name], "%s has %s twice", l.Name, c.Name)
			seen[c.Name] = true
			if c.Scope != ScopeCluster && c.ProjectField == "" || c.Scope == ScopeDocument && c.DocumentField == "" {
				t.Errorf("%s: %s has no field for its scope", l.Name, c.Name)
			}
		}
		expect.That(t, seen["projects"] && seen["documents"], "%s has no projects or no documents", l.Name)
	}
}

func TestMatchFindsDatabasesOfProjectsAndDocumentsOnly(t *testing.T) {
	tab := &topology.Table{
		Collections: []*topology.Collection{
			collectionKeyedBy("a.documents", "project_id"),
			collectionKeyedBy("b.documents", "tenant"), // documents of another application
			collectionKeyedBy("c.orders", "project_id"),
		},
		Unsharded: []topology.Namespace{"d.documents", "d.projects", "e.projects", "f.documents"},
	}
	if got := Yorkie().Match(tab); !slices.Equal(got, []string{"a", "d"}) {
		t.Errorf("matched %v, want a (by its shard key) and d (by its two collections)", got)
	}
}

func TestEmptyDatabaseIsTakenForTheNewestLayout(t *testing.T) {
	if got := Yorkie().Nearest(&topology.Table{}, "y").Name; got != "yorkie-head" {
		t.Errorf("an empty database is taken for %s, want the newest layout", got)
	}
}
