package answer

import (
	"strings"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/rules"
	"shardboard/internal/store"
)

// adviceOf is a report on the wire.
func AdviceOf(v View, found rules.View, may AdviceMay) api.AdviceList {
	out := api.AdviceList{Items: []api.Advice{}, AsOf: *api.Time(found.At), Unsure: []api.AdviceUnsure{}, Passed: []string{}, Dismissed: []api.Advice{}, Over: []api.AdviceDismissal{}}
	out.Stale, out.Summary = staleProblems(v, found), ProblemSummaryOf(v, found)
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
func dismissalOf(d store.Dismissal) api.AdviceDismissal {
	return api.AdviceDismissal{ID: d.ID, By: d.By, Reason: d.Reason, At: d.At.UTC()}
}

func adviceItemOf(v View, i rules.Problem, may AdviceMay) api.Advice {
	out := api.Advice{ID: i.ID, Rule: string(i.Rule), Rank: string(i.Severity), Severity: string(i.Severity), Why: i.Why.At(v.Now), Title: i.Text.At(v.Now),
		Because: Because(i), Subject: i.Subject, NS: string(i.NS), Project: i.Project, Shard: i.Shard,
		Document: i.Document, Evidence: []api.AdviceFigure{}, Plans: []api.AdvicePlan{}, Refused: []api.AdvicePlan{}, Commands: []api.AdviceCommand{}}
	if c := v.Table.Collection(i.NS); c != nil && !i.Chunk.IsZero() {
		out.Chunk = ChunkRef(c, i.Chunk)
	}
	for _, e := range i.Evidence {
		out.Evidence = append(out.Evidence, EvidenceOf(v, e))
	}
	rem := RemediesOf(v, i, may)
	out.WhyNot = rem.WhyNot
	for _, p := range rem.Offered {
		out.Plans = append(out.Plans, api.AdvicePlan{Kind: p.Plan.Kind, Args: v.planArguments(p.Plan), Text: p.Text, URL: p.Url})
	}
	for _, p := range rem.Refused {
		out.Refused = append(out.Refused, api.AdvicePlan{Kind: p.Plan.Kind, Args: v.planArguments(p.Plan), Text: p.Text, Why: p.Why})
	}
	for _, c := range i.Remedy.Commands {
		out.Commands = append(out.Commands, api.AdviceCommand{Text: c.Text, Check: c.Check, Say: c.Explanation.At(v.Now)})
	}
	return out
}

func EvidenceOf(v View, e rules.Evidence) api.AdviceFigure {
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

func IdAndReason(id, reason string) (string, string, error) {
	id, err := CheckText("id", strings.TrimSpace(id))
	if err != nil {
		return "", "", err
	}
	reason, err = CheckText("reason", strings.TrimSpace(reason))
	return id, reason, err
}

// adviceMay is what the reader of the page may do, and how remedies are tried.
type AdviceMay struct {
	Dismiss, Plan bool
	WhyNoPlan     string // why nobody is led to a form of a plan; "" where plan is true
	Try           TryPlan
}

// ageLimit is how old a report may be to be called fresh.
const ageLimit = 2 * time.Minute
