package web

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/rules"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// adviceMay is what the one who asks may do.
type adviceMay struct{ dismiss, plan bool }

// adviceView answers "what should somebody look at?".
func adviceView(v View, found rules.View, may adviceMay) templates.Advice {
	m := templates.Advice{Level: "ok", MayDismiss: may.dismiss, Kept: found.Kept}
	if !v.Table.Loaded {
		m.Level, m.Verdict, m.State = "note", words.T("overview.loading"), partState(v, topology.PartRouting)
		return m
	}
	for _, i := range found.Items {
		m.Items = append(m.Items, adviceItem(v, i, may))
		switch {
		case i.Severity == rules.Critical:
			m.Level = "bad"
		case m.Level == "ok":
			m.Level = "note"
		}
	}
	n := int64(len(m.Items))
	switch {
	case n > 0:
		m.Verdict = words.Plural("advice.things", n, "n", templates.Count(n))
	case len(found.Unsure) > 0:
		m.Level, m.Verdict = "note", words.T("advice.none.unsure")
	default:
		m.Verdict = words.T("advice.none")
	}
	m.Lead = words.T("advice.lead", "rules", strconv.Itoa(len(rules.Rules())), "passed", strconv.Itoa(len(found.Passed)), "unsure", strconv.Itoa(len(rules.Rules())-len(found.Passed)-told(found)))
	for _, u := range found.Unsure {
		m.Unsure = append(m.Unsure, templates.AdviceUnsure{Rule: ruleName(u.Rule), Subject: clip(u.Subject, 200), Why: adviceText("cannot", u.Why, v.Now)})
	}
	var passed []string
	for _, r := range found.Passed {
		passed = append(passed, ruleName(r))
	}
	m.Passed = strings.Join(passed, " · ")
	for _, d := range found.Dismissed {
		row := templates.AdviceDismissed{ID: d.By.ID, By: clip(d.By.By, 80), Reason: clip(d.By.Reason, 600), At: templates.Ago(d.By.At, v.Now), Title: words.T("advice.over")}
		if d.Problem.ID != "" {
			row.Title, row.Rank, row.RankText = adviceText("say", d.Problem.Text, v.Now), string(d.Problem.Severity), rankName(d.Problem.Severity)
		} else if rule, _, ok := strings.Cut(d.By.ID, "."); ok {
			row.Title = words.T("advice.over.rule", "rule", ruleName(rules.Rule(rule)))
		}
		m.Dismissed = append(m.Dismissed, row)
	}
	return m
}

// told counts the rules that have something to say.
func told(found rules.View) int {
	var rules []rules.Rule
	for _, i := range found.Items {
		rules = append(rules, i.Rule)
	}
	for _, d := range found.Dismissed {
		if d.Problem.ID != "" {
			rules = append(rules, d.Problem.Rule)
		}
	}
	slices.Sort(rules)
	return len(slices.Compact(rules))
}

func adviceItem(v View, i rules.Problem, may adviceMay) templates.AdviceItem {
	out := templates.AdviceItem{ID: i.ID, Rule: ruleName(i.Rule), Rank: string(i.Severity), RankText: rankName(i.Severity),
		Title: adviceText("say", i.Text, v.Now), Because: because(i), Why: adviceText("why", i.Why, v.Now),
		WhyNot: adviceText("not", i.Remedy.WhyNot, v.Now)}
	link := func(key, address string) {
		out.Links = append(out.Links, templates.Link{Text: words.T(key), URL: address})
	}
	if c := v.Table.Collection(i.NS); c != nil && sharded(c) {
		link("advice.to.collection", collectionURL(i.NS))
	}
	if i.Project != "" {
		link("advice.to.project", "/projects/"+url.PathEscape(i.Project))
	}
	if v.Table.Shard(i.Shard) != nil {
		link("advice.to.shard", shardURL(i.Shard))
	}
	if strings.HasPrefix(string(i.Rule), "zone-") || strings.HasPrefix(string(i.Rule), "pin-") {
		link("nav.zones", "/zones")
	}
	if i.Rule == rules.Drift {
		link("nav.layout", "/layout")
	}
	for _, e := range i.Evidence {
		out.Evidence = append(out.Evidence, adviceFigure(v, e))
	}
	for _, p := range i.Remedy.Plans {
		one := templates.AdvicePlan{Kind: p.Kind, Text: adviceText("plan", p.Text, v.Now), Form: may.plan, Reason: out.Title}
		for _, name := range slices.Sorted(maps.Keys(p.Args)) {
			one.Args = append(one.Args, templates.Option{Value: p.Args[name], Text: name})
		}
		out.Plans = append(out.Plans, one)
	}
	for _, c := range i.Remedy.Commands {
		out.Commands = append(out.Commands, templates.AdviceCommand{Text: c.Text, Check: c.Check, Say: adviceText("cmd", c.Say, v.Now)})
	}
	return out
}

// adviceFigure writes one figure: what it is, how it was had, how old it is.
func adviceFigure(v View, e rules.Evidence) templates.AdviceFigure {
	out := templates.AdviceFigure{Name: adviceText("fig", e.Name, v.Now)}
	if !e.Known {
		out.Figure = templates.Figure{Text: words.Code("reason", e.Reason, nil)}
		return out
	}
	f := templates.Figure{Known: true, Approx: !e.Exact && e.Method != "collStats" && e.Unit != "share"}
	switch e.Unit {
	case "bytes":
		f.Text = templates.Bytes(int64(e.Value))
	case "share":
		f.Text = templates.Share(e.Value)
	case "rate":
		f.Text = words.T("advice.rate", "n", writesText(e.Value))
		if e.PlusMinus > 0 {
			f.Text = words.T("advice.rate.plusminus", "n", writesText(e.Value), "m", writesText(e.PlusMinus))
		}
	case "time":
		f.Text = e.Time.UTC().Format("2 Jan 2006 15:04 UTC")
	case "text":
		f.Text = clip(oneLine(e.Text), 300)
		if e.Text == "" {
			f.Text = words.T("spread.unsharded")
		}
	default:
		f.Text = templates.Count(int64(e.Value))
	}
	switch {
	case e.AtLeast && e.Unit == "time":
		f.Text, f.Approx = words.T("advice.orearlier", "what", f.Text), false
	case e.AtLeast:
		f.Text, f.Approx = words.T("advice.atleast", "what", f.Text), false
	}
	out.Figure = f
	how := words.Code("method", e.Method, nil)
	switch {
	case e.Over > 0 && e.Covered < e.Over:
		out.How = words.T("advice.how.part", "how", how, "covered", templates.Span(e.Covered), "over", templates.Span(e.Over), "ago", templates.AgoText(v.Now.Sub(e.At)))
	case e.Over > 0:
		out.How = words.T("advice.how.over", "how", how, "over", templates.Span(e.Over), "ago", templates.AgoText(v.Now.Sub(e.At)))
	case e.At.IsZero():
		out.How = how
	default:
		out.How = words.T("advice.how", "how", how, "ago", templates.AgoText(v.Now.Sub(e.At)))
	}
	return out
}

func writesText(f float64) string {
	if f >= 100 {
		return templates.Count(int64(f + 0.5))
	}
	return strconv.FormatFloat(f, 'f', 1, 64)
}

// ageLimit is how old a report may be to be called fresh.
const ageLimit = 2 * time.Minute
