package templates

import (
	"net/url"

	"shardboard/internal/answer"
)

const (
	// ManyShards is how many shards a page shows with a row or a column of its own; of more it shows those that
	// stand out, and leads to all.
	ManyShards = 36
	// ListedOfMany is how many rows of so many a page lists: a hundred would hide what stands below them, on a phone
	// above all.
	ListedOfMany = 12
)

// WantsAllShards tells whether an address asks for the rows of all shards.
func WantsAllShards(q url.Values) bool { return q.Get(answer.ShardsParam) == "all" }

// WithAllShards is the same page with the rows of all shards.
func WithAllShards(path string, q url.Values) string {
	q.Set(answer.ShardsParam, "all")
	return path + "?" + q.Encode() + "#shards"
}
