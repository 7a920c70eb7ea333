package holdings

// part is a collection's sampled rows, placed on shards.
type part struct{}
