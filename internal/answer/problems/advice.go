package problems

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/answer/offering"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/rules"
	"shardboard/internal/sanitize"
	"shardboard/internal/store"
)

// Advice lists the problems with their figures and remedies, what could not be
// checked, and what people have dismissed. Those of one rule are listed one by one, also where they are one problem
// about many objects.
func Advice(v answer.View, found rules.View, rule rules.Rule, may AdviceMay) api.AdviceList {
	out := api.AdviceList{
		Items: []api.Advice{}, AsOf: *api.Time(found.At), Stale: staleProblems(v, found), Summary: problemSummaryOf(v, found),
		Unsure: []api.AdviceUnsure{}, Passed: []string{}, Dismissed: []api.Advice{}, Over: []api.AdviceDismissal{}, Kept: found.Kept,
	}
	items := found.Items
	if rule != "" {
		items = found.Each(rule)
	}
	for _, p := range items {
		one := adviceOf(v, p, may)
		one.Taken = takenOf(found, p)
		out.Items = append(out.Items, one)
	}
	for _, u := range found.Unsure {
		out.Unsure = append(out.Unsure,
			api.AdviceUnsure{Rule: string(u.Rule), Subject: u.Subject, Why: api.Say(u.Why, v.Now), Never: u.Never, Zone: v.ZoneName(u.Subject)})
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

// dismissalOf is a dismissal of a problem that is over, unless it is given another title.
func dismissalOf(d store.Dismissal) api.AdviceDismissal {
	out := api.AdviceDismissal{ID: d.ID, By: d.By, Reason: d.Reason, At: d.At.UTC(), Title: "This problem is over"}
	if rule, _, ok := strings.Cut(d.ID, "."); ok {
		out.Title = rules.Rule(rule).Name() + ": this problem is over"
	}
	return out
}

// adviceOf is one problem with its figures, plans and commands.
func adviceOf(v answer.View, p rules.Problem, may AdviceMay) api.Advice {
	out := api.Advice{
		ID: p.ID, Rule: string(p.Rule), Rank: string(p.Severity), Severity: string(p.Severity), Title: api.Say(v.Named(p.Text), v.Now),
		Why: api.Say(v.Named(p.Why), v.Now), Because: p.Because.String(),
		Subject: p.Subject, Count: max(p.Count, 1), NS: string(p.NS), Project: p.Project, Shard: p.Shard, Document: p.Document,
		Evidence: []api.AdviceFigure{}, Plans: []api.AdvicePlan{}, Refused: []api.AdvicePlan{}, Commands: []api.AdviceCommand{},
		Playbooks: playbooksOf(p.Rule), Consequences: []api.AdviceConsequence{},
		SinceAtLeast: p.SinceAtLeast, Since: api.Time(p.Since), Until: api.Time(p.Until), Minutes: lastHour(v, p),
	}
	for _, x := range p.Consequences {
		out.Consequences = append(out.Consequences, api.AdviceConsequence{ID: x.ID, Rule: string(x.Rule), Severity: string(x.Severity),
			Title: api.Say(v.Named(x.Text), v.Now)})
	}
	if c := v.Table.Collection(p.NS); c != nil && !p.Chunk.IsZero() {
		out.Chunk = answer.ChunkRef(c, p.Chunk)
	}
	for _, e := range p.Evidence {
		out.Evidence = append(out.Evidence, EvidenceOf(v, e))
	}
	addRemedies(&out, v, p, may)
	for _, c := range p.Remedy.Commands {
		if slices.ContainsFunc(out.Refused, func(p api.AdvicePlan) bool { return p.TooLittle && c.Plan != "" && p.Kind == c.Plan }) {
			continue
		}
		out.Commands = append(out.Commands, api.AdviceCommand{Text: c.Text, Check: c.Check, Say: api.Say(c.Explanation, v.Now)})
	}
	return out
}

// IDAndReason checks what a decision about a problem names.
func IDAndReason(id, reason string) (string, string, error) {
	id, err := param.Checked("id", strings.TrimSpace(id))
	if err != nil {
		return "", "", err
	}
	reason, err = param.Checked("reason", strings.TrimSpace(reason))
	return id, reason, err
}

// AdviceMay is what the reader of the page may do, and how remedies are tried.
type AdviceMay struct {
	Dismiss, Plan bool
	WhyNoPlan     string // why nobody is led to a form of a plan; "" where plan is true
	Try           offering.TryPlan
}

// ageLimit is how old a report may be to be called fresh.
const ageLimit = 2 * time.Minute

// addRemedies adds the plans whose own checks pass, those that are blocked with the reason, and why there is no plan.
// Against a problem of writes a plan has to move writes: the best comes first, then those that the balancer would in
// part move back, and one that moves too few is refused.
func addRemedies(out *api.Advice, v answer.View, p rules.Problem, may AdviceMay) {
	out.WhyNot = p.Remedy.WhyNot.At(v.Now)
	type expected struct {
		plan   api.AdvicePlan
		top    float64 // of the busiest shard, afterwards
		known  bool
		little bool // it moves too few writes to help
		back   bool // the balancer will move some of it back
	}
	var tried []expected
	for _, plan := range p.Remedy.Plans {
		one := expected{plan: api.AdvicePlan{Kind: plan.Kind, Args: offering.PlanArgumentsShown(v, plan), Text: v.Named(plan.Text).At(v.Now)}}
		trial := may.Try(actions.Kind(plan.Kind), offering.PlanArguments(plan))
		one.plan.Why, one.plan.When = trial.Why, trial.When
		if trial.Back != "" {
			one.plan.Text, one.back = one.plan.Text+" "+trial.Back, true
		}
		if p.Rule.OfWrites() {
			e := expectWrites(v, p, actions.Kind(plan.Kind), plan.Args, trial)
			if one.known = e.known; e.known {
				one.top, one.plan.Writes, one.plan.Expected = most(e.after), e.list(), e.text()
				if e.total > 0 {
					one.plan.Busiest = &api.ShareEffect{Before: most(e.before) / e.total, After: most(e.after) / e.total}
				}
			}
			if why := e.tooLittle(trial); why != "" {
				one.plan.Why, one.plan.When, one.little, one.plan.TooLittle = why, "", true, true
			}
		}
		if one.plan.Why == "" && may.Plan {
			one.plan.URL = api.Address(RemedyURL(plan, p.Text.At(v.Now)))
		}
		tried = append(tried, one)
	}
	slices.SortStableFunc(tried, func(a, b expected) int {
		rank := func(x expected) int {
			switch {
			case x.little:
				return 3
			case x.back:
				return 2
			case !x.known:
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.top, b.top))
	})
	best := slices.IndexFunc(tried, func(x expected) bool { return x.known && !x.little })
	if best >= 0 {
		tried[best].plan.Best = true
		out.Expected = tried[best].plan.Expected
	}
	for _, x := range tried {
		if x.plan.Why != "" {
			out.Refused = append(out.Refused, x.plan)
		} else {
			out.Plans = append(out.Plans, x.plan)
		}
	}
	helps := slices.IndexFunc(tried, func(x expected) bool { return !x.little }) // as far as is known
	switch {
	case len(out.Plans) > 0 || len(tried) == 0:
	case helps >= 0 && (best >= 0 || out.WhyNot == ""):
		out.WhyNot = strings.TrimSpace("What helps is blocked: " + tried[helps].plan.Why + " " + tried[helps].plan.When)
	case out.WhyNot == "":
		out.WhyNot = "No plan lowers the busiest shard's share by a tenth of the writes: it is better to change nothing here."
	}
}

// RemedyURL is the filled-in form of a plan, with the problem as its reason.
func RemedyURL(p rules.Plan, reason string) string {
	pairs := []string{"reason", sanitize.Truncate(reason, 400)}
	for _, name := range slices.Sorted(maps.Keys(p.Args)) {
		pairs = append(pairs, name, p.Args[name])
	}
	return answer.PlanURL(actions.Kind(p.Kind), pairs...)
}
