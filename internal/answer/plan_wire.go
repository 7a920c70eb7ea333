package answer

import (
	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/api"
)

// planOf is the wire form of a plan: the same object for the API, the command
// line and whoever keeps it.
func PlanOf(v View, p actions.Plan) api.Plan {
	p = v.Plan(p)
	out := api.Plan{
		ID: p.ID, Hash: p.Hash, Kind: string(p.Kind), Args: api.PlanArgs{RawMessage: p.Args.JSON()}, Summary: p.Summary.String(),
		Commands: []api.PlanCommand{}, Preconditions: []api.Precondition{}, Checks: ChecksOf(p.Checks), Effect: effectOf(p.Effect), Undo: undoOf(p.Undo),
		Risk: string(p.Risk), Role: string(p.Role), Blocked: p.Blocked(), Reason: p.Reason, By: p.By.ID,
		MadeAt: api.Time(p.Made), ExpiresAt: api.Time(p.Expires), UndoOf: p.UndoOf, Limits: limitsOf(p.Limits),
	}
	if p.Confirm != "" {
		out.Confirm = &p.Confirm
	}
	for i, s := range p.Steps {
		c := api.PlanCommand{Op: string(s.Op)}
		if i < len(p.Commands) {
			c.DB, c.Command = p.Commands[i].DB, api.Document(p.Commands[i].Doc)
		}
		out.Commands = append(out.Commands, c)
		for _, f := range s.Needs {
			out.Preconditions = append(out.Preconditions, api.Precondition{Step: i, Kind: string(f.Kind), NS: string(f.NS),
				Min: api.Document(f.Min), Max: api.Document(f.Max), Shard: f.Shard, Zone: f.Zone, Want: f.Want})
		}
	}
	return out
}

func ChecksOf(checks []actions.Check) []api.PlanCheck {
	out := make([]api.PlanCheck, 0, len(checks))
	for _, c := range checks {
		out = append(out, api.PlanCheck{ID: c.ID, Verdict: string(c.Verdict), Text: c.Text.String(), Source: c.Source.String()})
	}
	return out
}

func effectOf(e actions.Effect) api.Effect {
	out := api.Effect{Chunks: FigureOf(e.Chunks), Documents: FigureOf(e.Documents), Bytes: FigureOf(e.Bytes), DurationMillis: FigureOf(e.Duration),
		Moves: []api.PlanMove{}, Shards: []api.ShardEffect{}, Stays: []string{}}
	for _, m := range e.Moves {
		out.Moves = append(out.Moves, api.PlanMove{NS: string(m.NS), Min: api.Document(m.Min), Max: api.Document(m.Max), From: m.From, To: m.To, Bytes: FigureOf(m.Bytes),
			Documents: FigureOf(m.Documents), DurationMillis: FigureOf(m.Duration)})
	}
	for _, s := range e.Shards {
		out.Shards = append(out.Shards, api.ShardEffect{Shard: s.Shard, ChunksBefore: s.ChunksBefore, ChunksAfter: s.ChunksAfter,
			BytesBefore: FigureOf(s.BytesBefore), BytesAfter: FigureOf(s.BytesAfter)})
	}
	for _, s := range e.Stays {
		out.Stays = append(out.Stays, s.String())
	}
	for _, w := range e.Writes {
		out.Writes = append(out.Writes, api.WriteEffect{Shard: w.Shard, PerSecondBefore: w.Before, PerSecondAfter: w.After})
	}
	return out
}

func undoOf(u actions.Undo) api.Undo {
	out := api.Undo{Possible: u.Possible, Text: u.Text.String(), From: api.Time(u.From), Kind: string(u.Kind)}
	if u.Kind != "" {
		out.Args = &api.PlanArgs{RawMessage: u.Args.JSON()}
	}
	return out
}

// runOf is the wire form of a run.
func RunOf(v View, r engine.Run) api.Run {
	r = v.Run(r)
	out := api.Run{
		ID: r.ID, Plan: r.Plan, Kind: string(r.Kind), Summary: r.Summary.String(), State: string(r.State), Resolved: r.Resolved, Open: r.State.Open(),
		Why: WhyText(r), Steps: []api.RunStep{}, Rows: RowsOf(r.Rows), StartedAt: api.Time(r.Started), EndedAt: api.Time(r.Ended), By: r.By, ByName: r.ByName,
		Reason: r.Reason, StopBy: r.StopBy, StopAt: api.Time(r.StopAt), CanUndo: r.CanUndo(), UndoOf: r.UndoOf, UndoneBy: r.UndoneBy,
		CanFinish: r.CanFinish(), Standing: standingOf(r, v.Table.Balancer), Adaptations: adaptationsOf(r), Limits: limitsOf(r.Limits),
	}
	for _, s := range r.Steps {
		step := api.RunStep{Op: string(s.Op), DB: s.Command.DB, Command: api.Document(s.Command.Doc), State: string(s.State), Resolved: s.Resolved,
			Why: s.Why.String(), Proof: []api.StepProof{}, Events: StepEvents(s), Error: s.Error, Changed: DifferencesOf(s.Changed), SentAt: api.Time(s.Sent), EndedAt: api.Time(s.Ended),
			Done: s.Progress.Done, Total: s.Progress.Total, Try: s.Try + 1, Already: s.Already, Waiting: stepWaitOf(s)}
		if c := StepCode(s); c != "" {
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

func DifferencesOf(ds []actions.Difference) []api.Difference {
	out := make([]api.Difference, 0, len(ds))
	for _, d := range ds {
		out = append(out, api.Difference{Kind: string(d.Fact.Kind), NS: string(d.Fact.NS), Min: api.Document(d.Fact.Min), Max: api.Document(d.Fact.Max),
			Shard: d.Fact.Shard, Zone: d.Fact.Zone, Field: d.Field, Want: d.Want, Got: d.Got, Text: d.Text().String()})
	}
	return out
}
