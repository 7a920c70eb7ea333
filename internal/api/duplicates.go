package api

import "time"

// DuplicateCheck is the state of the background check for ids that are on more
// than one shard (GET checks/duplicates). Such ids are legal; a chunk that has
// one cannot be moved to the shard that has the other.
type DuplicateCheck struct {
	State       string                `json:"state"`       // idle, running, stopped, failed, done
	Started     *time.Time            `json:"started"`     // null before the first start
	Ended       *time.Time            `json:"ended"`       // null while it runs
	LeftSeconds *int64                `json:"leftSeconds"` // estimated; null when not known
	Collections []DuplicateCollection `json:"collections"`
	Found       int                   `json:"found"` // ids; items has the first 1,000 of them
	Items       []DuplicateID         `json:"items"`
	Problem     string                `json:"problem,omitempty"` // why it failed
}

// DuplicateCollection is how far one collection is.
type DuplicateCollection struct {
	NS    string `json:"ns"`
	Read  int64  `json:"read"` // rows in this check
	Total Figure `json:"total"`
	Next  string `json:"next"` // id to go on with; "" before the start
	Done  bool   `json:"done"`
}

// DuplicateID is one such id with the rows that have it.
type DuplicateID struct {
	NS   string         `json:"ns"`
	ID   string         `json:"id"`
	Rows []DuplicateRow `json:"rows"`
	At   time.Time      `json:"at"`
}

// DuplicateRow is one of the rows.
type DuplicateRow struct {
	Shard       string `json:"shard"`
	Project     string `json:"project"`
	ProjectName string `json:"projectName"`
}

// DuplicateStart is the body of POST checks/duplicates; {} begins anew.
type DuplicateStart struct {
	Resume bool              `json:"resume"` // go on where it was stopped or failed
	From   map[string]string `json:"from"`   // by collection, the id to begin with: next of an earlier check
}
