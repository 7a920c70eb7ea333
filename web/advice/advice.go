// Package advice has the pages and answers of problems, what helps them, and the
// alerts about them.
package advice

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/answer/problems"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/templates"
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
	may.Dismiss = found.Kept && s.WhyReadOnly() == "" && who.May(auth.Operator)
	return problems.Advice(v, found, rules.Rule(r.URL.Query().Get("rule")), may), may, nil
}

// decision is what somebody decides about a problem, with a reason where one is needed.
type decision func(s *site.Site, r *http.Request, id, reason string) error

func dismiss(s *site.Site, r *http.Request, id, reason string) error {
	return s.Deps.Advice.Dismiss(r.Context(), id, reason, site.AuditEntry(r))
}

func restore(s *site.Site, r *http.Request, id, _ string) error {
	return s.Deps.Advice.Restore(r.Context(), id, site.AuditEntry(r))
}

func (do decision) about(s *site.Site, r *http.Request, id, reason string) error {
	id, reason, err := problems.IDAndReason(id, reason)
	if err != nil {
		return err
	}
	return do(s, r, id, reason)
}

// Dismiss and Restore are forms of the page.
func Dismiss(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return decideByForm(s, w, r, dismiss)
}

func Restore(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return decideByForm(s, w, r, restore)
}

func decideByForm(s *site.Site, w http.ResponseWriter, r *http.Request, do decision) error {
	if err := site.ParseForm(r); err != nil {
		return err
	}
	if err := do.about(s, r, r.PostForm.Get("id"), r.PostForm.Get("reason")); err != nil {
		return err
	}
	site.SeeOther(w, "/advice")
	return nil
}

// DismissJSON and RestoreJSON answer with the list as it is then.
func DismissJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	var in api.Reason
	if err := site.ReadJSON(r, &in); err != nil {
		return err
	}
	return decideByJSON(s, w, r, in.Reason, dismiss)
}

func RestoreJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return decideByJSON(s, w, r, "", restore)
}

func decideByJSON(s *site.Site, w http.ResponseWriter, r *http.Request, reason string, do decision) error {
	id, err := site.PathText(r, "id")
	if err != nil {
		return err
	}
	if err := do.about(s, r, id, reason); err != nil {
		return err
	}
	return site.WriteAnswer(s, w, r, problemList)
}

func take(s *site.Site, r *http.Request, id, note string) error {
	return s.Deps.Advice.Take(r.Context(), id, note, site.AuditEntry(r))
}

func leave(s *site.Site, r *http.Request, id, _ string) error {
	return s.Deps.Advice.Leave(r.Context(), id, site.AuditEntry(r))
}

// Take and Leave are forms of the page.
func Take(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return decideByForm(s, w, r, take)
}

func Leave(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return decideByForm(s, w, r, leave)
}

// TakeJSON and LeaveJSON answer with the list as it is then.
func TakeJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	var in api.TakeNote
	if err := site.ReadJSON(r, &in); err != nil {
		return err
	}
	return decideByJSON(s, w, r, in.Note, take)
}

func LeaveJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return decideByJSON(s, w, r, "", leave)
}

// ruleName is a rule's name for people.
func ruleName(rule string) string { return rules.Rule(rule).Name() }

func severityName(severity string) string { return rules.Severity(severity).Name() }
