package web

import (
	"net/http"

	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/rules"
	"shardboard/internal/store"
)

func (s *Site) apiAdvice(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.loaded(r); err != nil {
		return err
	}
	v, found, err := s.advised(r)
	if err != nil {
		return err
	}
	may := adviceMay{plan: s.mayPlan(auth.From(r.Context())), try: s.tries(v)}
	return writeJSON(w, http.StatusOK, adviceOf(v, found, may))
}

func (s *Site) apiDismiss(w http.ResponseWriter, r *http.Request) error {
	var in api.Reason
	if err := readJSON(r, &in); err != nil {
		return err
	}
	return s.apiDecide(w, r, in.Reason, func(a *rules.Advisor, id, reason string) error { return a.Dismiss(r.Context(), id, reason, deed(r)) })
}

func (s *Site) apiRestore(w http.ResponseWriter, r *http.Request) error {
	return s.apiDecide(w, r, "", func(a *rules.Advisor, id, _ string) error { return a.Restore(r.Context(), id, deed(r)) })
}

// apiDecide answers with the list as it is then.
func (s *Site) apiDecide(w http.ResponseWriter, r *http.Request, reason string, do func(a *rules.Advisor, id, reason string) error) error {
	id, err := pathText(r, "id")
	if err != nil {
		return err
	}
	id, reason, err = idAndReason(id, reason)
	if err == nil {
		err = do(s.deps.Advice, id, reason)
	}
	if err != nil {
		return err
	}
	return s.apiAdvice(w, r)
}

// adviceOf is a report on the wire.
func adviceOf(v View, found rules.View, may adviceMay) api.AdviceList {
	out := api.AdviceList{Items: []api.Advice{}, AsOf: *api.Time(found.At), Unsure: []api.AdviceUnsure{}, Passed: []string{}, Dismissed: []api.Advice{}, Over: []api.AdviceDismissal{}}
	out.Stale, out.Summary = staleProblems(v, found), problemSummaryOf(v, found)
	for _, i := range found.Items {
		out.Items = append(out.Items, adviceItemOf(v, i, may))
	}
	for _, u := range found.Unsure {
		out.Unsure = append(out.Unsure, api.AdviceUnsure{Rule: string(u.Rule), Subject: u.Subject, Why: u.Why.At(v.Now)})
	}
	for _, r := range found.Passed {
		out.Passed = append(out.Passed, string(r))
	}
	for _, d := range found.Dismissed {
		by := dismissalOf(d.By)
		if d.Problem.ID == "" {
			out.Over = append(out.Over, by)
			continue
		}
		one := adviceItemOf(v, d.Problem, may)
		one.Dismiss = &by
		out.Dismissed = append(out.Dismissed, one)
	}
	return out
}

// problemSummaryOf counts a report on the wire.
func problemSummaryOf(v View, found rules.View) api.ProblemSummary {
	s := found.Summary()
	out := api.ProblemSummary{Worst: string(s.Worst()), Critical: s.Critical, Warn: s.Warn, Info: s.Info, Dismissed: s.Dismissed, Rules: s.Rules, Unchecked: s.Unchecked,
		Clear: s.Clear(), Items: []api.ProblemLine{}}
	_, out.Headline = headline(v, s)
	for _, p := range found.Items {
		out.Items = append(out.Items, api.ProblemLine{ID: p.ID, Rule: string(p.Rule), Severity: string(p.Severity), Title: p.Text.At(v.Now)})
	}
	return out
}

func dismissalOf(d store.Dismissal) api.AdviceDismissal {
	return api.AdviceDismissal{ID: d.ID, By: d.By, Reason: d.Reason, At: d.At.UTC()}
}

func adviceItemOf(v View, i rules.Problem, may adviceMay) api.Advice {
	out := api.Advice{ID: i.ID, Rule: string(i.Rule), Rank: string(i.Severity), Severity: string(i.Severity), Why: i.Why.At(v.Now), Title: i.Text.At(v.Now),
		Because: because(i), Subject: i.Subject, NS: string(i.NS), Project: i.Project, Shard: i.Shard,
		Document: i.Document, Evidence: []api.AdviceFigure{}, Plans: []api.AdvicePlan{}, Refused: []api.AdvicePlan{}, Commands: []api.AdviceCommand{}}
	if c := v.Table.Collection(i.NS); c != nil && !i.Chunk.IsZero() {
		out.Chunk = chunkRef(c, i.Chunk)
	}
	for _, e := range i.Evidence {
		out.Evidence = append(out.Evidence, evidenceOf(v, e))
	}
	rem := remediesOf(v, i, may)
	out.WhyNot = rem.whyNot
	for _, p := range rem.offered {
		out.Plans = append(out.Plans, api.AdvicePlan{Kind: p.plan.Kind, Args: v.planArguments(p.plan), Text: p.text, URL: p.url})
	}
	for _, p := range rem.refused {
		out.Refused = append(out.Refused, api.AdvicePlan{Kind: p.plan.Kind, Args: v.planArguments(p.plan), Text: p.text, Why: p.why})
	}
	for _, c := range i.Remedy.Commands {
		out.Commands = append(out.Commands, api.AdviceCommand{Text: c.Text, Check: c.Check, Say: c.Explanation.At(v.Now)})
	}
	return out
}

func evidenceOf(v View, e rules.Evidence) api.AdviceFigure {
	out := api.AdviceFigure{Name: e.Name.At(v.Now), Unit: e.Unit, PlusMinus: e.PlusMinus, Exact: e.Exact, AtLeast: e.AtLeast, Method: e.Method, At: api.Time(e.At)}
	switch {
	case !e.Known:
		out.Reason = e.Reason
		if out.Reason == "" {
			out.Reason = "notLoaded"
		}
	case e.Unit == "text":
		out.Text = e.Text.Value
	case e.Unit == "time":
		out.Time = api.Time(e.Time)
	default:
		out.Value = &e.Value
	}
	if e.Over > 0 {
		out.Window, out.Covered = e.Over.String(), e.Covered.Seconds()
	}
	return out
}
