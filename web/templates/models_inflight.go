package templates

// InFlight is what moves now, as far as a page is concerned.
type InFlight struct {
	Rows []InFlightRow
	More string // how many are left out; leads to the activity page
	Note string // where the list is from, when that is not the best source
	None string // instead of rows: nothing moves, or that is not known
	// State is what is wrong with the list: not permitted, stale.
	State State
}

// InFlightRow is one migration under way.
type InFlightRow struct {
	Key      string
	Chunk    string // short name of the chunk, for what is watched
	NS, URL  string // URL is of the chunk
	Min, Max Key
	From, To ShardRef
	Arrived  bool
	State    string
	Begun    Moment
	BegunLow string // "began"

	Step, StepTitle           string
	StepShare                 float64 // 0..1; negative when unknown
	Recipient, RecipientTitle string
	By, ByTitle, ByURL        string
	Copied, CopiedTitle       string
	CopiedShare               float64 // 0..1; negative when unknown
	Left, LeftTitle           string
}
