// Package engine stores documents the way one shard does: databases with
// collections, a record store in insertion order, indexes, and a planner that
// picks one of them for a query.
//
// Nothing here locks: the caller's lock guards a Node. Reads may run side by
// side under a read lock, writes need it alone. Documents are kept once, as
// the bytes that came in; indexes hold offsets into them.
package engine
