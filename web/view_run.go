package web

import (
	"context"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/sanitize"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// runFragment draws a run for all who look at it. It reads the run itself: no
// table has it.
func (s *Site) runFragment(id string) fragmentFunc {
	return func(ctx context.Context, w io.Writer, v View) error {
		run, err := s.deps.Actions.RunByID(ctx, id)
		if err != nil {
			return err
		}
		return templates.RunRegion(s.runModel(ctx, v, run)).Render(templates.AsFragment(ctx), w)
	}
}

// runView is one run, the same for everybody.
func runView(v View, whole engine.Run) templates.Run {
	r := v.run(whole)
	m := templates.Run{
		ID: r.ID, PlanURL: "/plans/" + r.Plan, Sentence: r.Summary.String(),
		Level: stateLevel(r.State), Word: stateWord(r.State), Why: sanitize.Truncate(sanitize.Sentence(whyText(r)), textShown), Meaning: words.Code("runstate.meaning", string(r.State), nil),
		Open: r.State.Open(), CanUndo: r.CanUndo(), By: runBy(r), Reason: sanitize.Truncate(sanitize.Sentence(r.Reason), textShown),
		Started: templates.Ago(r.Started, v.Now), Took: tookText(r),
	}
	if !r.Ended.IsZero() {
		m.Ended = templates.Ago(r.Ended, v.Now)
	}
	if r.Resolved {
		m.Meaning += " " + words.T("runstate.resolved")
	}
	if r.StopBy != "" && r.State.Open() {
		m.Held = words.T("run.held", "by", sanitize.Truncate(sanitize.Sentence(r.StopBy), 80), "at", format.Clock(r.StopAt))
	}
	if r.UndoOf != "" {
		m.UndoOf = "/runs/" + r.UndoOf
	}
	if r.UndoneBy != "" {
		m.UndoneBy = "/runs/" + r.UndoneBy
	}
	m.Progress, m.Share = runProgress(r)
	m.CanFinish = r.CanFinish()
	if !r.State.Open() || r.State == engine.Unknown || r.StopBy != "" {
		m.Standing = standingText(r, v.Table.Balancer)
	}
	m.Adapted = adaptations(r)
	numbers := stepNumbers(r)
	for i, s := range r.Steps {
		step := runStep(i, s)
		step.Folded, step.N = triedAgain(r, i), numbers[i]
		step.Moving = inFlightView(v, movingStep(v, whole.Steps[i]), 1)
		m.Steps = append(m.Steps, step)
	}
	m.Log = runLog(v, r)
	return m
}

func stateWord(s engine.State) string { return words.Code("runstate", string(s), nil) }

// stateLevel is how a state looks: red is what needs a person.
func stateLevel(s engine.State) string {
	switch s {
	case engine.Succeeded:
		return "ok"
	case engine.Failed, engine.Refused:
		return "bad"
	}
	return "note"
}

// runWhy is why a run or a step is as it is; waiting names what for.
func runWhy(m message.Message) string { return sanitize.Shorten(m.String(), textShown) }

func runBy(r engine.Run) string {
	if r.ByName != "" {
		return sanitize.Truncate(sanitize.Sentence(r.ByName), 80)
	}
	return sanitize.Truncate(sanitize.Sentence(r.By), 80)
}

func tookText(r engine.Run) string {
	if r.Ended.IsZero() {
		return ""
	}
	return millisText(r.Ended.Sub(r.Started).Milliseconds())
}

func runProgress(r engine.Run) (string, float64) {
	ended, all := stepsDone(r)
	return words.T("run.progress", "done", strconv.Itoa(ended), "of", strconv.Itoa(all)), share(int64(ended), int64(all))
}

// triedAgain tells whether a step was put off and the next one is the same, so that
// a page lists only that one, with the number of its try.
func triedAgain(r engine.Run, i int) bool {
	return r.Steps[i].State == engine.Deferred && i+1 < len(r.Steps) && r.Steps[i+1].Try == r.Steps[i].Try+1
}

// stepNumbers are the numbers of the steps as a page lists them: all tries of one
// have the same.
func stepNumbers(r engine.Run) []string {
	out := make([]string, len(r.Steps))
	n := 1
	for i := range r.Steps {
		out[i] = strconv.Itoa(n)
		if !triedAgain(r, i) {
			n++
		}
	}
	return out
}

// stepsDone counts the steps that are done, of those that are to be done: one that
// was put off or planned again is counted where it is done.
func stepsDone(r engine.Run) (done, all int) {
	for _, s := range r.Steps {
		switch s.State {
		case engine.Deferred, engine.Replaced:
			continue
		case engine.Succeeded:
			done++
		}
		all++
	}
	return done, all
}

// runStep is a step with its command, its answer and its proof.
func runStep(i int, s engine.Step) templates.RunStep {
	out := templates.RunStep{Key: "step-" + strconv.Itoa(i), N: strconv.Itoa(i + 1), What: stepText(s.Step), Shell: shellCommand(s.Command),
		Level: stateLevel(s.State), Word: words.Code("step", string(s.State), nil), Resolved: s.Resolved, Why: runWhy(s.Why),
		Server: serverText(words.T("run.error"), s.Error), Means: failureAdvice(stepCode(s)), Share: -1, Open: s.State.Open()}
	if !s.Sent.IsZero() {
		out.Sent = format.Clock(s.Sent)
	}
	if !s.Ended.IsZero() {
		out.Ended = format.Clock(s.Ended)
	}
	if p := s.Progress; p.Total > 0 {
		code := "migration"
		if !s.Sends() {
			code = "await"
		}
		out.Progress = words.Code("run.progress", code, map[string]string{"done": format.Count(p.Done), "of": format.Count(p.Total)})
		out.Share = share(p.Done, p.Total)
	}
	out.Waits = waitTexts(s)
	if s.Try > 0 {
		out.Try = words.T("wait.tries", "n", strconv.Itoa(s.Try+1))
	}
	for _, d := range s.Changed {
		out.Changed = append(out.Changed, sanitize.Sentence(differenceText(d)))
	}
	for _, p := range s.Proven {
		out.Proof = append(out.Proof, runProof(p))
	}
	return out
}

// runProof holds what was read against what was wanted.
func runProof(p engine.Reading) templates.RunProof {
	out := templates.RunProof{Subject: sanitize.Sentence(factText(p.Fact)), At: format.Clock(p.At)}
	for _, name := range sortedFields(p.Fact.Want) {
		want, got := p.Fact.Want[name], p.Got[name]
		_, read := p.Got[name]
		f := templates.RunReading{Name: fieldWord(name), Want: valueText(want), Got: valueText(got), Same: read && want == got}
		if !read {
			f.Got = words.T("fact.unread")
		}
		out.Fields = append(out.Fields, f)
	}
	return out
}

// logListed is how many entries a run's page has, the newest first.
const logListed = 200

// runLog is what happened, from the run itself and from the changelog.
func runLog(v View, r engine.Run) []templates.EventRow {
	var out []templates.EventRow
	note := func(at time.Time, key, text string, failed bool) {
		if !at.IsZero() {
			out = append(out, templates.EventRow{Key: key, When: templates.Ago(at, v.Now), Text: text, Failed: failed})
		}
	}
	note(r.Started, "started", words.T("run.log.started", "by", runBy(r)), false)
	note(r.StopAt, "held", words.T("run.log.stop", "by", sanitize.Truncate(sanitize.Sentence(r.StopBy), 80)), false)
	refs := refsOf(v.Table)
	numbers := stepNumbers(r)
	for i, s := range r.Steps {
		n, key := numbers[i], strconv.Itoa(i+1)
		if s.Sends() {
			note(s.Sent, "sent-"+key, words.T("run.log.sent", "n", n), false)
		}
		note(s.Ended, "ended-"+key, words.T("run.log.ended", "n", n, "state", words.Code("step", string(s.State), nil)), stateLevel(s.State) == "bad")
		reasons := stepReasons(s)
		for _, e := range s.Events {
			row := eventRow(v, refs, readEvent(e).because(reasons))
			row.Key = "event-" + key + "-" + e.ID
			if counts := countsOf(e); len(counts) > 0 {
				row.Counts = words.T("run.log.counts", "counts", countsText(counts))
			}
			out = append(out, row)
		}
	}
	note(r.Ended, "ended", words.T("run.log.over", "state", stateWord(r.State)), stateLevel(r.State) == "bad")
	slices.SortStableFunc(out, func(a, b templates.EventRow) int { return b.When.At.Compare(a.When.At) })
	return out[:min(len(out), logListed)]
}

// runRow is a run in the list.
func runRow(v View, r engine.Run) templates.RunRow {
	r = v.run(r)
	ended, all := stepsDone(r)
	return templates.RunRow{
		ID: r.ID, URL: "/runs/" + r.ID, Sentence: r.Summary.String(), Kind: kindWord(r.Kind), Level: stateLevel(r.State), Word: stateWord(r.State),
		By: runBy(r), ByURL: runsQuery{By: r.By}.url(""), Reason: sanitize.Truncate(sanitize.Sentence(r.Reason), 120), Started: templates.Ago(r.Started, v.Now), Stamp: format.Stamp(r.Started),
		Took: tookText(r), Steps: strings.Join([]string{strconv.Itoa(ended), strconv.Itoa(all)}, "/"),
	}
}
