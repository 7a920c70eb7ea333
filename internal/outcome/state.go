package outcome

import (
	"cmp"

	"shardboard/internal/actions/engine"
)

// State is how far a comparison has got.
type State string

// The states.
const (
	Running   State = "running"   // the run has not ended
	TooEarly  State = "tooEarly"  // less than a minute was counted after the run: see KnownAt
	SoFar     State = "soFar"     // the window after the run has not ended: the verdict is of its first minutes
	Measured  State = "measured"  // there is a verdict
	Shared    State = "shared"    // other runs changed the same collections at the time: figures without a verdict
	Few       State = "few"       // too few rows for a verdict
	Idle      State = "idle"      // nothing was written in either window
	Uncounted State = "uncounted" // see Reason
	Unchanged State = "unchanged" // the run neither moved nor split a chunk
)

// Reasons for not comparing, besides the codes of heat.Uncounted.
const (
	reasonOff      = "off"      // writes are not counted here
	reasonNoRecord = "noRecord" // nothing was counted around this run
	reasonGap      = "gap"      // less than leastCovered of a window was counted
	reasonChanged  = "changed"  // changed rows, beside new rows: listed but not compared
	reasonGone     = "gone"     // the collection no longer exists
)

// setState decides the state and, when the figures suffice, the verdict.
func (o *Outcome) setState(r engine.Run, kept *Record, in []CollectionRecord) {
	switch {
	case r.State.Open():
		o.State = Running
		return
	case !kept.Closed && len(in) > 0 && o.After.Covered < leastSoFar.Seconds():
		o.State = TooEarly
		return
	case len(in) == 0:
		o.State, o.Reason = Uncounted, o.uncountedReason()
		return
	}
	n, m := o.Before.Total.Rows, o.After.Total.Rows
	v, plusMinus := o.judgeRun(in)
	switch {
	case n == 0 && m == 0:
		o.State = Idle
	case v == "":
		o.State = Few
	case len(o.OtherRuns) > 0 && !kept.separable():
		o.State, o.PlusMinus = Shared, plusMinus
	default:
		o.State, o.Verdict, o.PlusMinus = Measured, v, plusMinus
	}
	if !kept.Closed {
		if o.State != Measured {
			o.State, o.PlusMinus = TooEarly, 0 // the rest of the window may bring what is missing
			return
		}
		o.State = SoFar
	}
}

// uncountedReason is why no collection was compared: a temporary gap before permanent reasons.
func (o *Outcome) uncountedReason() string {
	reason := ""
	for _, c := range o.Collections {
		if c.Not == reasonGap {
			return reasonGap
		}
		reason = cmp.Or(reason, c.Not)
	}
	return cmp.Or(reason, reasonNoRecord)
}
