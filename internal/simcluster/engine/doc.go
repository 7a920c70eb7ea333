// Package engine stores the documents of one shard: databases, collections in insertion
// order, indexes, and a planner that chooses an index for a query.
//
// The package does no locking: the caller guards a Node with a read-write lock.
// Documents are stored once, as the received bytes; indexes hold offsets into them.
package engine
