package api

import "time"

// ClusterSummary is one of several clusters of a server (GET clusters), worst first.
type ClusterSummary struct {
	Name  string  `json:"name"` // in addresses: /c/{name}/
	Title string  `json:"title"`
	URL   Address `json:"url"`
	// State is live, stale, unreachable, denied, loading, starting or failed.
	State         string     `json:"state"`
	Text          string     `json:"text"`   // the state in words, and why
	Since         *time.Time `json:"since"`  // of live and unreachable; null while not known
	ReadAt        *time.Time `json:"readAt"` // when its routing table was last read
	ServerVersion string     `json:"serverVersion"`
	Shards        *int       `json:"shards"` // null while not known, as the next ones
	Bytes         Figure     `json:"bytes"`
	Documents     Figure     `json:"documents"`
	Balancer      string     `json:"balancer"` // on, off, splits only or unknown
	Critical      *int       `json:"critical"` // open problems
	Warnings      *int       `json:"warnings"`
	Notes         *int       `json:"notes"`
	Worst         string     `json:"worst"`      // the worst problem in one sentence; "" if there is none
	WorstURL      Address    `json:"worstUrl"`   // address of that problem
	OpenRuns      *int       `json:"openRuns"`   // null where actions are off
	OpenAlerts    *int       `json:"openAlerts"` // null without receivers
	Role          string     `json:"role"`       // of the caller on this cluster

	Severity  string `json:"-"` // of the worst problem
	StateText string `json:"-"` // State as a heading
	Problems  string `json:"-"` // how many, in words
}
