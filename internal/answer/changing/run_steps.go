package changing

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// ListedStep is a step of a run as people list it.
type ListedStep struct {
	api.RunStep
	Index  int // in the run's steps
	Number int // for people, from 1
}

// ListSteps lists the steps of a run. Of a step that was put off and tried again only
// the last try is listed.
func ListSteps(steps []api.RunStep) (out []ListedStep) {
	numbers := stepNumbers(steps)
	for i, s := range steps {
		if !triedAgain(steps, i) {
			out = append(out, ListedStep{s, i, numbers[i]})
		}
	}
	return out
}

// triedAgain tells whether a step was put off and a later one is the same step.
func triedAgain(steps []api.RunStep, i int) bool { return nextTry(steps, i) >= 0 }

// nextTry is the index of the next try of a step that was put off, -1 if there is none. Steps that do not depend on it
// may be in between.
func nextTry(steps []api.RunStep, i int) int {
	if steps[i].State != string(engine.Deferred) {
		return -1
	}
	at := slices.IndexFunc(steps[i+1:], func(s api.RunStep) bool {
		return s.Try == steps[i].Try+1 && s.Op == steps[i].Op && s.DB == steps[i].DB && string(s.Command) == string(steps[i].Command)
	})
	if at < 0 {
		return -1
	}
	return i + 1 + at
}

// stepNumbers are the numbers of steps for people: all tries of a step have the same.
func stepNumbers(steps []api.RunStep) []int {
	out := make([]int, len(steps))
	n := 1
	for i := range steps {
		if !triedAgain(steps, i) {
			out[i] = n
			n++
		}
	}
	for i := len(steps) - 1; i >= 0; i-- {
		if next := nextTry(steps, i); next >= 0 {
			out[i] = out[next]
		}
	}
	return out
}

// stepInFlight is the number of the step whose command was sent, for people, of how many; 0 for none.
func stepInFlight(steps []api.RunStep) (n, all int) {
	numbers := stepNumbers(steps)
	for i, s := range steps {
		if s.State == string(engine.Running) {
			n = numbers[i]
		}
		all = numbers[i]
	}
	return n, all
}

// StepsDone counts the steps that are done, of all that are to be done. A step that
// was put off or planned again counts where it is done.
func StepsDone(steps []api.RunStep) (done, all int) {
	for _, s := range steps {
		switch engine.State(s.State) {
		case engine.Deferred, engine.Replaced:
			continue
		case engine.Succeeded:
			done++
		}
		all++
	}
	return done, all
}

// StepProgressText says how far a step is; "" if that is not known, or if it has succeeded: the last phase of a move
// that was seen says nothing then.
func StepProgressText(s api.RunStep) string {
	switch {
	case s.Total == 0, engine.State(s.State) == engine.Succeeded:
		return ""
	case s.Drain != nil:
		return fmt.Sprintf("%s of %s have left", format.Count(s.Done), format.Count(s.Total))
	case s.Op == string(operation.OpAwait):
		return fmt.Sprintf("as expected: %s of %s", format.Count(s.Done), format.Count(s.Total))
	}
	return fmt.Sprintf("Phase %s of %s of the move", format.Count(s.Done), format.Count(s.Total))
}

// StepTimesText says when a step was sent and when it ended; "" if it was not sent.
func StepTimesText(s api.RunStep) string {
	if s.SentAt == nil {
		return ""
	}
	text := "intent written " + format.Clock(*s.SentAt)
	if s.EndedAt != nil {
		text += " · ended " + format.Clock(*s.EndedAt)
	}
	return text
}

// StepWaitTexts say what a step waits for, since when, and until when at most.
func StepWaitTexts(state string, w *api.StepWait) []string {
	switch {
	case w == nil || w.Since == nil:
		return nil
	case state == string(engine.Waiting) && w.Next != nil && w.Until != nil:
		return []string{w.Text, "Blocked since " + format.Clock(*w.Since) + ".",
			fmt.Sprintf("Next try about %s; gives up at %s.", format.Clock(*w.Next), format.Clock(*w.Until))}
	}
	return []string{w.Text, "It was blocked from " + format.Clock(*w.Since) + " on."}
}

// NextTry is when a run that something keeps waiting tries again; nil for another run.
func NextTry(r api.Run) *time.Time {
	for _, s := range r.Steps {
		if r.State == string(engine.Waiting) && s.State == string(engine.Waiting) && s.Waiting != nil {
			return s.Waiting.Next
		}
	}
	return nil
}

// ProofSubject names what a proof is about.
func ProofSubject(p api.StepProof) message.Message {
	return factNamed(p.Kind, p.NS, p.Min, p.Max, p.Shard, p.Zone).Subject()
}

// factNamed is a fact as an answer names it, without its values.
func factNamed(kind, ns string, min, max api.Key, shard, zone string) operation.Fact {
	f := operation.Fact{Kind: operation.FactKind(kind), NS: topology.Namespace(ns), Shard: shard, Zone: zone}
	f.Min, _ = shardkey.ParseExtJSON(string(min)) // nothing is a fact without bounds
	f.Max, _ = shardkey.ParseExtJSON(string(max))
	return f
}

// ProvenField compares a field that must have a value with the value that was read.
type ProvenField struct {
	Text string
	Same bool
}

// ProvenFields are the fields of a proof, by name.
func ProvenFields(p api.StepProof) (out []ProvenField) {
	for _, name := range slices.Sorted(maps.Keys(p.Want)) {
		want := p.Want[name]
		got, read := p.Got[name]
		f := ProvenField{Same: read && got == want}
		pattern, found := "{field}: expected {want}, found {got}", operation.ValueText(got)
		switch {
		case f.Same:
			pattern = "{field}: {got}, as expected"
		case !read:
			pattern = "{field}: expected {want}, not read"
		}
		f.Text = message.New("proof.field", pattern, message.Words("field", operation.FieldLabel(name)),
			message.Words("want", operation.ValueText(want)), message.Words("got", found)).String()
		out = append(out, f)
	}
	return out
}

// StepEventText is an entry of the changelog about a step, with the server's counts.
func StepEventText(e api.StepEvent) string {
	text := stepEventWhat(e)
	switch {
	case e.From != "" && e.To != "":
		text += ", " + e.From + " → " + e.To
	case e.From+e.To != "":
		text += " on " + e.From + e.To
	}
	if counted := countedByServer(e.Counts); counted != "" {
		text += ". " + counted
	}
	if e.Failed && e.Reason != "" {
		text += ": " + e.Reason
	}
	return text
}

// stepEventWhat is what happened. An answer does not have the number of chunks of a
// merge or a split, so those are named as the server names them.
func stepEventWhat(e api.StepEvent) string {
	if e.What == "multi-split" || e.What == "merge" || e.What == "autoMerge" {
		return e.What
	}
	return logbook.Event{Event: topology.Event{What: e.What}, From: e.From, To: e.To, Failed: e.Failed}.Text()
}
