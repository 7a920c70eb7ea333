package overview

import (
	"shardboard/web/templates"
)

// Overview is the model of the first page.
type Overview struct {
	State     templates.State
	Level     string // "ok", "note", "bad": how the verdict looks
	Verdict   string
	Detail    string
	Measures  []templates.Measure
	Shards    []templates.ShardRow
	Notes     []templates.State // stale or denied parts that the figures come from
	Balancer  Balancer
	Attention []templates.Attention
	More      string          // how many problems are not listed here
	AllGood   string          // instead of the list when it is empty
	Unchecked string          // which part could not be checked
	Dismissed string          // how many problems are dismissed
	Unsure    templates.State // instead of "nothing" while that is not known
	Events    []templates.EventRow
	Folded    *templates.Folded
	LiveURL   string
	EventsWhy templates.State
	Moving    templates.InFlight
}

// Balancer is what the balancer is set to and doing.
type Balancer struct {
	State templates.State
	Level string // "ok", "off", "unknown"
	Word  string // on, off, …
	Facts []templates.Fact
}
