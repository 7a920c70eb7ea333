package api

import (
	"encoding/json"
	"time"

	"shardboard/internal/message"
)

// Collection is one collection (GET collections).
type Collection struct {
	NS                string          `json:"ns"`
	Sharded           bool            `json:"sharded"`
	System            bool            `json:"system"` // config.*, or a temporary collection of a resharding
	Key               json.RawMessage `json:"key"`    // shard key pattern; null if unsharded
	Unique            bool            `json:"unique"`
	UUID              string          `json:"uuid"`    // "" if the server has none
	Version           *Version        `json:"version"` // highest chunk version
	Chunks            int             `json:"chunks"`
	Jumbo             int             `json:"jumbo"`
	JumboAsOf         *time.Time      `json:"jumboAsOf"` // since when every flag was read; null: not known
	NoBalance         bool            `json:"noBalance"`
	MigrationsBlocked bool            `json:"migrationsBlocked"`
	Resharding        bool            `json:"resharding"`
	Unsplittable      bool            `json:"unsplittable"`
	ChunkSizeBytes    int64           `json:"chunkSizeBytes"`       // its own chunk size; 0: the cluster's
	AutoMerge         *bool           `json:"autoMerge"`            // of the collection and of the cluster; null if unknown, or if the release merges nothing by itself
	Defragmenting     *bool           `json:"defragmenting"`        // null if unknown, or if the release defragments nothing
	DefragmentPhase   string          `json:"defragmentationPhase"` // the server's name; "" if none
	Primary           string          `json:"primary"`              // primary shard of its database
	Bytes             Figure          `json:"bytes"`
	Documents         Figure          `json:"documents"`
	Counts            string          `json:"counts"` // what documents counts: documents, or buckets of a time series
	Shards            []ShardPart     `json:"shards" csv:"rows"`
	Zones             []string        `json:"zones"`

	Damage     *Damage     `json:"damage"`     // null if its routing table is sound
	TimeSeries *TimeSeries `json:"timeSeries"` // null if it is no sharded time series

	KeyText string    `json:"-"` // key as in mongosh
	Home    ShardPart `json:"-"` // where it is if it is not sharded
}

// TimeSeries is what the catalogue says of a sharded time-series collection. Its key has the fields of its buckets:
// meta stands for the metaField, control.min.<timeField> for the time.
type TimeSeries struct {
	Name        string `json:"name"` // as it was created; ns is that of its buckets up to MongoDB 8.2
	TimeField   string `json:"timeField"`
	MetaField   string `json:"metaField"`            // "" if it has none
	Granularity string `json:"granularity"`          // "" if the server does not say
	SpanSeconds int64  `json:"bucketMaxSpanSeconds"` // 0 if not known
}

// Damage says why a collection's routing table cannot be used. Unless it is only unread, MongoDB refuses every
// operation on the collection. What else is said of it is as it was before, or absent.
type Damage struct {
	Kind   string         `json:"kind"`           // gap, overlap, bound, empty; unread: not known to be damaged, but not read
	Name   string         `json:"name"`           // MongoDB's name of this kind, such as RoutingTableRangeGap; "" for unread
	Since  time.Time      `json:"since"`          // when it was first seen
	Text   string         `json:"text"`           // in a sentence, without keys
	Places []DamagedRange `json:"places"`         // at most 20
	More   int            `json:"more,omitempty"` // places beyond those listed

	Missing *MissingChunks `json:"missing,omitempty"` // it was not read because shardboard's memory is short
}

// MissingChunks are chunks for which shardboard has no memory. All figures are estimates.
type MissingChunks struct {
	Chunks *int64 `json:"chunks"`     // null if not known
	Bytes  int64  `json:"bytes"`      // memory that they need; where chunks is null, at least
	Left   int64  `json:"memoryLeft"` // for routing tables, when it was refused
}

// DamagedRange is a range of keys that no shard owns, or several, or a chunk whose bounds are no values of the key.
type DamagedRange struct {
	Min    Key      `json:"min"` // null where the bound is no value of the shard key
	Max    Key      `json:"max"`
	Shards []string `json:"shards"` // its owners
}

// Collections is a list of collections (GET collections). In JSON it is a List.
type Collections struct {
	List[Collection]
	Summary message.Message // how many are sharded, without System ones; zero if none
	System  int             // how many System ones there are
}

// ShardPart is a collection's part on one shard.
type ShardPart struct {
	Shard     string `json:"shard"`
	Chunks    int    `json:"chunks"`
	Bytes     Figure `json:"bytes"`
	Documents Figure `json:"documents"`

	ByteShare  float64 `json:"-"` // of the collection's known bytes, 0 to 1; negative if unknown
	ChunkShare float64 `json:"-"` // of its chunks
}

// ShardOrphans is a collection's orphaned documents on one shard.
type ShardOrphans struct {
	Shard string `json:"shard"`
	Orphans
}

// CollectionDetail is a single collection (GET collections/{ns}).
type CollectionDetail struct {
	Collection
	ZoneRanges []ZoneRange    `json:"zoneRanges"`
	Moving     []InFlight     `json:"moving"`         // its running migrations
	Orphans    Orphans        `json:"orphans"`        // on all shards together
	ByShard    []ShardOrphans `json:"orphansByShard"` // sharded collections only
	Deletions  DeletionWait   `json:"deletions"`      // what holds up deletions of its old documents
	Freshness

	EveryShard    []ShardPart `json:"-"` // one for each shard of the cluster, also without a part
	BytesPerChunk Figure      `json:"-"` // mean
	ChunkBytes    int64       `json:"-"` // the chunk size of the balancer; 0 if unknown
}

// Version is a chunk version (lastmod): major grows with a move, minor with a split.
type Version struct {
	Major uint32 `json:"major"`
	Minor uint32 `json:"minor"`
}

// Chunk is one chunk: [min, max) of the shard key.
type Chunk struct {
	Ref        string     `json:"ref"` // uuid.hash of min
	Min        Key        `json:"min"`
	Max        Key        `json:"max"`
	KeyProject            // of min
	Shard      string     `json:"shard"`
	Version    Version    `json:"version"`
	Since      *time.Time `json:"since"` // since when on this shard; null if the server does not say
	Jumbo      bool       `json:"jumbo"`
	Zone       string     `json:"zone"`               // "" = none
	Straddles  bool       `json:"straddles"`          // a zone bound lies inside the chunk
	MovingTo   string     `json:"movingTo,omitempty"` // shard to which a running migration copies it or a part of it

	Documents       Figure   `json:"documents"`
	Bytes           Figure   `json:"bytes"`
	Measured        bool     `json:"measured"`        // measured with dataSize; otherwise estimated from the shard's counts
	Oversized       *bool    `json:"oversized"`       // has more documents than its shard moves; null if unknown
	WritesPerSecond *float64 `json:"writesPerSecond"` // over the last 5 minutes; null if not counted

	// For pages only.
	Number      int        `json:"-"` // position in key order, from 1
	Name        string     `json:"-"` // identifies its row within a page
	From        string     `json:"-"` // min as people write it
	To          string     `json:"-"` // max
	Until       KeyProject `json:"-"` // of max
	ZoneShown   ZoneName   `json:"-"`
	Misplaced   bool       `json:"-"` // in a zone that its shard is not in
	NearLimit   bool       `json:"-"` // almost oversized, by an estimate
	WritesExact bool       `json:"-"`
	Marked      bool       `json:"-"` // at the place in the picture that was asked for
}

// Tile is one part of a collection's chunk map (GET collections/{ns}/map). The chunks, in key
// order, are divided into 2^level tiles with equal numbers of chunks; tile index has the positions
// [from, to). The scale is positions and not key widths, because keys of several types have no
// metric.
type Tile struct {
	NS    string    `json:"ns"`
	Level int       `json:"level"`
	Index int       `json:"index"`
	Total int       `json:"total"` // chunks in the collection
	From  int       `json:"from"`
	To    int       `json:"to"`
	Runs  []TileRun `json:"runs"`
	Freshness
}

// TileRun is a sequence of neighbouring chunks. If a tile has too many sequences, a run combines
// several shards: Shard is then the one with the most chunks and Shards has all counts.
type TileRun struct {
	From   int            `json:"from"`
	Chunks int            `json:"chunks"`
	Shard  string         `json:"shard"`
	Shards map[string]int `json:"shards,omitempty"`
	Jumbo  int            `json:"jumbo"`
	Min    Key            `json:"min"`
	Max    Key            `json:"max"`
}

// Event is one row of the cluster's changelog (GET activity).
type Event struct {
	ID      string          `json:"id"`
	Time    time.Time       `json:"time"`
	What    string          `json:"what"` // the server's name: moveChunk.commit, split, …
	NS      string          `json:"ns"`
	Shard   string          `json:"shard"`
	Details json.RawMessage `json:"details"`
	Failed  bool            `json:"failed,omitempty"` // a failed move; a move to the shard that has the chunk already does not count
	FailureReason
	KeyProject        // of the range's lower bound
	Outcome    string `json:"outcome"`         // committed, failed, aborted, or step: on the way to an outcome
	Cause      *Cause `json:"cause,omitempty"` // who caused it; none for entries that nobody asks for

	// For pages only.
	Text     string     `json:"-"` // the entry in words
	From, To string     `json:"-"` // shards that it names
	Range    RangeShown `json:"-"`
	Note     string     `json:"-"` // a further remark
}
