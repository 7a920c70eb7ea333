package api

import "time"

// DuplicateCheck is the state of the background check for ids that exist on several shards (GET
// checks/duplicates). Such ids are legal, but a chunk with one cannot be moved to a shard that has
// another.
type DuplicateCheck struct {
	State       string                `json:"state"`       // idle, running, stopped, failed, done
	Started     *time.Time            `json:"started"`     // null before the first start
	Ended       *time.Time            `json:"ended"`       // null while it runs
	LeftSeconds *int64                `json:"leftSeconds"` // estimated; null if unknown
	Collections []DuplicateCollection `json:"collections"`
	Found       int                   `json:"found"` // number of ids; items has the first 1,000
	Items       []DuplicateID         `json:"items"`
	Problem     string                `json:"problem,omitempty"` // why it failed
}

// DuplicateCollection is the progress in one collection.
type DuplicateCollection struct {
	NS    string `json:"ns"`
	Read  int64  `json:"read"` // rows read by this check
	Total Figure `json:"total"`
	Next  string `json:"next"` // id at which to resume: 24 digits of an ObjectID, or Extended JSON; "" before the start
	Done  bool   `json:"done"`

	Share float64 `json:"-"` // of the rows read, 0..1; negative if unknown
}

// DuplicateID is a duplicate id with its rows.
type DuplicateID struct {
	NS   string         `json:"ns"`
	ID   string         `json:"id"`
	Rows []DuplicateRow `json:"rows"`
	At   time.Time      `json:"at"`

	Shards []string `json:"-"` // of Rows, sorted
}

// DuplicateRow is one of the rows.
type DuplicateRow struct {
	Shard       string `json:"shard"`
	Project     string `json:"project"`
	ProjectName string `json:"projectName"`
}

// DuplicateStart is the body of POST checks/duplicates; {} starts from the beginning.
type DuplicateStart struct {
	Resume bool              `json:"resume"` // resume after a stop or failure
	From   map[string]string `json:"from"`   // first id by collection: next of an earlier check
}
