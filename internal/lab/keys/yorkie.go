package keys

// What Yorkie asks of its collections, and the unique indexes that it makes, by collection. The figures of queries are
// not published, so they have no weights.
var yorkie = map[string]struct {
	queries []Query
	unique  []UniqueIndex
}{
	"documents": {[]Query{
		{Name: "find or create a document by its key", Equal: []string{"project_id", "key"}},
		{Name: "find documents by id", Equal: []string{"project_id", "_id"}},
		{Name: "update a document after a push", Equal: []string{"project_id", "_id"}},
		{Name: "list a project's documents", Equal: []string{"project_id"}},
		{Name: "count a project's documents", Equal: []string{"project_id"}},
		{Name: "find documents to compact", Note: "every 30 s, by the leader alone"},
	}, []UniqueIndex{{[]string{"project_id", "key", "removed_at"}}}},
	"clients": {[]Query{
		{Name: "activate a client", Equal: []string{"project_id", "_id"}},
		{Name: "find or update a client", Equal: []string{"project_id", "_id"}},
		{Name: "clients attached to a document", Equal: []string{"project_id", "attached_docs"}},
		{Name: "count a project's active clients", Equal: []string{"project_id", "status"}},
		{Name: "find active clients of all projects", Equal: []string{"status"}, Note: "every 30 s, by the leader alone"},
	}, nil},
	"schemas": {[]Query{
		{Name: "find a schema", Equal: []string{"project_id", "name", "version"}},
		{Name: "list a project's schemas", Equal: []string{"project_id"}},
	}, []UniqueIndex{{[]string{"project_id", "name", "version"}}}},
	"changes": {[]Query{
		{Name: "store pushed changes", Equal: []string{"project_id", "doc_id", "server_seq"}},
		{Name: "read a document's changes", Equal: []string{"project_id", "doc_id"}},
		{Name: "find a client's latest change", Equal: []string{"project_id", "doc_id", "actor_id"}},
		{Name: "delete a document's changes", Equal: []string{"project_id", "doc_id"}},
	}, []UniqueIndex{{[]string{"doc_id", "project_id", "server_seq"}}, {[]string{"doc_id", "project_id", "actor_id", "server_seq"}}}},
	"snapshots": {[]Query{
		{Name: "store a snapshot", Equal: []string{"project_id", "doc_id", "server_seq"}},
		{Name: "find the closest snapshot", Equal: []string{"project_id", "doc_id"}},
		{Name: "delete a document's snapshots", Equal: []string{"project_id", "doc_id"}},
	}, []UniqueIndex{{[]string{"doc_id", "project_id", "server_seq"}}}},
	"versionvectors": {[]Query{
		{Name: "update a client's version vector", Equal: []string{"project_id", "doc_id", "client_id"}},
		{Name: "read a document's version vectors", Equal: []string{"project_id", "doc_id"}},
	}, []UniqueIndex{{[]string{"doc_id", "project_id", "client_id"}}}},
	"revisions": {[]Query{
		{Name: "list a document's revisions", Equal: []string{"project_id", "doc_id"}},
		{Name: "read a revision", Equal: []string{"_id"}, Note: "each time one is read or restored"},
	}, nil},
}

// YorkieQueries are the queries that Yorkie asks of a collection, and its unique indexes; ok is false for a collection
// that it does not have.
func YorkieQueries(collection string) (queries []Query, unique []UniqueIndex, ok bool) {
	y, ok := yorkie[collection]
	return y.queries, y.unique, ok
}
