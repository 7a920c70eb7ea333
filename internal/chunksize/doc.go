// Package chunksize measures how many documents and bytes single chunks have. Chunk
// metadata does not contain that: a chunk is measured with dataSize, which scans the
// shard key index on every shard, so it is used sparingly and its results are cached.
//
// The load on the cluster is limited independently of the number of chunks and users.
// In the background there are at most PerMinute estimates, one at a time, only of
// chunks viewed in the last two minutes, and for a twentieth of the time on average. On
// demand there are at most DemandPerMinute, two at a time, each with a deadline.
// Results are shown with their age and discarded when the bounds of the chunk change.
// Chunks without a measurement are estimated from known statistics and marked as such.
package chunksize
