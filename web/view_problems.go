package web

import (
	"net/url"
	"strconv"
	"strings"

	"shardboard/internal/format"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// problems is what the rules find in the state that a page is made of. Every page
// that lists problems, counts them or says that there are none asks this.
func (v View) problems() rules.View {
	if v.Found != nil {
		return *v.Found
	}
	return rules.View{Report: rules.Evaluate(rules.Situation{Table: v.Table, Directory: v.Dir, Profile: v.Profile, Now: v.Now, Past: v.Past != nil})}
}

// shownProblems is how many problems the overview lists; the advice page has all.
const shownProblems = 12

// headline says how the cluster is in one line, from the list of problems alone.
// "No problems" is said only when every rule could be checked.
func headline(v View, s rules.Summary) (level, text string) {
	if !v.Table.Loaded && s.Open() == 0 {
		return "note", words.T("overview.loading")
	}
	level = "note"
	switch {
	case s.Critical > 0:
		level = "bad"
	case s.Clear():
		level = "ok"
	}
	return level, problemCounts(s)
}

// problemCounts is "1 critical problem, 2 warnings, 3 notes", or why it is none.
func problemCounts(s rules.Summary) string {
	var parts []string
	if n := int64(s.Critical); n > 0 {
		parts = append(parts, words.Plural("problems.critical", n, "n", format.Count(n)))
	}
	if n := int64(s.Warn); n > 0 {
		parts = append(parts, words.Plural("problems.warn", n, "n", format.Count(n)))
	}
	if n := int64(s.Info); n > 0 {
		parts = append(parts, words.Plural("problems.info", n, "n", format.Count(n)))
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, ", ")
	case s.Unchecked > 0:
		return words.Plural("problems.none.unchecked", int64(s.Unchecked), "n", strconv.Itoa(s.Unchecked), "rules", strconv.Itoa(s.Rules))
	case s.Dismissed > 0:
		return words.Plural("problems.none.dismissed", int64(s.Dismissed), "n", strconv.Itoa(s.Dismissed))
	}
	return words.T("problems.none")
}

// problemList is a list of problems as pages other than the advice show them,
// greatest first.
func problemList(v View, found []rules.Problem) []templates.Attention {
	var out []templates.Attention
	for _, p := range found {
		out = append(out, templates.Attention{Key: p.ID, Severity: string(p.Severity), SeverityText: p.Severity.Name(), Urgent: p.Severity == rules.Critical,
			Text: p.Text.At(v.Now), Advice: p.Why.At(v.Now), URL: problemURL(v, p)})
	}
	return out
}

// problemURL leads to a problem with its figures and remedies; of a past time,
// which has no advice, to what it is about.
func problemURL(v View, p rules.Problem) string {
	switch {
	case v.Past == nil:
		return "/advice#" + p.ID
	case v.Table.Shard(p.Shard) != nil:
		return shardURL(p.Shard)
	case v.Table.Collection(p.NS) != nil:
		return collectionURL(p.NS)
	}
	return "/advice"
}

// uncheckedText and dismissedText say what a list of problems leaves out; "" for nothing.
func uncheckedText(s rules.Summary) string {
	if s.Unchecked == 0 {
		return ""
	}
	return words.Plural("problems.unchecked", int64(s.Unchecked), "n", strconv.Itoa(s.Unchecked), "rules", strconv.Itoa(s.Rules))
}

func dismissedText(s rules.Summary) string {
	if s.Dismissed == 0 {
		return ""
	}
	return words.Plural("problems.dismissed", int64(s.Dismissed), "n", strconv.Itoa(s.Dismissed))
}

// zoneRule tells whether the zones' page shows what a rule finds.
func zoneRule(r rules.Rule) bool { return r.Page() == rules.PageZones }

// problemsOf are the open problems of some rules.
func problemsOf(found rules.View, is func(rules.Rule) bool) (out []rules.Problem) {
	for _, p := range found.Items {
		if is(p.Rule) {
			out = append(out, p)
		}
	}
	return out
}

// problemLinks lead to what a problem is about.
func problemLinks(v View, p rules.Problem) (out []templates.Link) {
	link := func(key, address string) {
		out = append(out, templates.Link{Text: words.T(key), URL: address})
	}
	if c := v.Table.Collection(p.NS); c != nil && sharded(c) {
		if !p.Chunk.IsZero() && c.Key.Hiding() == nil {
			link("advice.to.chunk", chunkURL(p.NS, chunkRef(c, p.Chunk)))
		}
		link("advice.to.collection", collectionURL(p.NS))
	}
	if p.Document != "" {
		link("advice.to.document", "/locate?q="+url.QueryEscape(p.Document))
	}
	if p.Project != "" {
		link("advice.to.project", "/projects/"+url.PathEscape(p.Project))
	}
	if v.Table.Shard(p.Shard) != nil {
		link("advice.to.shard", shardURL(p.Shard))
	}
	switch p.Rule.Page() {
	case rules.PageZones:
		link("nav.zones", "/zones")
	case rules.PageLayout:
		link("nav.layout", "/layout")
	case rules.PageHeat:
		address := "/heat"
		if p.NS != "" {
			address += "?" + url.Values{"ns": {string(p.NS)}}.Encode()
		}
		link("nav.heat", address)
	case rules.PageFailedMigrations:
		link("nav.activity", "/activity?failed=1")
	case rules.PageRuns:
		link("nav.runs", "/runs")
	}
	return out
}

// staleProblems tells whether the state that the list is made of is old.
func staleProblems(v View, found rules.View) bool {
	return v.Table.Stale(topology.PartRouting, v.Now) || v.Now.Sub(found.At) > ageLimit
}
