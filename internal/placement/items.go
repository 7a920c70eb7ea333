package placement

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/message"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// owner finds the project of a row and notes when there is none.
func (l *Locator) owner(it *Item, db string, id bson.ObjectID, stored Stored) {
	if p, ok := l.dirs.Directory().In(db, id); ok {
		it.Project = &p
		return
	}
	it.Notes = append(it.Notes, message.New("note.projectUnknown",
		"Its project {id} is not in the list of projects.", message.Text("id", stored.Text(id))))
}

func (l *Locator) projectItem(t *topology.Table, p Project) Item {
	it := Item{Kind: "project", ID: p.ID.Hex(), Name: p.Name, DB: p.DB, Project: &p}
	layout := l.profile.Nearest(t, p.DB)
	for _, c := range layout.Collections {
		ns := topology.Namespace(p.DB + "." + c.Name)
		switch {
		case c.Name == l.profile.Names.Collection:
			place := placeOf(t, ns, c.What, fields{l.profile.Names.IDField(): p.IDValue()})
			place.Exists = "yes"
			it.Places = append(it.Places, place)
		case c.Scope != profile.ScopeCluster:
			it.Places = append(it.Places, placeOf(t, ns, c.What, fields{c.ProjectField: p.IDValue()}))
		}
	}
	return it
}

// documentItem places a Yorkie document: its own row and every collection that
// is kept by document. seen tells that its own row was read.
func (l *Locator) documentItem(t *topology.Table, db string, row IDRow, removed, seen bool) Item {
	it := Item{Kind: "document", ID: row.StoredID.Text(row.ID), Name: row.Key, DB: db, Removed: removed}
	l.owner(&it, db, row.Project, row.StoredProject)
	for _, c := range l.profile.Nearest(t, db).Collections {
		if c.DocumentField == "" {
			continue
		}
		known := fields{c.ProjectField: row.StoredProject.Value(row.Project), c.DocumentField: row.StoredID.Value(row.ID)}
		ns := topology.Namespace(db + "." + c.Name)
		if c.Name == l.profile.Keys.Collection {
			known.name(t, ns, c, row.StoredKey)
		}
		place := placeOf(t, ns, c.What, known)
		if c.Name == l.profile.Keys.Collection && seen {
			place.Exists = "yes"
		}
		it.Places = append(it.Places, place)
	}
	return it
}

// rowItem places one row of a collection that no other collection hangs on.
func (l *Locator) rowItem(t *topology.Table, db, kind string, ns topology.Namespace, row IDRow, seen bool) Item {
	it := Item{Kind: kind, ID: row.StoredID.Text(row.ID), Name: row.Key, DB: db}
	l.owner(&it, db, row.Project, row.StoredProject)
	what := ""
	c, ok := l.profile.Nearest(t, db).Collection(ns.Collection())
	if ok {
		what = c.What
	}
	known := fields{"_id": row.StoredID.Value(row.ID), c.ProjectField: row.StoredProject.Value(row.Project)}
	if !row.Document.IsZero() {
		known[c.DocumentField] = row.StoredDocument.Value(row.Document)
	}
	known.name(t, ns, c, row.StoredKey)
	place := placeOf(t, ns, what, known)
	if seen {
		place.Exists = "yes"
	}
	it.Places = append(it.Places, place)
	return it
}
