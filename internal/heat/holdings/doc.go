// Package holdings estimates what each project holds on each shard: rows and bytes by collection,
// from random rows that are read all the time within a small fixed budget. Sampled rows are kept
// with their shard keys and are placed by the newest routing table, so figures follow moved chunks.
// They are weighted by the statistics of each shard, so that projects add up to the shard's total.
// What was not seen has an upper bound and is never zero.
package holdings
