// Package profile says what a project (tenant) and a document are in a
// database: which collections hold them, by which fields, and how each layout
// of the schema shards them. Yorkie's is built in.
package profile

import (
	"slices"
	"strings"

	"shardboard/internal/topology"
)

// Scope is what decides where a collection's rows are placed.
type Scope string

const (
	ScopeProject  Scope = "project"  // the shard key begins with the project's id
	ScopeDocument Scope = "document" // the shard key is the document's id
	ScopeCluster  Scope = "cluster"  // cluster-wide, unsharded
)

// Collection is one collection of a layout.
type Collection struct {
	Name          string
	Scope         Scope
	ProjectField  string // field with the project's id; "" if none
	DocumentField string // field with the document's id; "" if none
	Expected      string // shard key as people write it; "" = unsharded
	What          string // catalogue code of what the rows are
}

// Layout is one way in which a schema's version shards its collections.
type Layout struct {
	Name        string
	Collections []Collection
}

// Profile is a tenant/document scheme with its layouts, newest first.
type Profile struct {
	Name     string
	Projects string // collection that lists the tenants
	Layouts  []Layout
}

// Collection finds one by name.
func (l Layout) Collection(name string) (Collection, bool) {
	i := slices.IndexFunc(l.Collections, func(c Collection) bool { return c.Name == name })
	if i < 0 {
		return Collection{}, false
	}
	return l.Collections[i], true
}

// Match lists the databases that hold this profile's data, sorted by name: a
// sharded `documents` whose key begins with the project field, or, where
// listCollections is permitted, both the project list and the documents.
func (p *Profile) Match(t *topology.Table) []string {
	found := map[string]bool{}
	for _, c := range t.Collections {
		want, ok := p.Layouts[0].Collection(c.NS.Collection())
		if !ok || want.Scope != ScopeProject || c.Key.Len() == 0 || c.Temporary {
			continue
		}
		if c.NS.Collection() == "documents" && c.Key.Fields()[0].Name == want.ProjectField {
			found[c.NS.Database()] = true
		}
	}
	seen := map[string]int{}
	for _, ns := range t.Unsharded {
		if c := ns.Collection(); c == p.Projects || c == "documents" {
			seen[ns.Database()]++
		}
	}
	for db, n := range seen {
		if n == 2 {
			found[db] = true
		}
	}
	var out []string
	for db := range found {
		out = append(out, db)
	}
	slices.Sort(out)
	return out
}

// Nearest is the layout whose expected shard keys differ least from what the
// database has; the newest wins a tie.
func (p *Profile) Nearest(t *topology.Table, db string) Layout {
	best, bestScore := p.Layouts[0], -1<<30
	for _, l := range p.Layouts {
		if s := l.score(t, db); s > bestScore {
			best, bestScore = l, s
		}
	}
	return best
}

// score counts agreeing shard keys, less those that disagree and collections
// that the layout does not know. What is not sharded says nothing: set-up jobs
// lag and fail silently, so it must not make an older, smaller layout nearer.
func (l Layout) score(t *topology.Table, db string) int {
	score := 0
	for _, want := range l.Collections {
		if want.Expected == "" {
			continue
		}
		have := t.Collection(topology.Namespace(db + "." + want.Name))
		switch {
		case have == nil || have.Unsplittable:
		case have.Key.String() == want.Expected:
			score += 2
		default:
			score--
		}
	}
	for _, c := range t.Collections {
		if c.NS.Database() != db || c.Temporary || strings.HasPrefix(c.NS.Collection(), "system.") {
			continue
		}
		if _, ok := l.Collection(c.NS.Collection()); !ok {
			score--
		}
	}
	return score
}
