package api

import "time"

// Orphans describes orphaned documents, which migrations left behind and which are not deleted yet.
// State is counted (6.0 and later), pending (ranges left so recently that their documents may still
// exist), quiet (not counted, but no range has left recently) or unknown.
type Orphans struct {
	State  string     `json:"state"`
	Count  Figure     `json:"count"`  // documents; known when counted
	Ranges int        `json:"ranges"` // ranges that left in the last 15 minutes
	AtMost *int64     `json:"atMost"` // documents; null if no bound is known or needed
	Until  *time.Time `json:"until"`  // approximate time at which pending ones are deleted
	Text   string     `json:"text"`
}
