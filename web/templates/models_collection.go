package templates

// ChunkSize is the size of one chunk, and whether its shard would move it.
type ChunkSize struct {
	Past                   string // that it is of a past time
	Documents, Bytes, Mean Figure
	Mark                   string // exact, estimate, …, with its age
	Age                    Moment
	Took                   string
	Method                 string
	Failed                 string // the last attempt gave nothing, and why
	Level                  string // ok, note, bad: as a verdict is drawn
	Verdict                string
	Rule, Balancer         string
	Background             string
	PostURL                string // of the buttons; "" when there are none
	Needs                  string // why there are none
}

// ChunkRow is a chunk in a short list below something else.
type ChunkRow struct {
	Key      string // stable identity
	URL      string // of its own page
	N        int    // position in key order, from 1
	Min, Max Key
	Shard    ShardRef
	Version  string
	Since    Moment
	Jumbo    bool
}

// Pin is a project's pin and what the plan that made it said of it.
type Pin struct {
	Terms  string // a sentence: when it expires, or that this is not known
	Owner  string // hostile text; "" when nobody was named, or nothing is known
	Nobody bool   // the plan named no owner
}
