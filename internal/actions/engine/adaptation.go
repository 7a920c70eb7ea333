package engine

import (
	"time"

	"shardboard/internal/actions/operation"
	"shardboard/internal/format"
	"shardboard/internal/message"
)

// Adaptation records that the rest of a run was planned again because the cluster
// had changed.
type Adaptation struct {
	At      time.Time
	Step    int                    // number of the first new step, from 1; 0: before the run began
	Because []operation.Difference // how the cluster differed from the plan
	Before  int                    // remaining steps before the change
	After   int                    // remaining steps after it
	Same    bool                   // the commands are the same; only their preconditions are new
	Refused bool                   // not planned again: that would exceed the confirmed limits
}

// Text says what was planned again and introduces the differences in Because.
func (a Adaptation) Text() message.Message {
	pattern := "The steps were adjusted at {at}: {after} left, {before} before, because:"
	switch {
	case a.Refused:
		pattern = "The steps were not adjusted at {at}, because:"
	case len(a.Because) == 1 && a.Because[0].Field == goalField:
		pattern = "{after} added at {at}, because the goal was no longer met."
	case len(a.Because) == 1 && a.Because[0].Field == recipientField:
		pattern = "At {at}, what cannot go to the planned shard was given to another one that the plan names."
	case a.Before == a.After:
		pattern = "The steps were adjusted at {at}, because:"
	}
	steps := func(name string, n int) message.Fact {
		return message.Words(name, format.Count(int64(n))+message.Plural(n, " step", " steps"))
	}
	return message.New("adapted", pattern, message.Words("at", format.Clock(a.At)), steps("before", a.Before), steps("after", a.After))
}

// goalField is the field of a difference which says that the goal is no longer met.
const goalField = "goal"
