package answer

import (
	"encoding/json"
	"maps"
	"slices"

	"shardboard/internal/actions"
	"shardboard/internal/api"
	"shardboard/internal/rules"
	"shardboard/internal/sanitize"
)

// addRemedies adds the plans whose own checks pass, those that are blocked with the
// reason, and why there is no plan.
func addRemedies(out *api.Advice, v View, p rules.Problem, may AdviceMay) {
	out.WhyNot = p.Remedy.WhyNot.At(v.Now)
	for _, plan := range p.Remedy.Plans {
		one := api.AdvicePlan{Kind: plan.Kind, Args: v.planArguments(plan), Text: plan.Text.At(v.Now)}
		if one.Why = may.Try(actions.Kind(plan.Kind), planArguments(plan)).Why; one.Why != "" {
			out.Refused = append(out.Refused, one)
			continue
		}
		if may.Plan {
			one.URL = remedyURL(plan, p.Text.At(v.Now))
		}
		out.Plans = append(out.Plans, one)
	}
	if len(out.Plans) == 0 && out.WhyNot == "" && len(out.Refused) > 0 {
		out.WhyNot = "No plan helps as things are: each is blocked for the reason given."
	}
}

// remedyURL is the filled-in form of a plan, with the problem as its reason.
func remedyURL(p rules.Plan, reason string) string {
	pairs := []string{"reason", sanitize.Truncate(reason, 400)}
	for _, name := range slices.Sorted(maps.Keys(p.Args)) {
		pairs = append(pairs, name, p.Args[name])
	}
	return PlanURL(actions.Kind(p.Kind), pairs...)
}

// planArguments are a plan's arguments as its JSON has them. What is not readable
// is left out.
func planArguments(p rules.Plan) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for name, text := range p.Args {
		x, _ := actions.ArgumentNamed(name)
		if raw, err := x.FromText(text); err == nil {
			out[name] = raw
		}
	}
	return out
}
