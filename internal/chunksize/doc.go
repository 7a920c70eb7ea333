// Package chunksize knows how many documents and bytes single chunks have. The
// catalogue does not: a chunk is measured with dataSize, which walks the shard
// key's index on every shard, so it is asked sparingly and its answers are kept.
//
// It promises that measuring costs the cluster a fixed amount however many
// chunks there are and however many people look: in the background at most
// PerMinute estimates, one at a time, only of chunks that somebody looked at in
// the last two minutes and on average a twentieth of the time; on demand at
// most DemandPerMinute, two at a time, each with a deadline. What was measured
// is shown with its age until it is measured again, and forgotten when the
// bounds of its chunk change. What was not measured is estimated from figures
// that are known already, and marked so.
package chunksize
