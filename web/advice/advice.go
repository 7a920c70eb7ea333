// Package advice has the pages and answers of problems, what helps them, and the
// alerts about them.
package advice

import (
	"context"
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/answer/problems"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/templates"

	"github.com/go-chi/chi/v5"
)

// Page lists the problems with what helps.
func Page(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v := s.ViewFor(r)
	list, may, err := advice(s, r, v)
	if err != nil {
		return err
	}
	state := answer.PartState(v, topology.PartRouting)
	if v.Table.Loaded {
		state.Code = "" // the list can be shown
	}
	shell := s.Shell(r, v, "advise", "Problems")
	return site.WritePage(w, r, http.StatusOK, advicePage(shell, state, list, may, templates.SentencesOf(v)))
}

// problems answers the same list.
func problemList(s *site.Site, r *http.Request) (a api.AdviceList, err error) {
	v, err := s.Loaded(r)
	if err != nil {
		return a, err
	}
	list, _, err := advice(s, r, v)
	if err != nil {
		return a, err
	}
	return list, nil
}

// advice fails where it is not known what people have dismissed.
func advice(s *site.Site, r *http.Request, v answer.View) (api.AdviceList, problems.AdviceMay, error) {
	found := problems.Problems(v)
	if found.Err != nil {
		return api.AdviceList{}, problems.AdviceMay{}, found.Err
	}
	who := auth.From(r.Context())
	may := problems.AdviceMay{Plan: s.MayPlan(who), WhyNoPlan: s.WhyNoPlan(who), Try: s.Tries(v)}
	may.Dismiss = found.Kept && s.Deps.Store.WhyReadOnly() == "" && who.May(auth.Operator)
	return problems.Advice(v, found, rules.Rule(r.URL.Query().Get("rule")), may), may, nil
}

// decision is what somebody decides about the problem with an id, with a text where one is needed.
type decision func(on *rules.Advisor, r *http.Request, id, text string) error

// onProblem is a decision about a problem, of which a form names the problem in a field; textOf is what In says.
func onProblem[In any](name, summary, forScripts string, textOf func(In) string, decide decision) site.Change[In, api.AdviceList] {
	return site.Change[In, api.AdviceList]{
		Route: site.Route{Pattern: "/advice/{id}/" + name, Summary: summary, Policy: dismissPolicy, Params: ofAdvice},
		Form:  "/advice/" + name, For: forScripts,
		Do: func(s *site.Site, r *http.Request, in In) (list api.AdviceList, err error) {
			id := r.PostForm.Get("id")
			if chi.URLParam(r, "id") != "" {
				if id, err = site.PathText(r, "id"); err != nil {
					return list, err
				}
			}
			id, text, err := problems.IDAndReason(id, textOf(in))
			if err != nil {
				return list, err
			}
			if err := decide(s.Deps.Problems.Advice, r, id, text); err != nil {
				return list, err
			}
			return problemList(s, r)
		},
		Leads: func(*http.Request, api.AdviceList) string { return "/advice" },
	}
}

// ruleName is a rule's name for people.
func ruleName(ctx context.Context, rule string) string {
	return templates.Words(ctx, rules.Rule(rule).Name())
}

func severityName(severity string) string { return rules.Severity(severity).Name() }
