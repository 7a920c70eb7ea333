package api

import "time"

// Answering is whether the primary of a shard, or of the config servers, answers a small read. It is asked every ten
// seconds, and silent when it fails twice in a row.
type Answering struct {
	State   string     `json:"state"`  // "answers", "silent" or "notAsked"
	Since   *time.Time `json:"since"`  // since when it is silent; else null
	LastAt  *time.Time `json:"lastAt"` // when it last answered; null: not since the start
	Reason  string     `json:"reason"` // why it is not asked; else ""
	Members []Member   `json:"members"`
}

// Member is a member of a replica set as mongos sees it.
type Member struct {
	Address string     `json:"address"`
	State   string     `json:"state"`  // "primary", "secondary" or "away": mongos does not reach it
	Since   *time.Time `json:"since"`  // since when it is away; else null
	PingMs  *float64   `json:"pingMs"` // the mean; null while it is away
}

// ConfigServers is whether the config servers answer.
type ConfigServers struct {
	Answering
	ReadOnly bool `json:"readOnly"` // the primary is silent and a secondary answers: routing can be read, not changed
}
