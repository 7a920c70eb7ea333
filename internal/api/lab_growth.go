package api

// LabGrowth is what happens when shards are added or emptied and the data grows (GET lab/growth). Its items are
// the moves, in the order in which they are run. It is computed, and nothing is sent to the cluster.
type LabGrowth struct {
	Inputs       LabGrowthInputs    `json:"inputs"` // as they were used
	Shards       []LabGrowthShard   `json:"shards"` // added ones last
	Moves        int                `json:"moves"`
	Bytes        Figure             `json:"bytes"`           // that move
	Seconds      float64            `json:"durationSeconds"` // with the pauses between groups
	BatchSeconds float64            `json:"batchSeconds"`    // the same as a batch, which moves chunks of one collection one after the other
	ZoneRanges   int                `json:"zoneRanges"`      // zone ranges that keep the same placement
	Groups       []LabGrowthGroup   `json:"groups"`          // the first 1,000
	GroupCount   int                `json:"groupCount"`
	Ways         []LabGrowthWay     `json:"ways"`         // of moving before the growth and after it
	Needed       LabGrowthNeeded    `json:"needed"`       // shards for the target share
	Stays        []LabGrowthStay    `json:"stays"`        // chunks that cannot be moved
	Unsplit      []LabGrowthProject `json:"unsplittable"` // projects whose rows no split divides, by the shard key, largest first
	Unhelped     []ProblemLine      `json:"unhelped"`     // problems that more shards do not solve
	Collections  []LabGrowthSource  `json:"collections"`  // what is planned, and what is left out
	Notes        []string           `json:"notes"`        // what the figures do not have, in sentences
	URL          Address            `json:"url"`          // address of the page with these inputs, all of them written out
	Items        []LabGrowthMove    `json:"items"`
	Next         Cursor             `json:"next"` // null after the last move
	Freshness

	From int `json:"-"` // moves before the first item
}

// LabGrowthInputs are the inputs of a prediction. Each is a parameter of the address, in the same words.
type LabGrowthInputs struct {
	Add         int     `json:"add"`   // shards that join
	Empty       string  `json:"empty"` // shard that is emptied; "" for none
	Growth      float64 `json:"growth"`
	Project     string  `json:"project,omitempty"` // hex id of a project that grows by itself
	ProjectName string  `json:"projectName,omitempty"`
	Factor      float64 `json:"factor,omitempty"` // how large the project gets, as a multiple of today
	Measure     string  `json:"measure"`          // what is made even: bytes or chunks
	MeasureText string  `json:"measureText"`      // why
	Group       int     `json:"group"`
	PerShard    int     `json:"perShard"`
	Rate        int64   `json:"rate"`     // bytes a second of one move
	RateText    string  `json:"rateText"` // how it is known
	Pause       float64 `json:"pauseSeconds"`
	Fill        int     `json:"fill"`        // percent
	Capacity    Figure  `json:"capacity"`    // of each shard of today where it was typed in
	NewCapacity Figure  `json:"newCapacity"` // of each added shard

	DiskPerByte *float64 `json:"diskPerByte"` // what a byte of documents takes on disk with its indexes now, assumed for later too; null: not known
}

// LabGrowthShard is one shard before the moves, after them and after the growth. Shares are of its capacity, 1 is
// full; null where that is not known.
type LabGrowthShard struct {
	Shard       string   `json:"shard"`
	Added       bool     `json:"added"`
	Emptied     bool     `json:"emptied"`
	Capacity    Figure   `json:"capacity"`     // bytes of documents that it can hold
	Unmoved     int64    `json:"unmovedBytes"` // bytes that no move of a chunk takes away: collections that are not sharded
	Before      Figure   `json:"before"`
	After       Figure   `json:"after"`
	Grown       Figure   `json:"grown"`
	Peak        Figure   `json:"peak"` // most at any time of the moves, with what waits for deletion
	BeforeShare *float64 `json:"beforeShare"`
	AfterShare  *float64 `json:"afterShare"`
	GrownShare  *float64 `json:"grownShare"`
	PeakShare   *float64 `json:"peakShare"`
	Chunks      int      `json:"chunks"`
	ChunksAfter int      `json:"chunksAfter"`
}

// LabGrowthGroup is a group of moves, after which a batch checks the cluster and can be paused.
type LabGrowthGroup struct {
	Group   int     `json:"group"` // from 1
	First   int     `json:"first"` // number of its first move, from 1
	Moves   int     `json:"moves"`
	Bytes   int64   `json:"bytes"`
	Start   float64 `json:"startSeconds"` // since the first move
	End     float64 `json:"endSeconds"`
	Fullest string  `json:"fullest"`   // shard with the largest share of its capacity in use; "" if no capacity is known
	Used    *int64  `json:"usedBytes"` // of that shard at the worst time of the group
	Free    *int64  `json:"freeBytes"` // on its disk, of documents where its capacity was given; negative: it does not fit

	Share float64 `json:"-"` // of the capacity; 0 if it is not known
}

// LabGrowthWay is one order of moving and growing.
type LabGrowthWay struct {
	Name    string   `json:"name"` // "move, then load" or "load, then move"
	Bytes   int64    `json:"bytes"`
	Fullest string   `json:"fullest"` // "" if no capacity is known
	Share   *float64 `json:"share"`   // of the fullest shard's capacity at the worst time
	Fits    *bool    `json:"fits"`    // null: the capacity of some shard is not known
}

// LabGrowthNeeded is how many shards have to join so that none is fuller than the target after the growth.
type LabGrowthNeeded struct {
	Shards *int   `json:"shards"` // null: not known, or no number is enough
	Text   string `json:"text"`
}

// LabGrowthStay are chunks of a collection on a shard that cannot be moved.
type LabGrowthStay struct {
	NS     string `json:"ns"`
	Shard  string `json:"shard"`
	Reason string `json:"reason"` // jumbo, tooBig, blocked, notBalanced or zone
	Text   string `json:"text"`
	Chunks int    `json:"chunks"`
	Leave  int    `json:"shouldLeave"` // of these: on a shard that is to be emptied, or outside of their zone
	Bytes  int64  `json:"bytes"`
}

// LabGrowthProject is a project whose rows of a collection have one value of the shard key.
type LabGrowthProject struct {
	NS      string `json:"ns"`
	Project string `json:"project"` // hex id
	Name    string `json:"name"`
	Shard   string `json:"shard"`
	Bytes   Figure `json:"bytes"`
}

// LabGrowthSource is how the sizes of a collection's chunks are known.
type LabGrowthSource struct {
	NS       string `json:"ns"`
	Chunks   int    `json:"chunks"`
	Bytes    Figure `json:"bytes"`
	Measured int    `json:"measured"`         // chunks whose size was measured; those of the others are their shard's mean
	Reason   string `json:"reason,omitempty"` // why it is left out; "" if it is planned
}

// LabGrowthMove is one move of a chunk.
type LabGrowthMove struct {
	Move    int     `json:"move"` // number, from 1
	Group   int     `json:"group"`
	NS      string  `json:"ns"`
	Chunk   string  `json:"chunk"` // reference; "" where bounds are hidden
	Min     Key     `json:"min"`
	From    string  `json:"from"`
	To      string  `json:"to"`
	Bytes   Figure  `json:"bytes"`
	Start   float64 `json:"startSeconds"` // since the first move
	Seconds float64 `json:"durationSeconds"`

	MinText    string     `json:"-"`
	KeyProject KeyProject `json:"-"` // in Min
}
