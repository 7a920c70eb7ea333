package api

// Watched is a chunk or a project that somebody follows, for pages only.
type Watched struct {
	Item    string // as an address names it
	Kind    string // chunk or project
	Name    string
	Bound   string     // of a chunk: its lower bound as people write it
	Of      KeyProject // whose keys begin at the bound
	NS      string     // of a chunk
	Key     string     // of rows that show it: a project's id, a chunk's key
	Chunk   string     // a chunk's short name
	URL     string
	Place   string           // 0..1 in the key space of its collection; "" for none
	Holders []WatchedHolders // by namespace
	Gone    string           // why it cannot be found
}

// WatchedHolders are the shards that hold a watched thing's part of a collection.
type WatchedHolders struct {
	NS     string
	Shards []string
}
