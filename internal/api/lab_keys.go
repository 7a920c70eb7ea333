package api

// LabKeys compares shard keys over the rows of a collection (GET lab/keys): real ones, or those of a model. Shares are
// from 0 to 1. While real rows are read there are no items, and reading says how far it is: ask again.
type LabKeys struct {
	Inputs  LabKeysInputs   `json:"inputs"`
	URL     Address         `json:"url"`    // page that shows the same comparison
	Source  string          `json:"source"` // what the rows are, in sentences
	Server  string          `json:"server"` // whose the figures are, in sentences
	Rows    int             `json:"rows"`   // that were looked at
	Of      int64           `json:"of"`     // rows of the collection
	Exact   bool            `json:"exact"`  // all rows were looked at
	Reading *LabKeysReading `json:"reading"`
	Items   []LabKey        `json:"items"`
}

// LabKeysInputs are what a comparison follows from.
type LabKeysInputs struct {
	NS         string   `json:"ns"`         // whose rows are read; "" for a model
	Rows       int      `json:"rows"`       // that are looked at, at most
	Collection string   `json:"collection"` // of the model: documents, clients or changes
	Projects   int      `json:"projects"`
	PerProject int      `json:"perProject"`  // documents, or clients, of a project on average
	PerDoc     int      `json:"perDocument"` // changes of a document on average
	Skew       float64  `json:"skew"`        // 0: all alike
	Growth     float64  `json:"growth"`      // times as many rows in a day at the end as at the beginning
	Days       int      `json:"days"`        // from the first row to the last
	RowBytes   int      `json:"rowBytes"`
	Seed       uint64   `json:"seed"`
	Shards     int      `json:"shards"`
	ChunkMB    int      `json:"chunkMB"`
	RateMB     int      `json:"rateMB"` // that resharding copies in a second
	Release    string   `json:"release"`
	Today      string   `json:"today"` // the shard key of today, as JSON; "" if the collection is not sharded
	Keys       []string `json:"keys"`  // that were added, as JSON
}

// LabKeysReading is how far the reading of rows is.
type LabKeysReading struct {
	Done        int    `json:"done"`
	Total       int    `json:"total"`
	LeftSeconds *int64 `json:"leftSeconds"` // null: not known
	PerSecond   int    `json:"perSecond"`   // rows that all measurements may read together
	Text        string `json:"text"`
}

// LabEstimate is a figure with the interval in which it lies with a confidence of 95 %; both ends are the figure when
// it was counted.
type LabEstimate struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// LabKey is what one shard key would mean.
type LabKey struct {
	Name       string           `json:"name"` // as people call it
	Key        string           `json:"key"`  // as mongosh writes it
	Today      bool             `json:"today"`
	Problem    string           `json:"problem"`  // why it cannot be used; the rest is empty then
	Weakness   string           `json:"weakness"` // the most important one, in a sentence
	Weaknesses []LabKeyWeakness `json:"weaknesses" csv:"-"`

	Values       LabEstimate `json:"values"`
	Common       LabEstimate `json:"common"` // share of the most common value
	MissingShare float64     `json:"missingShare"`
	Order        *float64    `json:"order"` // correlation with the order of insertion; null: that is not known

	Chunks        *int   `json:"chunks"` // null, as all figures of chunks: too few rows were looked at
	SmallestBytes *int64 `json:"smallestBytes"`
	MedianBytes   *int64 `json:"medianBytes"`
	LargestBytes  *int64 `json:"largestBytes"`
	Unsplittable  *int   `json:"unsplittable"`  // chunks above the chunk size that have one value
	HeaviestBytes *int64 `json:"heaviestBytes"` // of one value: the biggest range that no split divides

	ShardsUsed   int          `json:"shardsUsed"`
	FullestShare float64      `json:"fullestShare"`
	InsertShare  *float64     `json:"insertShare"` // of the newest tenth of rows, on the busiest shard; null: order not known
	Parts        []LabKeyPart `json:"parts" csv:"-"`

	OneShard   int            `json:"oneShard"` // queries that reach one shard
	SomeShards int            `json:"someShards"`
	AllShards  int            `json:"allShards"`
	Queries    []LabKeyQuery  `json:"queries" csv:"-"`
	Unique     []LabKeyUnique `json:"unique" csv:"-"`
	Cost       LabKeyCost     `json:"cost"`
	Analysis   *LabKeyServer  `json:"analysis" csv:"-"` // by the server; null: there is none
}

// LabKeyWeakness is a weak point of a key.
type LabKeyWeakness struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// LabKeyPart is what one shard has with a key.
type LabKeyPart struct {
	Bytes       int64   `json:"bytes"`
	Share       float64 `json:"share"`
	InsertShare float64 `json:"insertShare"`
}

// LabKeyQuery is where a query of Yorkie's goes.
type LabKeyQuery struct {
	Name   string   `json:"name"`
	Fields []string `json:"fields"`
	Reach  string   `json:"reach"`  // one shard, some shards or all shards
	Shards float64  `json:"shards"` // on average
	Note   string   `json:"note"`
}

// LabKeyUnique is a unique index, and whether it can exist beside the key.
type LabKeyUnique struct {
	Fields []string `json:"fields"`
	Fits   bool     `json:"fits"`
}

// LabKeyCost is what it takes to get to a key.
type LabKeyCost struct {
	How      string  `json:"how"`
	Bytes    int64   `json:"bytes"` // that are copied
	Seconds  int64   `json:"seconds"`
	Blockers string  `json:"blockers"` // what is in the way, in sentences; "" for nothing
	URL      Address `json:"url"`      // form of a plan; "" if there is none
}

// LabKeyServer is what analyzeShardKey says of a key.
type LabKeyServer struct {
	Problem     string   `json:"problem"` // why there is nothing; "" if there is
	Rows        int64    `json:"rows"`
	Values      int64    `json:"values"`
	CommonShare *float64 `json:"commonShare"`
	Unique      bool     `json:"unique"`
	Monotonic   string   `json:"monotonic"`

	Queries *LabKeyQueries `json:"queries"` // null: the server does not sample the queries of this collection
}

// LabKeyQueries is where sampled queries would go with a key.
type LabKeyQueries struct {
	Problem string         `json:"problem"` // why there is nothing; "" if there is
	Reads   LabKeyTargeted `json:"reads"`
	Writes  LabKeyTargeted `json:"writes"`
}

// LabKeyTargeted are the shares of sampled queries that go to one shard, to several and to all.
type LabKeyTargeted struct {
	Sampled int64    `json:"sampled"`
	One     *float64 `json:"one"`
	Several *float64 `json:"several"`
	All     *float64 `json:"all"`
}
