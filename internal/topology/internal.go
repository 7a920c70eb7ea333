package topology

import "strings"

// IsInternal tells whether a collection is the server's own. Pages leave what
// happens to these out by default: a new cluster's log is full of the moves of
// config.system.sessions, and nobody chose its shard key.
//
// Internal are
//   - everything in the databases config, admin and local;
//   - the copy that a running reshard fills (db.system.resharding.*): it becomes
//     the collection of that name, or is dropped;
//   - the server's lists in people's databases: system.views, system.profile, system.js.
//
// db.system.buckets.* is not: it holds the documents of a time-series collection,
// and a sharded one appears in the catalogue under this name only (until 8.x).
func IsInternal(ns Namespace) bool {
	name := ns.Collection()
	return IsServerDatabase(ns.Database()) || strings.HasPrefix(name, "system.") && !strings.HasPrefix(name, "system.buckets.")
}

// IsServerDatabase tells whether a database is the servers' own: it has no row in config.databases.
func IsServerDatabase(name string) bool {
	return name == "config" || name == "admin" || name == "local"
}

// Internal tells whether an entry is about the server's own collections alone.
// An entry of a whole cluster (a shard added) is not.
func (e Event) Internal() bool {
	if e.NS == "" {
		return false
	}
	// renameCollection.metadata has a sentence here, "admin.c to db.d : dropped target
	// collection.", whose first database is always admin (5.0.7): only the second
	// name can be trusted.
	if _, rest, ok := strings.Cut(e.NS, " to "); ok && strings.HasPrefix(e.What, "renameCollection") {
		to, _, _ := strings.Cut(rest, " ")
		return IsInternal(Namespace(strings.TrimSuffix(to, ":")))
	}
	return IsInternal(Namespace(e.NS))
}
