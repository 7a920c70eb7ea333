package api

import "time"

// MetadataCheckStart is the body of POST checks/metadata; {} checks the whole cluster.
type MetadataCheckStart struct {
	DB string `json:"db"` // check this database only; "" with NS
	NS string `json:"ns"` // check this collection only
}

// MetadataCheck is what the server's checkMetadataConsistency found (MongoDB 7.0 and later).
type MetadataCheck struct {
	Of    string            `json:"of"` // what was checked: a database or collection; "" for the whole cluster
	At    time.Time         `json:"at"`
	Items []MetadataFinding `json:"items"` // at most 1,000
	More  bool              `json:"more"`  // there are others
}

// MetadataFinding is one contradiction that the server found.
type MetadataFinding struct {
	Kind    string `json:"kind"`    // the server's name for it, such as RoutingTableRangeGap
	Text    string `json:"text"`    // in our words, or the server's own for a kind without
	NS      string `json:"ns"`      // "" where it names none
	Shard   string `json:"shard"`   // likewise
	Details string `json:"details"` // all that the server names, as Extended JSON; "" where key values are hidden
}
