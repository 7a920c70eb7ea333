package answer

import (
	"net/url"

	"shardboard/internal/actions"
	"shardboard/internal/api"
	"shardboard/internal/rules"
)

// WorstProblem is the greatest open problem with what helps; nil where there is none. Its plan is one
// whose own checks pass, and its link leads each reader to what they may do. Nothing in it depends on
// who looks.
func WorstProblem(v View, try TryPlan) *api.WorstProblem {
	found := v.Problems()
	if len(found.Items) == 0 {
		return nil
	}
	p := found.Items[0]
	out := &api.WorstProblem{ProblemLine: ProblemLines(v, found.Items[:1])[0]}
	if v.Past != nil {
		return out // what would have helped then is not planned
	}
	var remedies api.Advice
	addRemedies(&remedies, v, p, AdviceMay{Try: try})
	if len(remedies.Plans) > 0 {
		out.Plan, out.PlanURL = remedies.Plans[0].Text, ProblemPlanURL(p.ID)
	}
	return out
}

// ProblemPlanURL leads to the filled-in form of the plan that helps with a problem.
func ProblemPlanURL(id string) string { return "/advice/" + url.PathEscape(id) + "/plan" }

// FirstPlan is the address of the filled-in form of the first plan that helps with a problem and that
// the reader may make; "" where there is none, or the problem is over.
func FirstPlan(v View, id string, may AdviceMay) string {
	for _, p := range v.Problems().Items {
		if p.ID != id || !may.Plan {
			continue
		}
		for _, plan := range p.Remedy.Plans {
			if may.Try(actions.Kind(plan.Kind), planArguments(plan)).Why == "" {
				return remedyURL(plan, p.Text.At(v.Now))
			}
		}
	}
	return ""
}

// ProblemOpen tells whether a problem is still open.
func ProblemOpen(found rules.View, id string) bool {
	for _, p := range found.Items {
		if p.ID == id {
			return true
		}
	}
	return false
}
