package api

import "time"

// Connection is how the cluster is reached. State is connected, partly (some mongos of the address
// do not answer), reading (the first read is under way), never (not reached since the start), lost,
// refused (the credentials are), denied (a privilege is missing), notMongos or otherCluster.
type Connection struct {
	State   string     `json:"state"`
	Since   *time.Time `json:"since"`   // of the last good read, or of the start before the first; null while connected
	Reason  string     `json:"reason"`  // what is wrong and what to do; "" while connected
	Former  string     `json:"former"`  // id of the cluster that was at the address before the start; "" when it is this one
	Mongos  []Mongos   `json:"mongos"`  // of the address
	Address string     `json:"address"` // hosts in use
	Changed *time.Time `json:"changed"` // when changed credentials were last taken over; null: not since the start
	Refused string     `json:"refused"` // why a changed address file is not in use; "" when it is
}

// Mongos is one server of the address.
type Mongos struct {
	Address string     `json:"address"`
	Up      *bool      `json:"up"`    // null: not asked yet
	Since   *time.Time `json:"since"` // since when it is up or down
	Reason  string     `json:"reason"`
}
