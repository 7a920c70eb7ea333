package changing

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/outcome"
)

// RunWithOutcome is a run with its outcome and its cost, which lists of runs leave out. With an
// error it is the run alone, with an outcome that says so. measured is nil where
// whether runs helped is not measured.
func RunWithOutcome(ctx context.Context, v answer.View, kept engine.Service, measured Outcomes, r engine.Run) (api.Run, error) {
	out := RunOf(v, r)
	unread := &api.RunOutcome{Text: "The measurements could not be read; the log has the cause."}
	o := outcome.Off(r)
	if measured != nil {
		var err error
		if o, err = measured.Of(ctx, r); err != nil {
			out.Outcome = unread
			return out, err
		}
	}
	p, err := kept.PlanByID(ctx, r.Plan)
	switch {
	case err == nil:
		out.Cost = runCost(outcome.CostOf(p, r))
	case fault.Of(err) != fault.NotFound && !errors.Is(err, engine.ErrUnreadable): // a plan is not kept for ever
		out.Outcome = unread
		return out, err
	}
	out.Outcome = RunOutcome(v, o)
	return out, nil
}

// RunOf is a run, as far as those who look may see it, without its outcome.
func RunOf(v answer.View, r engine.Run) api.Run {
	moving := logbook.MovingSteps(v, r)
	r = v.Run(r)
	out := api.Run{
		ID: r.ID, Plan: r.Plan, Kind: string(r.Kind), Summary: api.Timeless(v.Named(r.Summary)),
		State: string(r.State), Resolved: r.Resolved,
		Open: r.State.Open(), Why: whyText(r), BlockedBy: r.BlockedBy(), Steps: []api.RunStep{}, Rows: RowsOf(r.Rows),
		StartedAt: api.Time(r.Started),
		EndedAt:   api.Time(r.Ended), By: r.By, ByName: r.ByName, Reason: r.Reason, StopBy: r.StopBy, StopAt: api.Time(r.StopAt),
		CanUndo: r.CanUndo(), UndoOf: r.UndoOf, UndoneBy: r.UndoneBy, CanFinish: r.CanFinish(), Standing: standingOf(r, v.Table),
		Adaptations: adaptationsOf(v, r), Limits: limitsOf(r.Limits), Title: api.Timeless(changeHeading(v.Named(r.Summary))),
		Moving: moving, Deletions: answer.RunDeletions(v, r), Unanswered: answer.RunSilence(v, r), Batch: batchOf(v, r),
		Parent: r.Parent, Item: r.Item,
	}
	if a := r.Approval; a != nil {
		out.Approved = answer.PersonText(cmp.Or(a.ByName, a.By))
	}
	for _, s := range r.Steps {
		step := api.RunStep{
			Op: string(s.Op), DB: s.Command.DB, Command: api.Document(s.Command.Doc), Shell: MongoshCommand(s.Command),
			Message: v.Named(s.Text()),
			State:   string(s.State), Resolved: s.Resolved, Why: api.Timeless(v.Named(s.Why)),
			Waiting: stepWaitOf(s), Error: s.Error, Already: s.Already,
			SentAt: api.Time(s.Sent), EndedAt: api.Time(s.Ended), Done: s.Progress.Done, Total: s.Progress.Total, Try: s.Try + 1,
			Resharding: logbook.ReshardingOf(s.Resharding), Drain: answer.DrainOfStep(v, s),
			Proof: []api.StepProof{}, Events: StepEvents(s), Changed: differencesNamed(v, s.Changed),
		}
		if c := logbook.StepCode(s); c != "" {
			step.Code, step.Means = string(c), logbook.FailureAdvice(c)
			if s.State == engine.Unknown { // nothing is to be tried before its outcome is known
				step.Means = c.Meaning()
			}
		}
		for _, p := range s.Proven {
			f := p.Fact
			step.Proof = append(step.Proof, api.StepProof{Kind: string(f.Kind), NS: string(f.NS), Min: api.Document(f.Min), Max: api.Document(f.Max),
				Shard: f.Shard, Zone: f.Zone, Want: f.Want, Got: p.Got, At: api.Time(p.At)})
		}
		out.Steps = append(out.Steps, step)
	}
	return out
}

// adaptationsOf are the times that the rest of a run was planned again, oldest first.
func adaptationsOf(v answer.View, r engine.Run) []api.Adaptation {
	return answer.Map(r.Adaptations, func(a engine.Adaptation) api.Adaptation {
		return api.Adaptation{At: api.Time(a.At), Step: a.Step, Before: a.Before, After: a.After, Same: a.Same,
			Refused: a.Refused, Because: differencesNamed(v, a.Because), Text: a.Text().String()}
	})
}

// whyText says why a run is in its state. If it waits for something, or has given up
// waiting, it says for what.
func whyText(r engine.Run) string {
	if i := waitingStep(r); i >= 0 {
		return strings.Join(StepWaitTexts(string(r.Steps[i].State), stepWaitOf(r.Steps[i])), " ")
	}
	why := r.Why.String()
	if r.Why.Code == "step.gaveUp" {
		for _, s := range r.Steps {
			if s.State == engine.Failed && s.Backoff != nil {
				why += " " + s.Backoff.What.String()
			}
		}
	}
	return why
}

// waitingStep is the step that waits for what is in its way; -1 when none does.
func waitingStep(r engine.Run) int {
	if r.State != engine.Waiting || r.Why.Code != "run.obstacle" {
		return -1
	}
	return slices.IndexFunc(r.Steps, func(s engine.Step) bool { return s.State == engine.Waiting && s.Backoff != nil })
}

// stepWaitOf is what a step waits for, or waited for last; nil for nothing.
func stepWaitOf(s engine.Step) *api.StepWait {
	w := s.Backoff
	if w == nil {
		return nil
	}
	return &api.StepWait{Obstacle: string(w.Obstacle), Text: w.What.String(), Since: api.Time(w.Since), Next: api.Time(w.Next),
		Until: api.Time(w.Until)}
}

// RowsOf are the rows that a run counted before and after, by collection.
func RowsOf(counts []engine.RowCount) []api.RunRows {
	out := make([]api.RunRows, 0, len(counts))
	for _, c := range counts {
		rows := api.RunRows{Item: c.Item, NS: string(c.NS), Project: c.Project, Before: answer.FigureOf(c.Before),
			After: answer.FigureOf(c.After),
			Text:  c.Text().String()}
		if n, ok := c.Difference(); ok {
			seconds := c.Took().Seconds()
			rows.Difference, rows.Seconds = &n, &seconds
		}
		if c.Writes.Known && !math.IsNaN(c.Writes.PerSecond) && !math.IsInf(c.Writes.PerSecond, 0) {
			rows.WritesPerSecond = &c.Writes.PerSecond
		}
		out = append(out, rows)
	}
	return out
}
