package outcome

import (
	"strconv"
	"strings"
	"time"

	"shardboard/internal/format"
	"shardboard/internal/message"
)

// Label answers in a word or two whether the run helped. gathers is true when its
// purpose was to gather writes on one shard.
func Label(state State, verdict Verdict, gathers bool) string {
	switch state {
	case "":
		return "Not known."
	case Running:
		return "Not known yet."
	case TooEarly:
		return "Too early."
	case Shared:
		return "Cannot be attributed to this run."
	case Few:
		return "Too few writes."
	case Idle:
		return "Nothing was written."
	case Uncounted:
		return "Cannot be measured."
	case Unchanged:
		return "Nothing to compare."
	}
	if state == SoFar {
		label := Label(Measured, verdict, gathers)
		return "So far: " + strings.ToLower(label[:1]) + label[1:]
	}
	switch {
	case verdict == NotThis:
		return "Not by this run."
	case verdict == Unclear:
		return "Cannot tell."
	case verdict == Helped:
		return "Yes."
	case verdict == NoChange:
		return "No measurable change."
	case verdict == Worse && gathers:
		return "Less even, as intended."
	case verdict == Worse:
		return "No: the writes are less even."
	}
	return string(state)
}

// Text answers in a sentence whether the run helped.
func (o Outcome) Text() message.Message {
	window := message.Count("minutes", int(Window.Minutes()))
	switch o.State {
	case Running:
		return message.New("outcome.running", "The answer comes {minutes} minutes after the run has ended.", window)
	case TooEarly:
		return message.New("outcome.tooEarly",
			"The answer comes shortly after {at}, when writes have been counted for {minutes} minutes after the run.",
			message.Words("at", format.Clock(o.KnownAt)), window)
	case Few:
		return message.New("outcome.few", "Rows counted: {n} before and {m} after; at least {least} are needed in each window.",
			message.Count("n", o.Before.Total.Rows), message.Count("m", o.After.Total.Rows), message.Count("least", leastRows))
	case Idle:
		return message.New("outcome.idle", "No row was written to these collections, neither before the run nor after it.")
	case Unchanged:
		return message.New("outcome.unchanged", "This run neither moved nor split a chunk.")
	case Uncounted:
		// The collection that the reason is about; the reason may be about all of them.
		c := CollectionChange{Not: o.Reason}
		for _, x := range o.Collections {
			if x.Not == o.Reason {
				c = x
			}
		}
		return c.WhyNot()
	case Shared:
		n := len(o.OtherRuns)
		text := o.measured()
		text.Pattern = message.Plural(n, "Another run changed the same collections in that time, so the difference is not this run’s alone. ",
			"{runs} other runs changed the same collections in that time, so the difference is not this run’s alone. ") + text.Pattern
		return text.With(message.Count("runs", n))
	case SoFar:
		text := o.measured()
		text.Pattern += " So far, from {covered}; the final answer comes shortly after {at}."
		return text.With(seconds("covered", o.After.Covered)).With(message.Words("at", format.Clock(o.KnownAt)))
	}
	return o.measured()
}

// measured says which share the hottest shard or chunk took before and after.
func (o Outcome) measured() message.Message {
	pattern := "The hottest shard took {before} of the writes before ({from}), and {after} after ({to})."
	switch same := o.Before.Hottest == o.After.Hottest; {
	case o.Basis == ByChunks:
		pattern = "The hottest chunk concerned took {before} of the writes before, and {after} after."
	case same && o.Verdict == Helped:
		pattern = "Writes on {from} fell from {before} to {after} of all."
	case same && o.Verdict == Worse:
		pattern = "Writes on {from} rose from {before} to {after} of all."
	case same:
		pattern = "{from} took {before} of the writes before, and {after} after."
	}
	switch {
	case o.Begun:
		pattern += " All writes together went from {totalBefore} to {totalAfter} rows/s: most of them began about when the run did, so too " +
			"little of them was counted before it."
	case o.Verdict == Helped && o.Credit.OthersBefore >= leastPoint:
		pattern += " Of that, others moved what had {othersBefore} of the writes; without this run it would be about {without}."
	case o.Verdict == NotThis:
		pattern += " But what this run moved or split takes {moved} of the writes now: without the run it would be about {without} too."
	case o.Verdict == Unclear:
		rest := "the rest came by itself."
		if o.Credit.Others >= leastPoint {
			rest = "what others moved from the shard takes {others}."
		}
		pattern += " Without this run it would be about {without} of all: a part is its doing, " + rest
		if o.Credit.Without >= leastLeft*o.Before.Share {
			pattern += " All writes together went from {totalBefore} to {totalAfter} rows/s."
		}
	}
	return message.New("outcome.measured", pattern, message.Share("moved", o.Credit.Moved), message.Share("without", o.Credit.Without),
		message.Share("others", o.Credit.Others), message.Share("othersBefore", o.Credit.OthersBefore),
		message.Rate("totalBefore", o.Before.Total.PerSecond), message.Rate("totalAfter", o.After.Total.PerSecond),
		message.Share("before", o.Before.Share), message.Share("after", o.After.Share),
		message.Shard("from", o.Before.Hottest), message.Shard("to", o.After.Hottest))
}

// WhyNot says why a collection is not compared; the zero Message if it is.
func (c CollectionChange) WhyNot() message.Message {
	if c.Not == "" {
		return message.Message{}
	}
	ns := message.Namespace("ns", c.NS)
	if c.NS == "" {
		ns = message.Words("ns", "these collections")
	}
	return message.New("outcome."+c.Not, notComparedText(c.Not), ns, message.Text("reason", c.Not), seconds("before", c.CoveredBefore),
		seconds("after", c.CoveredAfter), message.Coded("least", leastCovered.String(), strconv.Itoa(int(leastCovered.Seconds()))+" s"))
}

func notComparedText(reason string) string {
	switch reason {
	case reasonOff:
		return "Writes are not counted here."
	case reasonNoRecord:
		return "No writes were counted around this run: shardboard was not running, or it was an older version."
	case reasonGap:
		return "Too little of {ns} was counted: {before} before the run and {after} after it; at least {least} of each are needed."
	case reasonGone:
		return "{ns} no longer exists."
	case reasonChanged:
		return "{ns} is not in the sums: its rows are changed in place, and only those of the hottest projects are counted."
	case "unsharded":
		return "The writes of {ns} are not counted: it is on one shard."
	case "inPlace":
		return "The writes of {ns} are not counted: its rows are changed in place and have no date of the change."
	case "scattered":
		return "The writes of {ns} are not counted: its shard key does not begin with the project, so each count would query every shard."
	case "unprofiled":
		return "The writes of {ns} are not counted: the profile does not describe how it is written."
	}
	return "The writes of {ns} are not counted ({reason})."
}

// seconds is a length of time in whole seconds: windows are compared by them.
func seconds(name string, n float64) message.Fact {
	d := time.Duration(n) * time.Second
	return message.Coded(name, d.String(), strconv.Itoa(int(n))+" s")
}
