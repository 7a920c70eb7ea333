package answer

import (
	"strings"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/rules"
	"shardboard/internal/store"
)

// Advice lists the problems with their figures and remedies, what could not be
// checked, and what people have dismissed.
func Advice(v View, found rules.View, may AdviceMay) api.AdviceList {
	out := api.AdviceList{
		Items: []api.Advice{}, AsOf: *api.Time(found.At), Stale: staleProblems(v, found), Summary: problemSummaryOf(v, found),
		Unsure: []api.AdviceUnsure{}, Passed: []string{}, Dismissed: []api.Advice{}, Over: []api.AdviceDismissal{}, Kept: found.Kept,
	}
	for _, p := range found.Items {
		out.Items = append(out.Items, adviceOf(v, p, may))
	}
	for _, u := range found.Unsure {
		why := u.Why.At(v.Now)
		out.Unsure = append(out.Unsure, api.AdviceUnsure{Rule: string(u.Rule), Subject: u.Subject, Why: why, WhyText: u.Why})
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
		one := adviceOf(v, d.Problem, may)
		one.Dismiss = &by
		out.Dismissed = append(out.Dismissed, one)
	}
	return out
}

func dismissalOf(d store.Dismissal) api.AdviceDismissal {
	out := api.AdviceDismissal{ID: d.ID, By: d.By, Reason: d.Reason, At: d.At.UTC(), Title: "This problem is over"}
	if rule, _, ok := strings.Cut(d.ID, "."); ok {
		out.Title = rules.Rule(rule).Name() + ": this problem is over"
	}
	return out
}

func adviceOf(v View, p rules.Problem, may AdviceMay) api.Advice {
	out := api.Advice{
		ID: p.ID, Rule: string(p.Rule), Rank: string(p.Severity), Severity: string(p.Severity), Title: p.Text.At(v.Now), Text: p.Text,
		Why: p.Why.At(v.Now), WhyText: p.Why, Because: Because(p),
		Subject: p.Subject, NS: string(p.NS), Project: p.Project, Shard: p.Shard, Document: p.Document,
		Evidence: []api.AdviceFigure{}, Plans: []api.AdvicePlan{}, Refused: []api.AdvicePlan{}, Commands: []api.AdviceCommand{},
	}
	if c := v.Table.Collection(p.NS); c != nil && !p.Chunk.IsZero() {
		out.Chunk = ChunkRef(c, p.Chunk)
	}
	for _, e := range p.Evidence {
		out.Evidence = append(out.Evidence, EvidenceOf(v, e))
	}
	addRemedies(&out, v, p, may)
	for _, c := range p.Remedy.Commands {
		say := c.Explanation.At(v.Now)
		out.Commands = append(out.Commands, api.AdviceCommand{Text: c.Text, Check: c.Check, Say: say, SayText: c.Explanation})
	}
	return out
}

// Because is the balancer's own rule behind an advice.
func Because(i rules.Problem) string {
	if i.Because.Code == "" {
		return ""
	}
	return i.Because.String()
}

// IDAndReason checks what a decision about a problem names.
func IDAndReason(id, reason string) (string, string, error) {
	id, err := CheckText("id", strings.TrimSpace(id))
	if err != nil {
		return "", "", err
	}
	reason, err = CheckText("reason", strings.TrimSpace(reason))
	return id, reason, err
}

// AdviceMay is what the reader of the page may do, and how remedies are tried.
type AdviceMay struct {
	Dismiss, Plan bool
	WhyNoPlan     string // why nobody is led to a form of a plan; "" where plan is true
	Try           TryPlan
}

// ageLimit is how old a report may be to be called fresh.
const ageLimit = 2 * time.Minute
