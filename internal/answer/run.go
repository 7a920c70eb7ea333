package answer

import (
	"context"
	"errors"

	"shardboard/internal/actions/engine"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/outcome"
)

// RunWithOutcome is a run with its outcome and its cost, which lists of runs leave out. With an
// error it is the run alone, with an outcome that says so. measured is nil where
// whether runs helped is not measured.
func RunWithOutcome(ctx context.Context, v View, kept engine.Service, measured Outcomes, r engine.Run) (api.Run, error) {
	out := RunOf(v, r)
	unread := &api.RunOutcome{Text: "What was measured could not be read; the program’s log says why."}
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
	out.Outcome = runOutcome(v, o)
	return out, nil
}

// RunOf is a run, as far as those who look may see it, without its outcome.
func RunOf(v View, r engine.Run) api.Run {
	r = v.Run(r)
	out := api.Run{
		ID: r.ID, Plan: r.Plan, Kind: string(r.Kind), Summary: r.Summary.String(), State: string(r.State), Resolved: r.Resolved,
		Open: r.State.Open(), Why: whyText(r), Steps: []api.RunStep{}, Rows: RowsOf(r.Rows), StartedAt: api.Time(r.Started),
		EndedAt: api.Time(r.Ended), By: r.By, ByName: r.ByName, Reason: r.Reason, StopBy: r.StopBy, StopAt: api.Time(r.StopAt),
		CanUndo: r.CanUndo(), UndoOf: r.UndoOf, UndoneBy: r.UndoneBy, CanFinish: r.CanFinish(), Standing: standingOf(r, v.Table.Balancer),
		Adaptations: adaptationsOf(r), Limits: limitsOf(r.Limits),
	}
	for _, s := range r.Steps {
		step := api.RunStep{
			Op:       string(s.Op),
			DB:       s.Command.DB,
			Command:  api.Document(s.Command.Doc),
			State:    string(s.State),
			Resolved: s.Resolved,
			Why:      s.Why.String(),
			Proof:    []api.StepProof{},
			Events:   StepEvents(s),
			Error:    s.Error,
			Changed:  DifferencesOf(s.Changed),
			SentAt:   api.Time(s.Sent),
			EndedAt:  api.Time(s.Ended),
			Done:     s.Progress.Done,
			Total:    s.Progress.Total,
			Try:      s.Try + 1,
			Already:  s.Already,
			Waiting:  stepWaitOf(s),
			Text:     s.Text().String(),
			Shell:    MongoshCommand(s.Command),
		}
		if c := stepCode(s); c != "" {
			step.Code, step.Means = string(c), FailureAdvice(c)
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
func adaptationsOf(r engine.Run) []api.Adaptation {
	out := make([]api.Adaptation, 0, len(r.Adaptations))
	for _, a := range r.Adaptations {
		out = append(out, api.Adaptation{At: api.Time(a.At), Step: a.Step, Before: a.Before, After: a.After, Same: a.Same,
			Refused: a.Refused, Because: DifferencesOf(a.Because), Text: a.Text().String()})
	}
	return out
}
