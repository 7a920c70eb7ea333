package site

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/answer/offering"
	"shardboard/internal/auth"
	"shardboard/internal/topology"
	"shardboard/web/templates"
)

// Offers tells which changes a page offers its viewer; nil if this person or this
// page can plan none.
func (s *Site) Offers(r *http.Request, t *topology.Table) *offering.Offers {
	if s.Deps.Changes.Actions == nil || r.URL.Query().Has("at") || !auth.From(r.Context()).May(auth.Operator) {
		return nil
	}
	v := s.ViewFor(r)
	v.Table = t
	o := &offering.Offers{Table: t, Try: s.Tries(v), WhyNone: s.Deps.Store.WhyReadOnly(), Named: v.Named}
	if o.WhyNone == "" && !t.IsRead() {
		o.WhyNone = "The cluster has not been read yet."
	}
	return o
}

// Tries tries plans on the state of a page.
func (s *Views) Tries(v answer.View) offering.TryPlan { return s.trials.On(v, s.deps.Changes.Trier) }

// MayPlan tells whether somebody is offered forms of plans.
func (s *Views) MayPlan(who auth.Principal) bool {
	return s.deps.Changes.PlanForms && who.May(auth.Operator)
}

// WhyNoPlan says why somebody is not offered forms of plans; "" where they are.
func (s *Views) WhyNoPlan(who auth.Principal) string {
	switch {
	case !s.deps.Changes.PlanForms:
		return "Remedies are listed without links: this shardboard may not change the cluster (--actions=off)."
	case !who.May(auth.Operator):
		return "Remedies are listed without links: making a plan needs the role operator."
	}
	return ""
}

// SurveyForm is the form that starts a survey, or why this person may not.
func (s *Views) SurveyForm(who auth.Principal) templates.SurveyForm {
	if !who.May(auth.Operator) {
		return templates.SurveyForm{Needs: "Measuring costs the cluster reads; starting it needs the role " + auth.Operator.Label() + "."}
	}
	return templates.SurveyForm{May: s.deps.Measured.Surveys != nil, AnyID: s.deps.Cluster.Profile.AnyID()}
}
