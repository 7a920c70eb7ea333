// Package profile describes what a project (tenant) and a document are in a database: their
// collections and fields, and how each layout of the schema shards them. Yorkie's profile is built
// in; others are read from files. Drift compares a database with a layout.
package profile

import (
	"slices"

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
	KeyField      string // field with the row's name; "" if none
	// every write inserts a row whose ObjectID _id is created then, by the server's or the inserting
	// program's clock; heat counts these
	Appended  bool
	WrittenAt string // field with the date of a row's last write, for rows updated in place; "" if none
	// the sets of fields by which the program changes single rows with findAndModify; nil if not known.
	// Before MongoDB 7.0 each set must contain the whole shard key.
	FoundBy    [][]string
	Kind       string // name of a row found by its id; "" = ids are not looked up here
	Expected   string // expected shard key; "" = unsharded
	Unjudged   bool   // any shard key is accepted
	Documented string // a shard key that documentation names but no release applies
	Variants   []Variant
	Dead       DeadMark // marks rows that nothing uses any more
	What       string   // catalogue code of the rows' meaning, or a profile file's own text
}

// Variant is a shard key other than the expected one that some releases are known to leave.
type Variant struct {
	Key  string // "" = unsharded
	Code string // catalogue code of the reason
}

// Layout is how one version of a schema shards its collections.
type Layout struct {
	Name        string
	Since       string // the releases with this layout, for display; "" in a profile file
	Collections []Collection
}

// Profile is a tenant/document schema with its layouts, newest first. It never changes, so it is
// safe for concurrent use.
type Profile struct {
	Name    string
	Names   ProjectFields  // collection and fields of the project list
	Keys    DocumentFields // collection and fields of the documents
	Called  Called         // display name of documents
	Tenants Called         // display name of projects
	Layouts []Layout
}

// Called is what documents or projects are called; empty = Yorkie's words.
type Called struct{ One, Many string }

// AnyID reports whether documents can have ids of other types than ObjectID.
func (p *Profile) AnyID() bool { return p != nil && p.Keys.AnyType }

// Collection returns a collection by name.
func (l Layout) Collection(name string) (Collection, bool) {
	i := slices.IndexFunc(l.Collections, func(c Collection) bool { return c.Name == name })
	if i < 0 {
		return Collection{}, false
	}
	return l.Collections[i], true
}

// Layout returns a layout by name.
func (p *Profile) Layout(name string) (Layout, bool) {
	i := slices.IndexFunc(p.Layouts, func(l Layout) bool { return l.Name == name })
	if i < 0 {
		return Layout{}, false
	}
	return p.Layouts[i], true
}

// Collection returns a collection from the newest layout that has it.
func (p *Profile) Collection(name string) (Collection, bool) {
	for _, l := range p.Layouts {
		if c, ok := l.Collection(name); ok {
			return c, true
		}
	}
	return Collection{}, false
}

// RowFields are the fields to read of a collection's rows to locate them; _id is always read and
// not included.
func (p *Profile) RowFields(coll string) RowFields {
	c, _ := p.Collection(coll)
	beside := func(field string) string {
		if field == "_id" {
			return ""
		}
		return field
	}
	return RowFields{Collection: coll, Project: beside(c.ProjectField), Document: beside(c.DocumentField), Key: beside(c.KeyField)}
}

// Match returns the databases with this profile's data, sorted by name: those with both the project
// list and the documents, and, because listCollections may not be permitted, those whose sharded
// documents have a key that begins with the project.
func (p *Profile) Match(t *topology.Table) []string {
	field := p.Keys.Project
	found, parts := map[string]bool{}, map[string]int{}
	for _, c := range t.Collections {
		if c.Temporary {
			continue
		}
		switch db := c.NS.Database(); c.NS.Collection() {
		case p.Names.Collection:
			parts[db]++
		case p.Keys.Collection:
			parts[db]++
			if !c.Unsplittable && c.Key.Len() > 0 && c.Key.Fields()[0].Name == field {
				found[db] = true
			}
		}
	}
	for _, ns := range t.Unsharded {
		if c := ns.Collection(); c == p.Names.Collection || c == p.Keys.Collection {
			parts[ns.Database()]++
		}
	}
	for db, n := range parts {
		if n == 2 && p.Names.Collection != "" {
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
