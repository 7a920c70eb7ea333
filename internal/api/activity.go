package api

import "time"

// ActivityBar is how many changelog entries a part of a time has (GET activity/histogram).
type ActivityBar struct {
	From   time.Time `json:"from"`
	To     time.Time `json:"to"`    // not included
	Other  int       `json:"other"` // that have not failed
	Failed int       `json:"failed"`
}
