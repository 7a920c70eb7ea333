package api

import "time"

// State is why a part of a page cannot show what it should, or not of now. It is not in JSON, where
// errors and freshness say the same. The zero State is a part in order.
type State struct {
	Code   string // loading, empty, stale, partial, denied or failed: how it is drawn
	Title  string
	Detail string
}

// Status is the state of the whole in a few words, in the header of every page. Level is ok, warn or
// critical (the worst open problem), stale, loading, failed or past.
type Status struct {
	Level string
	Text  string
	At    time.Time // of the newest routing data; zero when there is none
}
