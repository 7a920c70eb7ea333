package templates

import "shardboard/internal/api"

// InFlight is the list of migrations under way on a page.
type InFlight struct {
	Rows []InFlightRow
	More int    // how many more the activity page lists
	Note string // where the list comes from, if that is not the best source
	None string // instead of rows: nothing moves, or that is not known
	// State is what is wrong with the list: not permitted, stale.
	State State
}

// InFlightRow is one migration under way.
type InFlightRow struct {
	api.InFlight
	Donor, Recipient ShardRef
	Begun            Moment
}
