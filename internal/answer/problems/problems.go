// Package problems answers what is wrong now and was before, what to do about it, and how shardboard itself is.
package problems

import (
	"fmt"
	"strconv"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/balance"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
)

// Problems is what the rules find in the state that a page is made of. Every page
// that lists problems, counts them or says that there are none asks this.
func Problems(v answer.View) rules.View {
	if v.Found != nil {
		return *v.Found
	}
	situation := rules.Situation{Table: v.Table, Directory: v.Dir, Profile: v.Profile, Now: v.Now, Past: v.Past != nil}
	out := rules.View{Report: rules.Evaluate(situation)}
	out.Items = rules.Incidents(out.Items)
	return out
}

// ShownProblems is how many problems the overview lists; the advice page has all.
const ShownProblems = 12

// Headline says how the cluster is in one line, from the list of problems alone.
// "No problems" is said only when every rule was checked that the cluster's MongoDB release can answer.
func Headline(v answer.View, s rules.Summary) (level, text string) {
	if s := answer.NotReached(v.Table); s.Code != "" {
		return "bad", answer.ConnectionTitles[answer.ConnectionState(v.Table)]
	}
	if !v.Table.IsRead() && s.Open() == 0 {
		return "note", "Reading the cluster…"
	}
	level = "note"
	if notJudged(v) {
		return level, notJudgedText(s)
	}
	if s.Open() == 0 && s.Unchecked > 0 && s.Rules == len(rules.Rules()) && answer.PartState(v, topology.PartSizes).Code == "loading" {
		return level, "No problems found so far: sizes are being read"
	}
	switch {
	case s.Critical > 0:
		level = "bad"
	case s.Warn > 0:
		level = "warn"
	case s.Clear():
		level = "ok"
	}
	return level, ProblemCounts(s)
}

// notJudged tells whether nobody looked for problems at the time of a view.
func notJudged(v answer.View) bool { return v.Past != nil && v.Found != nil && v.Found.NotJudged }

// notJudgedText says so, with what the routing table of that time shows.
func notJudgedText(s rules.Summary) string {
	const text = "Not known which problems there were: nobody checked at this time"
	if s.Open() == 0 {
		return text
	}
	s.Unchecked = 0
	return text + ". The routing table shows " + ProblemCounts(s)
}

// ProblemCounts is "1 critical problem, 2 warnings, 3 notes", or why there is none.
func ProblemCounts(s rules.Summary) string {
	var parts []string
	for _, c := range []struct {
		n         int
		one, many string
	}{
		{s.Critical, " critical problem", " critical problems"},
		{s.Warn, " warning", " warnings"},
		{s.Info, " note", " notes"},
	} {
		if c.n > 0 {
			parts = append(parts, format.Count(int64(c.n))+message.Plural(c.n, c.one, c.many))
		}
	}
	switch {
	case len(parts) > 0 && 2*s.Unchecked > s.Rules: // a few notes would look like a healthy cluster
		return strings.Join(parts, ", ") + "; " + UncheckedText(s)
	case len(parts) > 0:
		return strings.Join(parts, ", ")
	case s.Unchecked > 0:
		return "No problems found, but not every rule could be checked"
	case s.Dismissed > 0:
		return fmt.Sprintf("No open problems, %d dismissed", s.Dismissed)
	}
	return "No problems"
}

// problemSummaryOf counts the problems of a view and lists the open ones.
func problemSummaryOf(v answer.View, found rules.View) api.ProblemSummary {
	s := found.Summary()
	out := api.ProblemSummary{
		Worst: string(s.Worst()), Critical: s.Critical, Warn: s.Warn, Info: s.Info,
		Dismissed: s.Dismissed, Rules: s.Rules, Unchecked: s.Unchecked, NotAvailable: s.NotAvailable,
		Clear: s.Clear(), Items: ProblemLines(v, found.Items),
	}
	out.Level, out.Headline = Headline(v, s)
	return out
}

// ProblemLines are problems in one line each, in the order of the list.
func ProblemLines(v answer.View, found []rules.Problem) []api.ProblemLine {
	all := Problems(v)
	return answer.Map(found, func(p rules.Problem) api.ProblemLine {
		return api.ProblemLine{ID: p.ID, Rule: string(p.Rule), Severity: string(p.Severity), Title: v.Named(p.Text).At(v.Now),
			SeverityName: p.Severity.Name(), Also: alsoText(p),
			Taken: takenText(all, p), Why: v.Named(p.Why).At(v.Now), URL: problemURL(v, p),
			Playbook: firstPlaybook(p.Rule)}
	})
}

// playbooksOf are the playbooks of a rule, the most likely first.
func playbooksOf(r rules.Rule) []api.Playbook {
	return answer.Map(r.Playbooks(), func(p rules.Playbook) api.Playbook { return api.Playbook{Name: p.Name(), URL: api.Address(p.URL())} })
}

// firstPlaybook is the most likely playbook of a rule; zero if it has none.
func firstPlaybook(r rules.Rule) (out api.Playbook) {
	for _, p := range playbooksOf(r) {
		return p
	}
	return out
}

// problemURL leads to a problem with its figures and remedies; of a past time,
// which has no advice, to what it is about.
func problemURL(v answer.View, p rules.Problem) string {
	switch {
	case v.Past == nil:
		return "/advice#" + p.ID
	case v.Table.Shard(p.Shard) != nil:
		return answer.ShardURL(p.Shard)
	case v.Table.Collection(p.NS) != nil:
		return answer.CollectionURL(p.NS)
	}
	return "/advice"
}

// UncheckedText says how many rules could not be checked; "" for none.
func UncheckedText(s rules.Summary) string {
	if s.Unchecked == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d rules could not be fully checked", s.Unchecked, s.Rules)
}

// NotAvailableText says how many rules the cluster's MongoDB release cannot answer; "" for none.
func NotAvailableText(v answer.View, s rules.Summary) string {
	if s.NotAvailable == 0 {
		return ""
	}
	release := balance.ReleaseOf(v.Table.ServerInfo.Version)
	return fmt.Sprintf("%d of %d rules %s not available on MongoDB %d.%d",
		s.NotAvailable, s.Rules, message.Plural(s.NotAvailable, "is", "are"), release[0], release[1])
}

// DismissedText says how many problems a list leaves out; "" for none.
func DismissedText(s rules.Summary) string {
	if s.Dismissed == 0 {
		return ""
	}
	return strconv.Itoa(s.Dismissed) + message.Plural(s.Dismissed, " dismissed problem", " dismissed problems")
}

// zoneRule tells whether the zones' page shows what a rule finds.
func zoneRule(r rules.Rule) bool { return r.Page() == rules.PageZones }

// ProblemsOf are the open problems of some rules.
func ProblemsOf(found rules.View, is func(rules.Rule) bool) (out []rules.Problem) {
	for _, p := range found.Items {
		if is(p.Rule) {
			out = append(out, p)
		}
	}
	return out
}

// staleProblems tells whether the state that the list is made of is old.
func staleProblems(v answer.View, found rules.View) bool {
	return v.Table.Stale(topology.PartRouting, v.Now) || v.Now.Sub(found.At) > ageLimit
}
