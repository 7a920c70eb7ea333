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
	"shardboard/web/parts"
	"shardboard/web/templates"
)

// runView is one run, the same for everybody.
func runView(v answer.View, whole engine.Run) Run {
	r := v.Run(whole)
	m := Run{
		ID: r.ID, PlanURL: "/plans/" + r.Plan, Sentence: r.Summary.String(),
		Level: answer.StateLevel(r.State), Word: r.State.Label(), Why: sanitize.Truncate(sanitize.Sentence(answer.WhyText(r)), answer.TextShown), Meaning: r.State.Meaning(),
		Open: r.State.Open(), CanUndo: r.CanUndo(), By: answer.RunBy(r), Reason: sanitize.Truncate(sanitize.Sentence(r.Reason), answer.TextShown),
		Started: templates.Ago(r.Started, v.Now), Took: answer.TookText(r),
	}
	if !r.Ended.IsZero() {
		m.Ended = templates.Ago(r.Ended, v.Now)
	}
	if r.Resolved {
		m.Meaning += " " + "It was unknown for a while, and then the cluster told."
	}
	if r.StopBy != "" && r.State.Open() {
		m.Held = fmt.Sprintf("Stop asked for by %s at %s. The command in flight continues; none follows.", sanitize.Truncate(sanitize.Sentence(r.StopBy), 80), format.Clock(r.StopAt))
	}
	if r.UndoOf != "" {
		m.UndoOf = "/runs/" + r.UndoOf
	}
	if r.UndoneBy != "" {
		m.UndoneBy = "/runs/" + r.UndoneBy
	}
	m.Progress, m.Share = answer.RunProgress(r)
	m.CanFinish = r.CanFinish()
	if !r.State.Open() || r.State == engine.Unknown || r.StopBy != "" {
		m.Standing = answer.StandingText(r, v.Table.Balancer)
	}
	m.Adapted = adaptations(r)
	numbers := answer.StepNumbers(r)
	for i, s := range r.Steps {
		step := RunStep(i, s)
		step.Folded, step.N = answer.TriedAgain(r, i), numbers[i]
		step.Moving = parts.InFlightView(v, answer.MovingStep(v, whole.Steps[i]), 1)
		m.Steps = append(m.Steps, step)
	}
	m.Log = runLog(v, r)
	return m
}

// runStep is a step with its command, its answer and its proof.
func RunStep(i int, s engine.Step) RunStepModel {
	out := RunStepModel{Key: "step-" + strconv.Itoa(i), N: strconv.Itoa(i + 1), What: s.Text().String(), Shell: answer.ShellCommand(s.Command),
		Level: answer.StateLevel(s.State), Word: s.State.StepLabel(), Resolved: s.Resolved, Why: answer.RunWhy(s.Why),
		Server: parts.ServerText("The server says", s.Error), Means: answer.FailureAdvice(answer.StepCode(s)), Share: -1, Open: s.State.Open()}
	if !s.Sent.IsZero() {
		out.Sent = format.Clock(s.Sent)
	}
	if !s.Ended.IsZero() {
		out.Ended = format.Clock(s.Ended)
	}
	if p := s.Progress; p.Total > 0 {
		text := "Step %s of %s of the migration"
		if !s.Sends() {
			text = "%s of %s are as wanted"
		}
		out.Progress = fmt.Sprintf(text, format.Count(p.Done), format.Count(p.Total))
		out.Share = answer.Share(p.Done, p.Total)
	}
	out.Waits = answer.WaitTexts(s)
	if s.Try > 0 {
		out.Try = "Try " + strconv.Itoa(s.Try+1) + "."
	}
	for _, d := range s.Changed {
		out.Changed = append(out.Changed, d.Text().String())
	}
	for _, p := range s.Proven {
		out.Proof = append(out.Proof, runProof(p))
	}
	return out
}

// runProof holds what was read against what was wanted.
func runProof(p engine.Reading) RunProof {
	out := RunProof{Subject: p.Fact.Subject().String(), At: format.Clock(p.At)}
	for _, name := range slices.Sorted(maps.Keys(p.Fact.Want)) {
		want, got := p.Fact.Want[name], p.Got[name]
		_, read := p.Got[name]
		f := RunReading{Name: actions.FieldLabel(name), Want: actions.ValueText(want), Got: actions.ValueText(got), Same: read && want == got}
		if !read {
			f.Got = "not read"
		}
		out.Fields = append(out.Fields, f)
	}
	return out
}

// runLog is what happened, from the run itself and from the changelog.
func runLog(v answer.View, r engine.Run) []templates.EventRow {
	var out []templates.EventRow
	note := func(at time.Time, key, text string, failed bool) {
		if !at.IsZero() {
			out = append(out, templates.EventRow{Event: api.Event{ID: key, Text: text, Failed: failed}, When: templates.Ago(at, v.Now)})
		}
	}
	note(r.Started, "started", "Started by "+answer.RunBy(r), false)
	note(r.StopAt, "held", "Stop asked for by "+sanitize.Truncate(sanitize.Sentence(r.StopBy), 80), false)
	refs := parts.RefsOf(v.Table)
	numbers := answer.StepNumbers(r)
	for i, s := range r.Steps {
		n, key := numbers[i], strconv.Itoa(i+1)
		if s.Sends() {
			note(s.Sent, "sent-"+key, "Step "+n+": intent written, then sent", false)
		}
		note(s.Ended, "ended-"+key, fmt.Sprintf("Step %s: %s", n, s.State.StepLabel()), answer.StateLevel(s.State) == "bad")
		reasons := answer.StepReasons(s)
		for _, e := range s.Events {
			row := parts.EventRow(v, refs, answer.ReadEvent(e).Because(reasons))
			row.ID = "event-" + key + "-" + e.ID
			if counts := answer.CountsOf(e); len(counts) > 0 {
				row.Note = "The server counted: " + answer.CountsText(counts)
			}
			out = append(out, row)
		}
	}
	note(r.Ended, "ended", "The run ended: "+r.State.Label(), answer.StateLevel(r.State) == "bad")
	slices.SortStableFunc(out, func(a, b templates.EventRow) int { return b.When.At.Compare(a.When.At) })
	return out[:min(len(out), answer.LogListed)]
}

// runRow is a run in the list.
func runRow(v answer.View, r engine.Run) RunRow {
	r = v.Run(r)
	ended, all := answer.StepsDone(r)
	return RunRow{
		ID: r.ID, URL: "/runs/" + r.ID, Sentence: r.Summary.String(), Kind: r.Kind.Describe().Title, Level: answer.StateLevel(r.State), Word: r.State.Label(),
		By: answer.RunBy(r), ByURL: answer.RunsQuery{By: r.By}.Url(""), Reason: sanitize.Truncate(sanitize.Sentence(r.Reason), 120), Started: templates.Ago(r.Started, v.Now), Stamp: format.Stamp(r.Started),
		Took: answer.TookText(r), Steps: strings.Join([]string{strconv.Itoa(ended), strconv.Itoa(all)}, "/"),
	}
}
