package web

import (
	"net/http"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/rules"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

func (s *Server) apiAdvice(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.loaded(); err != nil {
		return err
	}
	found, err := s.advised(r)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, adviceOf(s.view(), found))
}

func (s *Server) apiDismiss(w http.ResponseWriter, r *http.Request) error {
	var in api.Reason
	if err := readJSON(r, &in); err != nil {
		return err
	}
	return s.apiDecide(w, r, in.Reason, func(a *rules.Advisor, id, reason string) error { return a.Dismiss(r.Context(), id, reason, deed(r)) })
}

func (s *Server) apiRestore(w http.ResponseWriter, r *http.Request) error {
	return s.apiDecide(w, r, "", func(a *rules.Advisor, id, _ string) error { return a.Restore(r.Context(), id, deed(r)) })
}

// apiDecide answers with the list as it is then.
func (s *Server) apiDecide(w http.ResponseWriter, r *http.Request, reason string, do func(a *rules.Advisor, id, reason string) error) error {
	if s.deps.Advice == nil {
		return fault.New(fault.Unavailable, "Nothing is advised here.")
	}
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
func adviceOf(v View, found rules.View) api.AdviceList {
	out := api.AdviceList{Items: []api.Advice{}, AsOf: *api.Time(found.At), Unsure: []api.AdviceUnsure{}, Passed: []string{}, Dismissed: []api.Advice{}, Over: []api.AdviceDismissal{}}
	out.Stale = v.Table.Stale(topology.PartRouting, v.Now) || v.Now.Sub(found.At) > ageLimit
	for _, i := range found.Items {
		out.Items = append(out.Items, adviceItemOf(v, i))
	}
	for _, u := range found.Unsure {
		out.Unsure = append(out.Unsure, api.AdviceUnsure{Rule: string(u.Rule), Subject: u.Subject, Why: adviceText("cannot", u.Why, v.Now)})
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
		one := adviceItemOf(v, d.Problem)
		one.Dismiss = &by
		out.Dismissed = append(out.Dismissed, one)
	}
	return out
}

func dismissalOf(d store.Dismissal) api.AdviceDismissal {
	return api.AdviceDismissal{ID: d.ID, By: d.By, Reason: d.Reason, At: d.At.UTC()}
}

func adviceItemOf(v View, i rules.Problem) api.Advice {
	out := api.Advice{ID: i.ID, Rule: string(i.Rule), Rank: string(i.Severity), Why: adviceText("why", i.Why, v.Now), Title: adviceText("say", i.Text, v.Now),
		Because: because(i), Subject: i.Subject, NS: string(i.NS), Project: i.Project, Shard: i.Shard,
		Evidence: []api.AdviceFigure{}, Plans: []api.AdvicePlan{}, Commands: []api.AdviceCommand{}, WhyNot: adviceText("not", i.Remedy.WhyNot, v.Now)}
	for _, e := range i.Evidence {
		out.Evidence = append(out.Evidence, evidenceOf(v, e))
	}
	for _, p := range i.Remedy.Plans {
		out.Plans = append(out.Plans, api.AdvicePlan{Kind: p.Kind, Args: planArguments(p), Text: adviceText("plan", p.Text, v.Now)})
	}
	for _, c := range i.Remedy.Commands {
		out.Commands = append(out.Commands, api.AdviceCommand{Text: c.Text, Check: c.Check, Say: adviceText("cmd", c.Say, v.Now)})
	}
	return out
}

func evidenceOf(v View, e rules.Evidence) api.AdviceFigure {
	out := api.AdviceFigure{Name: adviceText("fig", e.Name, v.Now), Unit: e.Unit, PlusMinus: e.PlusMinus, Exact: e.Exact, AtLeast: e.AtLeast, Method: e.Method, At: api.Time(e.At)}
	switch {
	case !e.Known:
		out.Reason = e.Reason
		if out.Reason == "" {
			out.Reason = "notLoaded"
		}
	case e.Unit == "text":
		out.Text = e.Text
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
