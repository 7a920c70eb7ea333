package api

// Zone is a zone with its shards and ranges (GET zones).
type Zone struct {
	Zone   string      `json:"zone"`
	Shards []string    `json:"shards"` // none: no chunk can satisfy the zone
	Ranges []ZoneRange `json:"ranges" csv:"rows"`
	PinTerms
	KeyProject // that the zone is named after

	Shown ZoneName `json:"-"`
}

// ZoneRange is one range of a zone. Chunks, Outside and Straddling are null if the collection is
// not sharded (yet).
type ZoneRange struct {
	Zone       string `json:"zone"`
	NS         string `json:"ns"`
	Min        Key    `json:"min"`
	Max        Key    `json:"max"`
	KeyProject        // of min
	Chunks     *int   `json:"chunks"`     // chunks that overlap the range
	Outside    *int   `json:"outside"`    // of those, on a shard without the zone
	Straddling *int   `json:"straddling"` // of those, split by a bound of the range

	Shown   ZoneName   `json:"-"` // the zone
	Until   KeyProject `json:"-"` // of max
	MinText string     `json:"-"` // bounds as tables show them
	MaxText string     `json:"-"`
	Shards  []string   `json:"-"` // that have its chunks
	Problem string     `json:"-"` // in a few words; "" = all chunks are where the zone wants them
}

// Zones is everything about zones. In JSON it is a list of Items.
type Zones struct {
	State       State
	Level       string // ok, note or bad
	Verdict     string // "" while there are no zones, or none are known
	Problems    []ProblemLine
	Items       []Zone
	Collections []ZoneCollection
}

// ZoneCollection is the zone ranges of one collection in the order of their bounds.
type ZoneCollection struct {
	NS      string
	Sharded bool
	Key     string // shard key
	Ranges  []ZoneRange
}
