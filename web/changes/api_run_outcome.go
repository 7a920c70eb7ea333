package changes

import (
	"context"
	"errors"

	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/outcome"
	"shardboard/web/site"
)

// outcomeOf is whether a run helped, and what its migrations cost where its plan
// is still kept.
func outcomeOf(s *site.Site, ctx context.Context, r engine.Run) (outcome.Outcome, *outcome.Cost, error) {
	o := outcome.Off(r)
	if s.Deps.Outcomes != nil {
		var err error
		if o, err = s.Deps.Outcomes.Of(ctx, r); err != nil {
			return o, nil, err
		}
	}
	p, err := s.Deps.Actions.PlanByID(ctx, r.Plan)
	switch {
	case fault.Of(err) == fault.NotFound || errors.Is(err, engine.ErrUnreadable):
		return o, nil, nil
	case err != nil:
		return o, nil, err
	}
	cost := outcome.CostOf(p, r)
	return o, &cost, nil
}

// wholeRun is a run with its outcome; lists of runs leave that out.
func wholeRun(s *site.Site, ctx context.Context, v answer.View, r engine.Run) (api.Run, error) {
	o, cost, err := outcomeOf(s, ctx, r)
	if err != nil {
		return api.Run{}, err
	}
	out := answer.RunOf(v, r)
	out.Outcome, out.Cost = answer.RunOutcome(v, r, o), answer.RunCost(cost)
	return out, nil
}
