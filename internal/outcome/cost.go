package outcome

import (
	"slices"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/topology"
)

// Methods and reasons of figures (catalogue codes).
const (
	methodCloned  = "cloned" // counted by the copying server, in its changelog entry
	methodTimed   = "timed"  // from sending the command to the proof of its effect
	reasonNotIn   = "notPlanned"
	reasonNoEntry = "notLogged"
	reasonNotYet  = "notDone"
	ReasonUnknown = "outcomeUnknown" // sent, and whether it was done is not known
)

// Cost is what the migrations copied and how long they took, estimated and actual.
type Cost struct {
	Steps []StepCost // the migrating steps of the run, each with its last try
	Total Compared   // estimate of the plan, and sum of the successful steps
	Moved int        // number of successful steps
}

// StepCost is the cost of one migrating step.
type StepCost struct {
	Step int // index in the run's steps
	Compared
}

// Compared is an estimate with the actual amounts.
type Compared struct{ Estimated, Actual Amounts }

// Amounts are what a migration copies, and its duration in milliseconds.
type Amounts struct{ Documents, Bytes, Millis topology.Figure }

// CostOf compares a run with its plan. Steps that the run added have no estimate.
func CostOf(p actions.Plan, r engine.Run) Cost {
	out := Cost{Total: Compared{Estimated: Amounts{p.Effect.Documents, p.Effect.Bytes, p.Effect.Duration}}}
	var actual []Amounts
	for i, s := range r.Steps {
		if !s.Migrates() || s.State == engine.Deferred || s.State == engine.Replaced {
			continue // a step that was put off or planned again counts where it is done
		}
		c := StepCost{i, Compared{estimated(p, s.Step), Actual(s)}}
		out.Steps = append(out.Steps, c)
		if s.State == engine.Succeeded {
			out.Moved++
		}
		if s.State == engine.Succeeded || s.State == engine.Unknown {
			actual = append(actual, c.Actual)
		}
	}
	none := topology.Figure{Reason: reasonNotYet}
	out.Total.Actual = Amounts{none, none, totalDuration(r)}
	if len(actual) > 0 {
		out.Total.Actual.Documents = sumOf(actual, func(a Amounts) topology.Figure { return a.Documents })
		out.Total.Actual.Bytes = sumOf(actual, func(a Amounts) topology.Figure { return a.Bytes })
	}
	return out
}

// estimated returns the plan's estimate of a move.
func estimated(p actions.Plan, s operation.Step) Amounts {
	i := slices.IndexFunc(p.Effect.Moves, func(m actions.MoveEffect) bool {
		return m.NS == s.NS && m.To == s.Shard && string(m.Min) == string(s.Min) && string(m.Max) == string(s.Max)
	})
	if i < 0 {
		none := topology.Figure{Reason: reasonNotIn}
		return Amounts{none, none, none}
	}
	m := p.Effect.Moves[i]
	return Amounts{m.Documents, m.Bytes, m.Duration}
}

// Actual returns what a migrating step did, by the changelog entry of its commit and by our clock.
func Actual(s engine.Step) Amounts {
	none := topology.Figure{Reason: reasonNotYet}
	if s.State == engine.Unknown {
		none.Reason = ReasonUnknown
	}
	if s.State != engine.Succeeded {
		return Amounts{none, none, none}
	}
	none.Reason = reasonNoEntry
	out := Amounts{none, none, none}
	for _, e := range s.Events {
		if e.What != "moveChunk.commit" {
			continue
		}
		counts, _ := e.Details.Lookup("counts").DocumentOK()
		read := func(name string) topology.Figure {
			n, ok := counts.Lookup(name).AsInt64OK()
			if !ok || n < 0 {
				return none
			}
			return topology.Figure{Known: true, Exact: true, Value: n, Method: methodCloned, At: e.Time}
		}
		out.Documents, out.Bytes = read("cloned"), read("clonedBytes")
	}
	if !s.Sent.IsZero() && !s.Ended.Before(s.Sent) {
		out.Millis = timed(s.Ended.Sub(s.Sent), s.Ended)
	}
	return out
}

// totalDuration is the duration of all steps that were sent, without the wait before the first command.
func totalDuration(r engine.Run) topology.Figure {
	var sum time.Duration
	var last time.Time
	for _, s := range r.Steps {
		if s.Sent.IsZero() || s.Ended.IsZero() {
			continue
		}
		sum, last = sum+s.Ended.Sub(s.Sent), s.Ended
	}
	if last.IsZero() || r.State.Open() {
		return topology.Figure{Reason: reasonNotYet}
	}
	return timed(sum, last)
}

func timed(d time.Duration, at time.Time) topology.Figure {
	return topology.Figure{Known: true, Exact: true, Value: d.Milliseconds(), Method: methodTimed, At: at}
}

// sumOf is unknown when a part is.
func sumOf(all []Amounts, of func(Amounts) topology.Figure) topology.Figure {
	out := topology.Figure{Known: true, Exact: true}
	for _, a := range all {
		f := of(a)
		if !f.Known {
			return f
		}
		out.Value, out.Method, out.At = out.Value+f.Value, f.Method, f.At
		out.Exact = out.Exact && f.Exact
	}
	return out
}
