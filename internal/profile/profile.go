// Package profile says what a project (tenant) and a document are in a
// database: which collections hold them, by which fields, and how each layout
// of the schema shards them. Yorkie's is built in; another is read from a file.
// What a database has is compared with a layout: see Drift.
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
	KeyField      string // field with the row's own name; "" if none
	Appended      bool   // every write is a new row, whose ObjectID _id is made then, by the server's clock or by that of the program that inserts it: heat counts them
	WrittenAt     string // field with the date of a row's last write, for rows that are changed in place; "" if none
	Kind          string // what a row is called when an id leads to it; "" = ids are not looked up here
	Expected      string // shard key as people write it; "" = unsharded
	Unjudged      bool   // any shard key will do
	Documented    string // a shard key that documentation names and no release applies
	Variants      []Variant
	Dead          DeadMark // of rows that nothing uses any more
	What          string   // catalogue code of what the rows are, or a profile file's own words
}

// Variant is a shard key that releases of the layout are known to leave a
// collection with, beside the expected one.
type Variant struct {
	Key  string // "" = unsharded
	Code string // catalogue code of why
}

// Layout is one way in which a schema's version shards its collections.
type Layout struct {
	Name        string
	Since       string // the releases that have it, for people; "" in a profile file
	Collections []Collection
}

// Profile is a tenant/document scheme with its layouts, newest first. It is
// not changed once made, so it is safe for concurrent use.
type Profile struct {
	Name    string
	Names   ProjectFields  // where the projects are listed, and by which fields
	Keys    DocumentFields // where the documents are, and by which fields
	Called  Called         // what documents are called
	Layouts []Layout
}

// Called is what the documents of a profile are called; empty = as Yorkie's are.
type Called struct{ One, Many string }

// Collection finds one by name.
func (l Layout) Collection(name string) (Collection, bool) {
	i := slices.IndexFunc(l.Collections, func(c Collection) bool { return c.Name == name })
	if i < 0 {
		return Collection{}, false
	}
	return l.Collections[i], true
}

// Layout finds one by name.
func (p *Profile) Layout(name string) (Layout, bool) {
	i := slices.IndexFunc(p.Layouts, func(l Layout) bool { return l.Name == name })
	if i < 0 {
		return Layout{}, false
	}
	return p.Layouts[i], true
}

// Collection finds one in the newest layout that has it.
func (p *Profile) Collection(name string) (Collection, bool) {
	for _, l := range p.Layouts {
		if c, ok := l.Collection(name); ok {
			return c, true
		}
	}
	return Collection{}, false
}

// RowFields are the fields to read of a row of a collection when asking where
// it lives; _id is always read and not among them.
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

// Match lists the databases that hold this profile's data, sorted by name:
// those that have both the project list and the documents as far as is known,
// and, because listCollections may not be permitted, those whose sharded
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
			if c.Key.Len() > 0 && c.Key.Fields()[0].Name == field {
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
