package api

import "time"

// ClusterMap is the map of all collections (GET map): one band for each collection, from
// MinKey to MaxKey, on which every chunk is equally wide.
type ClusterMap struct {
	Shards []MapShard `json:"shards"`
	Bands  []MapBand  `json:"bands"` // sharded ones first, of both the largest first
	More   int        `json:"more"`  // smaller collections that are left out
	// Incomplete says which collections are missing because they could not be read; "" if none is.
	Incomplete string    `json:"incomplete,omitempty"`
	Hidden     int       `json:"hidden"` // internal collections that are left out
	Moving     []MapMove `json:"moving"` // migrations under way, the oldest first
	// MovingMore is how many more migrations there are; null if it is not known what moves.
	MovingMore *int     `json:"movingMore"`
	Scale      MapScale `json:"scale"`
	// Since is from when on the map can be asked for by ?at=; null without a history.
	Since *time.Time `json:"since"`
	Freshness
}

// MapShard is a shard with its place in the palette.
type MapShard struct {
	Name    string `json:"name"`
	Label   string `json:"label"`   // short, unique in the cluster
	Color   int    `json:"color"`   // 1 to 12
	Pattern int    `json:"pattern"` // 0 for the first 12 shards, 1 for the next 12, …
}

// MapBand is a collection on the map.
type MapBand struct {
	NS    string `json:"ns"`
	Total int    `json:"total"` // chunks; 0 if it is not sharded
	Bytes Figure `json:"bytes"`
	// Version changes when any tile of the band may have changed; it is comparable with the
	// version of a tile and has no other meaning.
	Version   string `json:"version"`
	Unsharded string `json:"unsharded,omitempty"` // the shard that has all of it, if it is not sharded and the shard is known
	Sharded   bool   `json:"sharded"`
	Zoned     bool   `json:"zoned"` // has zone ranges
	Jumbo     int    `json:"jumbo"` // chunks with the flag
	Heat      bool   `json:"heat"`  // its writes are counted

	Shards map[string]int `json:"-"` // chunks by shard
}

// MapMove is a migration under way.
type MapMove struct {
	NS       string    `json:"ns"`
	Position int       `json:"position"` // of the first chunk that it moves
	Chunks   int       `json:"chunks"`   // usually 1
	From     string    `json:"from"`
	To       string    `json:"to"`
	Since    time.Time `json:"since"`
	Arrived  bool      `json:"arrived"` // the routing table has it on the recipient: only cleaning up is left
}

// MapScale has the least and the greatest value of single chunks of all bands. Both are null
// where nothing is known.
type MapScale struct {
	Bytes MapSpan `json:"bytes"`
	Heat  MapHeat `json:"heat"` // writes per second
	Age   MapSpan `json:"age"`  // seconds since the chunk came to its shard
}

// MapSpan is a range of values.
type MapSpan struct {
	Low  *float64 `json:"low"`
	High *float64 `json:"high"`
}

// MapHeat is a range of rates of the last Window.
type MapHeat struct {
	MapSpan
	Window string `json:"window"` // a Go duration
}

// MapTile is a part of a band (GET map/{ns}/tile): the chunks in key order are divided in
// 2^level tiles, and this is the one with the chunks at the positions [from, to).
type MapTile struct {
	NS      string    `json:"ns"`
	Version string    `json:"version"` // of the band
	Level   int       `json:"level"`
	Index   int       `json:"index"`
	Total   int       `json:"total"` // chunks of the collection
	From    int       `json:"from"`
	To      int       `json:"to"`
	Marks   MapMarks  `json:"marks"`
	Shards  []string  `json:"shards"` // names for marks.shard
	Zones   []MapZone `json:"zones"`  // ranges that meet the tile, in key order; at most 200, the widest
	// MoreZones is how many narrower ranges are left out.
	MoreZones int `json:"moreZones"`
	// Exact: every mark is chunks of one shard. Otherwise a mark is a cell of equally many
	// chunks, and its shard the one that has most of them.
	Exact         bool `json:"exact"`
	HeatIsAtLeast bool `json:"heatIsAtLeast"` // some writes are not counted: rates are lower bounds
	// Freshness: times since a move are as of asOf, also when a cached tile is shown later.
	Freshness
}

// MapMarks are the marks of a tile, a list for each of their properties. All lists are
// equally long; one of which nothing is known has nulls.
type MapMarks struct {
	At     []int      `json:"at"`     // position of the first chunk
	Chunks []int      `json:"chunks"` // how many
	Shard  []int      `json:"shard"`  // index into the tile's shards
	Share  []int      `json:"share"`  // percent of the chunks that are on that shard
	Bytes  []*int64   `json:"bytes"`  // mean of its chunks; estimated from the shards' totals unless measured
	Heat   []*float64 `json:"heat"`   // writes per second, mean of its chunks
	Peak   []*float64 `json:"peak"`   // writes per second of its hottest chunk
	Age    []*int64   `json:"age"`    // seconds since a chunk of it last came to its shard, as of asOf
	Flags  []int      `json:"flags"`  // sum of MapJumbo, MapOutside and MapMoving
}

// What the flags of a mark say of one of its chunks, at least.
const (
	MapJumbo   = 1 // has the flag jumbo
	MapOutside = 2 // is on a shard without its zone
	MapMoving  = 4 // moves to another shard
)

// MapZone is a zone range on a band.
type MapZone struct {
	From    float64 `json:"from"` // position; x.5 if the border cuts chunk x
	To      float64 `json:"to"`
	Name    string  `json:"name"`
	Pin     string  `json:"pin,omitempty"`     // name of the project that the zone pins
	Project string  `json:"project,omitempty"` // its id
}

// MapChunk is one chunk of a band (GET map/{ns}/chunk).
type MapChunk struct {
	NS       string   `json:"ns"`
	Version  string   `json:"version"` // of the band
	Position int      `json:"position"`
	Total    int      `json:"total"`
	Min      Key      `json:"min"`
	Max      Key      `json:"max"`
	MinText  string   `json:"minText"` // as pages write it
	MaxText  string   `json:"maxText"`
	Shard    string   `json:"shard"`
	To       string   `json:"to,omitempty"` // the shard to which it moves
	Bytes    Figure   `json:"bytes"`
	Heat     *float64 `json:"heat"` // writes per second; null if not counted
	Age      *int64   `json:"age"`  // seconds since it came to its shard, as of asOf
	Jumbo    bool     `json:"jumbo"`
	Zone     string   `json:"zone,omitempty"`    // that covers all of it
	Outside  bool     `json:"outside"`           // its shard does not have that zone
	Project  string   `json:"project,omitempty"` // id of the project whose keys begin at the lower bound
	Name     string   `json:"name,omitempty"`    // the project's name
	URL      Address  `json:"url,omitempty"`     // page of the chunk; none where bounds are hidden
	Freshness
}
