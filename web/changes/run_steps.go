package changes

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/sanitize"
)

// stateLevel is how a state looks: red is what needs a person.
func stateLevel(state string) string {
	switch engine.State(state) {
	case engine.Succeeded:
		return "ok"
	case engine.Failed, engine.Refused:
		return "bad"
	}
	return "note"
}

// triedAgain tells whether a step was put off and the next one is the same, so that
// a page lists only that one, with the number of its try.
func triedAgain(steps []api.RunStep, i int) bool {
	return steps[i].State == string(engine.Deferred) && i+1 < len(steps) && steps[i+1].Try == steps[i].Try+1
}

// stepNumbers are the numbers of the steps as a page lists them: all tries of one
// have the same.
func stepNumbers(steps []api.RunStep) []string {
	out := make([]string, len(steps))
	n := 1
	for i := range steps {
		out[i] = strconv.Itoa(n)
		if !triedAgain(steps, i) {
			n++
		}
	}
	return out
}

// stepsDone counts the steps that are done, of those that are to be done: one that
// was put off or planned again is counted where it is done.
func stepsDone(steps []api.RunStep) (done, all int) {
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

// stepProgress is how far a step is.
func stepProgress(s api.RunStep) string {
	if s.Op == string(actions.OpAwait) {
		return fmt.Sprintf("%s of %s are as wanted", format.Count(s.Done), format.Count(s.Total))
	}
	return fmt.Sprintf("Step %s of %s of the migration", format.Count(s.Done), format.Count(s.Total))
}

// stepTimes are when a step was sent and when it ended.
func stepTimes(s api.RunStep) string {
	if s.SentAt == nil {
		return ""
	}
	text := "intent written " + format.Clock(*s.SentAt)
	if s.EndedAt != nil {
		text += " · ended " + format.Clock(*s.EndedAt)
	}
	return text
}

// proofField is one field that had to have a value, and the value that was read.
type proofField struct {
	Text string
	Same bool
}

func proofFields(p api.StepProof) (out []proofField) {
	for _, name := range slices.Sorted(maps.Keys(p.Want)) {
		got, read := p.Got[name]
		shown := actions.ValueText(got)
		if !read {
			shown = "not read"
		}
		f := proofField{Same: read && got == p.Want[name]}
		if f.Same {
			f.Text = fmt.Sprintf("%s: %s, as wanted", actions.FieldLabel(name), shown)
		} else {
			f.Text = fmt.Sprintf("%s: %s, wanted %s", actions.FieldLabel(name), shown, actions.ValueText(p.Want[name]))
		}
		out = append(out, f)
	}
	return out
}

// moving is the migration that a step has begun.
func (m Region) moving(i int) api.MovingNow {
	return answer.MovingNow(m.v, answer.MovingStep(m.v, m.whole.Steps[i]), 1)
}

// who is the name of whoever started a run.
func who(r api.Run) string {
	if r.ByName != "" {
		return shownName(r.ByName)
	}
	return shownName(r.By)
}

func shownName(s string) string { return sanitize.Truncate(sanitize.Sentence(s), 80) }

func took(r api.Run) string {
	if r.StartedAt == nil || r.EndedAt == nil {
		return ""
	}
	return answer.MillisText(r.EndedAt.Sub(*r.StartedAt).Milliseconds())
}

// standing tells whether it is time to say what the run has left in the cluster.
func (m Region) standing() bool {
	return !m.Open || m.State == string(engine.Unknown) || m.StopBy != ""
}

// adaptations are the times that the rest was planned again, the newest first.
// Those that only read again what the same commands need are no news.
func (m Region) adaptations() []api.Adaptation {
	out := slices.DeleteFunc(slices.Clone(m.Adaptations), func(a api.Adaptation) bool { return a.Same })
	slices.Reverse(out)
	return out
}

// becauseListed bounds the differences that a page lists of an adaptation.
const becauseListed = 6

// because are the differences that led to an adaptation; its text already names a
// goal that is no longer met.
func because(a api.Adaptation) []api.Difference {
	return slices.DeleteFunc(slices.Clone(a.Because), func(d api.Difference) bool { return d.Field == "goal" })
}

// logListed is how many entries a run's page has, the newest first.
const logListed = 200

// log is what happened, from the run itself and from the changelog.
func (m Region) log() []api.Event {
	var out []api.Event
	note := func(at *time.Time, key, text string, failed bool) {
		if at != nil {
			out = append(out, api.Event{ID: key, Time: *at, Text: text, Failed: failed})
		}
	}
	note(m.StartedAt, "started", "Started by "+who(m.Run), false)
	note(m.StopAt, "held", "Stop asked for by "+shownName(m.StopBy), false)
	numbers, seen := stepNumbers(m.Steps), m.v.Run(m.whole)
	for i, s := range m.Steps {
		n, key := numbers[i], strconv.Itoa(i+1)
		if s.Op != string(actions.OpAwait) {
			note(s.SentAt, "sent-"+key, "Step "+n+": intent written, then sent", false)
		}
		note(s.EndedAt, "ended-"+key, fmt.Sprintf("Step %s: %s", n, engine.State(s.State).StepLabel()), stateLevel(s.State) == "bad")
		reasons := answer.StepReasons(seen.Steps[i])
		for _, e := range seen.Steps[i].Events {
			row := answer.EventOf(m.v, answer.ReadEvent(e).Because(reasons))
			row.ID = strings.Join([]string{"event", key, e.ID}, "-")
			if counts := answer.CountsOf(e); len(counts) > 0 {
				row.Note = "The server counted: " + answer.CountsText(counts)
			}
			out = append(out, row)
		}
	}
	note(m.EndedAt, "ended", "The run ended: "+engine.State(m.State).Label(), stateLevel(m.State) == "bad")
	slices.SortStableFunc(out, func(a, b api.Event) int { return b.Time.Compare(a.Time) })
	return out[:min(len(out), logListed)]
}
