package engine

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/operation"
	"shardboard/internal/balance"
	"shardboard/internal/fault"
)

// planAgain makes the plan again and reports what has changed since. It also returns
// the situation that the new plan is based on.
// covered: an approval covers the plan.
func (e *Engine) planAgain(ctx context.Context, p actions.Plan, covered bool) (actions.Situation, error) {
	s, fresh, err := e.planFromCluster(ctx, Request{Kind: p.Kind, Args: p.Args, UndoOf: p.UndoOf})
	if err = checkUnchanged(s, p, fresh, err); err == nil {
		err = e.withinApproval(p, covered, fresh)
	}
	return s, err
}

// checkUnchanged compares a plan with the one that would be made now; err is the
// error of making that one.
func checkUnchanged(s actions.Situation, p, fresh actions.Plan, err error) error {
	current := func(f operation.Fact) map[string]string { return operation.Fields(s.Table, f) }
	const changedSince = "The cluster is not as it was when the plan was made. Make the plan again."
	switch {
	case fault.Of(err) == fault.Unavailable:
		return err
	case err != nil:
		return changedError(planDifferences(p, actions.Plan{}, current), "This plan can no longer be made: %s", fault.Text(err))
	case samePlan(s.Release, p, fresh) && fresh.Blocked():
		return blockedError(fresh)
	case samePlan(s.Release, p, fresh):
		if d := actions.MaintenanceClosed(p.Checks, fresh.Checks); d != nil {
			return changedError(
				d,
				"The maintenance window has closed since the plan was made. Make the plan again: outside the window it has to be confirmed by typing.",
			)
		}
		return nil
	}
	// What changed is more useful than the check that blocks because of it.
	if facts := factDifferences(p, fresh, current); len(facts) > 0 {
		return changedError(facts, changedSince)
	}
	if fresh.Blocked() {
		return blockedError(fresh)
	}
	return changedError(planDifferences(p, fresh, current), changedSince)
}

// samePlan reports whether two plans do the same under the same conditions. Earlier releases of shardboard moved
// whole chunks with moveRange, too, which does the same as long as the chunk is whole, as the conditions say.
func samePlan(r balance.Release, p, fresh actions.Plan) bool {
	if p.Hash == fresh.Hash {
		return true
	}
	steps := slices.Clone(fresh.Steps)
	for i := range steps {
		if i < len(p.Steps) && steps[i].Op == operation.OpMove && p.Steps[i].Op == operation.OpMoveRange {
			steps[i].Op = operation.OpMoveRange
		}
	}
	commands, err := commandsOf(r, steps)
	if err != nil {
		return false
	}
	hash, err := planHash(steps, commands)
	return err == nil && hash == p.Hash
}

// planDifferences lists how a plan differs from the one that would be made now: its
// preconditions field by field or, when those are equal, its commands.
func planDifferences(old actions.Plan, fresh actions.Plan, current func(operation.Fact) map[string]string) []operation.Difference {
	out := factDifferences(old, fresh, current)
	if len(out) > 0 {
		return out
	}
	for i := range max(len(old.Commands), len(fresh.Commands)) {
		var was, is operation.Command
		if i < len(old.Commands) {
			was = old.Commands[i]
		}
		if i < len(fresh.Commands) {
			is = fresh.Commands[i]
		}
		if !was.Equal(is) {
			out = append(out, operation.Difference{Field: "command", Want: commandText(was.Doc), Got: commandText(is.Doc)})
		}
	}
	return out
}

// factDifferences lists the preconditions that have changed. When several steps have
// the same precondition, only the first one describes the current cluster: earlier
// steps may bring about what later ones need.
func factDifferences(old actions.Plan, fresh actions.Plan, current func(operation.Fact) map[string]string) []operation.Difference {
	needs := map[string]operation.Fact{}
	for _, s := range fresh.Steps {
		for _, f := range s.Needs {
			if id := factIdentity(f); needs[id].Kind == "" {
				needs[id] = f
			}
		}
	}
	var out []operation.Difference
	seen := map[string]bool{}
	for i, s := range old.Steps {
		for _, f := range s.Needs {
			id := factIdentity(f)
			if seen[id] {
				continue
			}
			seen[id] = true
			switch same, ok := needs[id]; {
			case ok:
				out = append(out, f.Against(same.Want)...)
			case i == 0: // earlier steps may bring about what later ones need
				out = append(out, f.Against(current(f))...)
			}
		}
	}
	return out
}

func commandText(doc bson.Raw) string {
	if doc == nil {
		return ""
	}
	return doc.String()
}
