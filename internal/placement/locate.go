package placement

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/sync/errgroup"

	"shardboard/internal/fault"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// Bounds on what a query may be and answer.
const (
	MaxQueryBytes = 4 << 10
	maxRows       = 20 // rows of one key or id that are listed
)

// Directories is where the locator gets the projects from.
type Directories interface{ Directory() *Directory }

// CurrentTable is where the locator gets the routing table from.
type CurrentTable interface{ Table() *topology.Table }

// Locator answers "on which shard is it?". Safe for concurrent use.
type Locator struct {
	src     Source
	tables  CurrentTable
	dirs    Directories
	profile *profile.Profile
}

// NewLocator makes a locator that reads rows from src and places them by the
// current table.
func NewLocator(src Source, tables CurrentTable, dirs Directories, p *profile.Profile) *Locator {
	return &Locator{src: src, tables: tables, dirs: dirs, profile: p}
}

// Locate lists everything that q can mean, and where it is.
//
// Text may be `<project>/<Yorkie document key>`, a project's name, id or
// public key, or the id of a document, client or schema. With a namespace and
// a shard-key value nothing is read from the cluster. Errors: fault.Invalid
// for text that cannot be a query, fault.NotFound naming what was searched,
// fault.Unavailable before the table is loaded, or the source's.
func (l *Locator) Locate(ctx context.Context, q Query) ([]Item, error) {
	if err := checkText(q.Text); err != nil {
		return nil, err
	}
	if err := checkText(string(q.NS) + q.Key); err != nil {
		return nil, err
	}
	t := l.tables.Table()
	if t == nil || !t.Loaded {
		return nil, fault.New(fault.Unavailable, "The routing table is not loaded yet; try again in a moment.")
	}
	text := strings.TrimSpace(q.Text)
	switch {
	case q.NS != "":
		return locateKey(t, q)
	case q.Key != "":
		return nil, fault.New(fault.Invalid, "A shard-key value needs a collection: add ns=database.collection.")
	case text == "":
		return nil, fault.New(fault.Invalid, "Nothing to look for: type project/document key, a project's name, id or public key, or an id.")
	}
	if project, key, ok := strings.Cut(text, "/"); ok {
		return l.byDocumentKey(ctx, t, project, key)
	}
	items := l.projects(t, text)
	if id, err := bson.ObjectIDFromHex(text); err == nil {
		rows, err := l.byID(ctx, t, id)
		if err != nil {
			return nil, err
		}
		items = append(items, rows...)
		if len(items) == 0 {
			return nil, fault.New(fault.NotFound, "No project, Yorkie document, client or schema has the id %s (searched %s).", id.Hex(), l.searched())
		}
	}
	if len(items) == 0 {
		return nil, fault.New(fault.NotFound,
			"No project has this name, id or public key, and it is not an id (searched the projects of %s). For a Yorkie document type project/document key.", l.searched())
	}
	return items, nil
}

func checkText(s string) error {
	switch {
	case len(s) > MaxQueryBytes:
		return fault.New(fault.Invalid, "The query has %d bytes; at most %d are looked at.", len(s), MaxQueryBytes)
	case !utf8.ValidString(s):
		return fault.New(fault.Invalid, "The query is not valid UTF-8.")
	case strings.ContainsRune(s, 0):
		return fault.New(fault.Invalid, "The query contains a NUL character, which no key or name can.")
	}
	return nil
}

// searched names the databases that were looked at, for not-found answers.
func (l *Locator) searched() string {
	dbs := l.dirs.Directory().Databases()
	if len(dbs) == 0 {
		return "no database: none here holds projects and documents"
	}
	return strings.Join(dbs, ", ")
}

func (l *Locator) projects(t *topology.Table, ref string) []Item {
	var items []Item
	for _, p := range l.dirs.Directory().Exactly(ref) {
		items = append(items, l.projectItem(t, p))
	}
	return items
}

func (l *Locator) byDocumentKey(ctx context.Context, t *topology.Table, ref, key string) ([]Item, error) {
	ref = strings.TrimSpace(ref)
	if key == "" {
		return nil, fault.New(fault.Invalid, "There is no document key after the slash.")
	}
	projects := l.dirs.Directory().Exactly(ref)
	if len(projects) == 0 {
		return nil, fault.New(fault.NotFound, "No project has the name, id or public key before the slash (searched the projects of %s).", l.searched())
	}
	var items []Item
	for _, p := range projects {
		rows, err := l.src.DocumentsByKey(ctx, p.DB, p.ID, key, maxRows)
		if err != nil {
			return nil, err
		}
		// The living document first: removed ones keep their key.
		slices.SortStableFunc(rows, func(a, b topology.DocumentRow) int { return boolCompare(a.Removed, b.Removed) })
		for _, r := range rows {
			items = append(items, l.documentItem(t, p.DB, topology.IDRow{ID: r.ID, Project: r.Project, Key: r.Key}, r.Removed))
		}
	}
	if len(items) == 0 {
		return nil, fault.New(fault.NotFound, "The project exists, but no Yorkie document of it has this key (searched %s.documents with project %s).",
			projects[0].DB, projects[0].ID.Hex())
	}
	return items, nil
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// idCollections are where a bare id may be a row's: each costs one broadcast.
var idCollections = []struct{ name, kind string }{{"documents", "document"}, {"clients", "client"}, {"schemas", "schema"}}

func (l *Locator) byID(ctx context.Context, t *topology.Table, id bson.ObjectID) ([]Item, error) {
	type question struct {
		db, kind string
		ns       topology.Namespace
		rows     []topology.IDRow
	}
	var asked []*question
	for _, db := range l.dirs.Directory().Databases() {
		for _, c := range idCollections {
			ns := topology.Namespace(db + "." + c.name)
			if presence(t, ns) != PresenceNo {
				asked = append(asked, &question{db: db, kind: c.kind, ns: ns})
			}
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	for _, q := range asked {
		g.Go(func() (err error) {
			q.rows, err = l.src.ByID(ctx, q.db, q.ns.Collection(), id, maxRows)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var items []Item
	for _, q := range asked {
		for _, r := range q.rows {
			if q.kind == "document" {
				items = append(items, l.documentItem(t, q.db, r, false))
			} else {
				items = append(items, l.rowItem(t, q.db, q.kind, q.ns, r))
			}
		}
		if len(q.rows) > 1 {
			// Legal: _id is unique per shard only.
			items[len(items)-1].Notes = append(items[len(items)-1].Notes, Note{Code: "note.duplicateID", Args: map[string]string{"ns": string(q.ns)}})
		}
	}
	return items, nil
}
