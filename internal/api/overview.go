package api

import "shardboard/internal/message"

// Incident is an open problem with the plan that helps.
type Incident struct {
	ProblemLine
	Minutes []*float64 // writes per second in each full minute of the last hour, the newest last; nil: not of writes
	Plan    string     // what the plan does; "" where none helps or it is blocked
	PlanURL string     // leads to its filled-in form
	// Expected is what it does to the writes of the shards; "" where it is not against a problem of writes, or not known.
	Expected string
	WhyNot   string // why no plan helps; "" where one does, or a run does
	Doing    string // that a run makes the change that helps; "" for none
}

// Overview is the whole cluster at a glance. In JSON its parts have addresses of their own.
type Overview struct {
	Cluster
	Loaded    bool // false: State says why there are no figures yet
	State     State
	ByShard   []Shard
	Balance   message.Message // how evenly the data is spread
	Size      message.Message
	Doubts    []State       // parts that the figures come from and that are not read well
	Settings  State         // why the balancer's settings are not known, or not of now
	Listed    []ProblemLine // the worst problems
	More      string        // how many others there are; "" = none
	Unchecked string        // how many rules could not be checked; "" = none
	// how many rules the cluster's MongoDB release cannot answer; "" = none
	NotAvailable string
	Dismissed    string // how many problems are dismissed; "" = none
}
