package api

// LabIDs is on which shards the same inserts land with each kind of id (GET lab/ids). Shares are from 0 to 1.
type LabIDs struct {
	Inputs LabIDsInputs `json:"inputs"`
	URL    Address      `json:"url"` // page that shows the same
	Items  []LabID      `json:"items"`
}

// LabIDsInputs are what the answer follows from.
type LabIDsInputs struct {
	Inserts int    `json:"inserts"`
	Shards  int    `json:"shards"`
	Hours   int    `json:"hours"` // in which they are inserted
	Seed    uint64 `json:"seed"`
}

// LabID is where the inserts land with one kind of id.
type LabID struct {
	Kind         string    `json:"kind"`
	Text         string    `json:"text"`         // what it shows, in a sentence
	BusiestShare float64   `json:"busiestShare"` // of the shard with most
	AtOnceShare  float64   `json:"atOnceShare"`  // of the shard with most in each ten minutes, on average
	Parts        []float64 `json:"parts" csv:"-"`
	Slices       [][]int   `json:"slices" csv:"-"` // rows by part of the time and shard
}
