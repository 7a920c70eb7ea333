package problems

import (
	"net/url"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/answer/offering"
	"shardboard/internal/api"
	"shardboard/internal/rules"
)

// WorstProblem is the first of the open problems with what helps, or why nothing does; nil where there is none. Its
// plan is one whose own checks pass, and its link leads each reader to what they may do. Nothing in it depends on who
// looks.
func WorstProblem(v answer.View, try offering.TryPlan) *api.Incident {
	found := Problems(v)
	if len(found.Items) == 0 || answer.NotReached(v.Table).Code != "" { // the headline says that
		return nil
	}
	out := incidentOf(v, found.Items[0], try)
	return &out
}

// incidentOf is a problem with what helps, or why nothing does.
func incidentOf(v answer.View, p rules.Problem, try offering.TryPlan) api.Incident {
	out := api.Incident{ProblemLine: ProblemLines(v, []rules.Problem{p})[0], Minutes: lastHour(v, p)}
	if v.Past != nil {
		return out // what would have helped then is not planned
	}
	if out.Doing = beingDone(p, try); out.Doing != "" {
		return out // another plan beside the run would be in its way
	}
	var remedies api.Advice
	addRemedies(&remedies, v, p, AdviceMay{Try: try})
	if len(remedies.Plans) == 0 {
		out.WhyNot = remedies.WhyNot
		return out
	}
	out.Plan, out.PlanURL, out.Expected = remedies.Plans[0].Text, "/advice/"+url.PathEscape(p.ID)+"/plan", remedies.Plans[0].Expected
	return out
}

// beingDone says that a run makes a change that helps with a problem; "" if none does.
func beingDone(p rules.Problem, try offering.TryPlan) string {
	for _, plan := range p.Remedy.Plans {
		if t := try(actions.Kind(plan.Kind), offering.PlanArguments(plan)); t.Doing {
			return t.Why
		}
	}
	return ""
}

// FirstPlan is the address of the filled-in form of the first plan that helps with a problem and that
// the reader may make; "" where there is none, or the problem is over.
func FirstPlan(v answer.View, id string, may AdviceMay) string {
	p, _ := Problems(v).Find(id)
	if !may.Plan {
		return ""
	}
	var remedies api.Advice
	addRemedies(&remedies, v, p, may)
	for _, plan := range remedies.Plans {
		return string(plan.URL)
	}
	return ""
}

// ProblemOpen tells whether a problem is still open.
func ProblemOpen(found rules.View, id string) bool {
	_, ok := found.Find(id)
	return ok
}
