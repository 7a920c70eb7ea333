package changing

import (
	"context"

	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/heat"
	"shardboard/internal/outcome"
)

// Outcomes tell whether runs helped.
type Outcomes interface {
	// Of compares the counted writes before a run with those after it.
	Of(ctx context.Context, r engine.Run) (outcome.Outcome, error)
	// Subscribe gives a channel that receives a value after an answer has changed by
	// itself; the last result ends it.
	Subscribe() (<-chan struct{}, func())
}

// RunOutcome is whether a run helped, for the API. Without counts of both windows their difference is left out.
func RunOutcome(v answer.View, o outcome.Outcome) *api.RunOutcome {
	out := &api.RunOutcome{State: string(o.State), Verdict: string(o.Verdict), Text: v.Own(o.Text()).String(), Basis: string(o.Basis),
		KnownAt: api.Time(o.KnownAt), Reason: o.Reason, Before: outcomeWindow(o.Before), After: outcomeWindow(o.After),
		Shards: []api.OutcomeShard{}, Chunks: []api.OutcomeChunk{}, MoreChunks: o.More,
		Collections: []api.OutcomeCollection{}, OtherRuns: append([]string{}, o.OtherRuns...), OtherMoves: o.OtherMoves,
		Notes: []api.OutcomeNote{}}
	if o.Before.Covered > 0 && o.After.Covered > 0 {
		d := o.After.Share - o.Before.Share
		out.ShareDifference = &d
	}
	if o.PlusMinus > 0 {
		out.PlusMinus = &o.PlusMinus
	}
	for _, x := range o.Shards {
		out.Shards = append(out.Shards,
			api.OutcomeShard{Shard: x.Shard, Before: outcomeRateIn(o.Before, x.Before), After: outcomeRateIn(o.After, x.After)})
	}
	for _, x := range o.Chunks {
		from, until := v.ProjectsOfRange(x.NS, x.Min, x.Max)
		out.Chunks = append(out.Chunks, api.OutcomeChunk{NS: string(x.NS), Min: v.DocumentOf(x.Min), Max: v.DocumentOf(x.Max),
			ShardBefore: x.From, ShardAfter: x.To, Before: outcomeRate(x.Before), After: outcomeRate(x.After),
			KeyProject: from, Until: until})
	}
	for _, x := range o.Collections {
		c := api.OutcomeCollection{
			NS: string(x.NS), Compared: x.Not == "", Reason: x.Not, Why: v.Own(x.WhyNot()).String(),
			BeforeSeconds: x.CoveredBefore, AfterSeconds: x.CoveredAfter, Before: outcomeRate(x.Before), After: outcomeRate(x.After),
		}
		if x.Before != nil || x.After != nil {
			c.Counts = x.Method.String()
		}
		out.Collections = append(out.Collections, c)
	}
	for _, code := range o.Notes {
		out.Notes = append(out.Notes, api.OutcomeNote{Code: code, Text: v.Own(o.Note(code)).String()})
	}
	return out
}

func outcomeWindow(s outcome.Side) api.OutcomeWindow {
	out := api.OutcomeWindow{From: api.Time(s.From), To: api.Time(s.To), CoveredSeconds: s.Covered, Hottest: s.Hottest}
	if s.Covered > 0 {
		share := s.Share
		out.Writes, out.HottestShare = outcomeRateIn(s, s.Total), &share
		out.Writes.Share = 1
	}
	return out
}

// outcomeRateIn is a rate of a window; null when that was not counted.
func outcomeRateIn(s outcome.Side, r heat.Rate) *api.OutcomeRate {
	if s.Covered == 0 {
		return nil
	}
	return outcomeRate(&r)
}

func outcomeRate(r *heat.Rate) *api.OutcomeRate {
	if r == nil {
		return nil
	}
	out := &api.OutcomeRate{WritesPerSecond: r.PerSecond, Exact: r.Exact, AtLeast: r.AtLeast, Share: r.Share, Rows: r.Rows}
	if r.PlusMinus > 0 {
		out.PlusMinus = &r.PlusMinus
	}
	return out
}

func runCost(c outcome.Cost) *api.RunCost {
	steps := answer.Map(c.Steps, func(s outcome.StepCost) api.RunStepCost {
		return api.RunStepCost{Step: s.Step, Estimated: runAmounts(s.Estimated), Actual: runAmounts(s.Actual)}
	})
	return &api.RunCost{Steps: steps, Estimated: runAmounts(c.Total.Estimated), Actual: runAmounts(c.Total.Actual), Moved: c.Moved}
}

func runAmounts(a outcome.Amounts) api.RunAmounts {
	return api.RunAmounts{Documents: answer.FigureOf(a.Documents), Bytes: answer.FigureOf(a.Bytes), DurationMillis: answer.FigureOf(a.Millis)}
}
