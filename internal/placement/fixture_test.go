package placement

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/routing"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

const db = "yorkie-meta"

// oid is an id that sorts by n.
func oid(n byte) bson.ObjectID { return bson.ObjectID{0: 1, 11: n} }

func collection(name string, p shardkey.Pattern, bounds []shardkey.Key, owners ...string) *topology.Collection {
	return routing.Collection(topology.Namespace(db+"."+name), p, bounds, owners...)
}

// testTable has documents split at project 5 (shards a and b), clients of project 5 on
// two shards, changes hashed over three, and everything else on the primary a.
func testTable() *topology.Table {
	documents, clients, hashed := routing.Pattern("project_id"), routing.Pattern("project_id", "_id#"), routing.Pattern("doc_id#")
	return &topology.Table{
		Loaded:    true,
		Shards:    []topology.Shard{{Name: "a"}, {Name: "b"}, {Name: "c"}},
		Databases: []topology.Database{{Name: db, Primary: "a"}},
		Collections: []*topology.Collection{
			collection("changes", hashed, routing.Bounds(hashed, int64(-3e18), int64(3e18)), "a", "b", "c"),
			collection("clients", clients, []shardkey.Key{routing.Bound(clients, oid(5), int64(0))}, "a", "c"),
			collection("documents", documents, routing.Bounds(documents, oid(5)), "a", "b"),
		},
		Unsharded: []topology.Namespace{db + ".projects", db + ".snapshot_bodies"},
	}
}

// fakeSource is a Source with a few rows that counts the requests.
type fakeSource struct {
	mu       sync.Mutex
	projects []ProjectRow
	docs     []DocumentRow
	ids      map[topology.Namespace][]IDRow
	rows     map[topology.Namespace][]bson.Raw
	denied   map[topology.Namespace]error // of reading rows there
	late     map[int]error                // of the query with this number, from 1
	err      error
	asked    []string
}

func (f *fakeSource) Projects(_ context.Context, db string, _ profile.ProjectFields, after bson.ObjectID, all bool) ([]ProjectRow, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, fmt.Sprintf("projects %s after %s", db, after.Hex()))
	var out []ProjectRow
	for _, p := range f.projects {
		if string(p.ID[:]) > string(after[:]) || all {
			out = append(out, p)
		}
	}
	return out, f.err
}

func (f *fakeSource) DocumentsByKey(_ context.Context, _ string, _ profile.DocumentFields, project bson.RawValue,
	key string, _ int) ([]DocumentRow, error) {
	f.asked = append(f.asked, "documents "+key)
	var out []DocumentRow
	for _, d := range f.docs {
		if ObjectIDValue(d.Project).Equal(project) && d.Key == key {
			out = append(out, d)
		}
	}
	return out, f.err
}

func (f *fakeSource) DocumentsByKeyIn(ctx context.Context, _ string, _ profile.DocumentFields,
	projects []bson.RawValue, keys []string, limit int) ([]DocumentRow, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, fmt.Sprintf("%d keys in %d projects", len(keys), len(projects)))
	if err := f.late[len(f.asked)]; err != nil {
		return nil, err
	}
	var out []DocumentRow
	for _, d := range f.docs {
		if len(out) < limit && slices.ContainsFunc(projects, ObjectIDValue(d.Project).Equal) && slices.Contains(keys, d.Key) {
			out = append(out, d)
		}
	}
	return out, errors.Join(f.err, ctx.Err())
}

func (f *fakeSource) DocumentsOf(_ context.Context, _ string, _ profile.DocumentFields, project bson.RawValue,
	page DocumentPage) ([]DocumentRow, error) {
	f.asked = append(f.asked, fmt.Sprintf("%d documents from %s", page.Limit, page.From))
	var out []DocumentRow
	for _, d := range f.docs {
		if len(out) < page.Limit && ObjectIDValue(d.Project).Equal(project) && d.Key >= page.From {
			out = append(out, d)
		}
	}
	return out, f.err
}

func (f *fakeSource) RowsByID(_ context.Context, ns topology.Namespace, _ []string, values []bson.RawValue,
	_ int) (out []bson.Raw, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, "rows of "+string(ns))
	for _, row := range f.rows[ns] {
		if slices.ContainsFunc(values, row.Lookup("_id").Equal) {
			out = append(out, row)
		}
	}
	return out, f.denied[ns]
}

func (f *fakeSource) ByID(_ context.Context, db string, fields profile.RowFields, id bson.ObjectID, _ int) ([]IDRow, error) {
	var out []IDRow
	for _, r := range f.ids[topology.Namespace(db+"."+fields.Collection)] {
		if r.ID == id {
			out = append(out, r)
		}
	}
	return out, f.err
}

// ByReference returns the rows of ids that belong to the project.
func (f *fakeSource) ByReference(ctx context.Context, db string, fields profile.RowFields, project, id bson.ObjectID,
	limit int) ([]IDRow, error) {
	rows, err := f.ByID(ctx, db, fields, id, limit)
	var out []IDRow
	for _, r := range rows {
		if r.Project == project {
			out = append(out, r)
		}
	}
	return out, err
}

// fixedTable is a routing table and a project directory that do not change.
type fixedTable struct {
	t *topology.Table
	d *Directory
}

func (f fixedTable) Table() *topology.Table { return f.t }
func (f fixedTable) Directory() *Directory  { return f.d }
func (f fixedTable) Subscribe() (*topology.Table, <-chan struct{}, func()) {
	return f.t, nil, func() {}
}

func project(n byte, name, public string) Project {
	return Project{DB: db, ID: oid(n), Name: name, PublicKey: public}
}

func locator(t *testing.T, src *fakeSource, projects ...Project) *Locator {
	t.Helper()
	f := fixedTable{testTable(), NewDirectory(1, []string{db}, projects, topology.Health{})}
	return NewLocator(src, f, f, profile.Yorkie())
}

// setProjects changes what the source returns from now on.
func (f *fakeSource) setProjects(projects []ProjectRow, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.projects, f.err = projects, err
}

func (f *fakeSource) ProjectsInDocuments(context.Context, string, profile.DocumentFields, bool) ([]ProjectRow, string, error) {
	return nil, "", nil
}
