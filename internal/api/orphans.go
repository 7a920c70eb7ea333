package api

import "time"

// Orphans is what is known of orphaned documents: those that a migration left
// behind and that are not deleted yet. State is counted (6.0 and later), pending
// (ranges left so lately that their documents may still be there), quiet (not
// counted, but no range has left lately) or unknown.
type Orphans struct {
	State  string     `json:"state"`
	Count  Figure     `json:"count"`  // documents; known when counted
	Ranges int        `json:"ranges"` // that left in the last 15 minutes
	AtMost *int64     `json:"atMost"` // documents; null where no bound is known or needed
	Until  *time.Time `json:"until"`  // about when pending ones are deleted
	Text   string     `json:"text"`
}
