package advice

import (
	"fmt"
	"strconv"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/format"
	"shardboard/internal/rules"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/parts"
	"shardboard/web/templates"
)

// adviceView lists the problems with their figures and remedies.
func adviceView(v answer.View, found rules.View, may answer.AdviceMay) Advice {
	m := Advice{Level: "ok", MayDismiss: may.Dismiss, Kept: found.Kept}
	if !v.Table.Loaded {
		m.State = parts.PartState(v, topology.PartRouting)
	}
	for _, i := range found.Items {
		m.Items = append(m.Items, adviceItem(v, i, may))
	}
	for _, x := range []rules.Severity{rules.Critical, rules.Warn, rules.Info} {
		m.Severities = append(m.Severities, SeverityMeaning{Value: string(x), Name: x.Name(), Text: x.Meaning()})
	}
	m.NoPlans = may.WhyNoPlan
	s := found.Summary()
	m.Level, m.Verdict = answer.Headline(v, s)
	m.Lead = fmt.Sprintf("%s rules checked: %s found nothing, %s could not be checked in full.", strconv.Itoa(s.Rules), strconv.Itoa(len(found.Passed)), strconv.Itoa(s.Unchecked))
	for _, u := range found.Unsure {
		m.Unsure = append(m.Unsure, AdviceUnsure{Rule: u.Rule.Name(), Subject: sanitize.Truncate(u.Subject, 200), Why: u.Why.At(v.Now)})
	}
	var passed []string
	for _, r := range found.Passed {
		passed = append(passed, r.Name())
	}
	m.Passed = strings.Join(passed, " · ")
	for _, d := range found.Dismissed {
		row := AdviceDismissed{ID: d.By.ID, By: sanitize.Truncate(d.By.By, 80), Reason: sanitize.Truncate(d.By.Reason, 600), At: templates.Ago(d.By.At, v.Now), Title: "This problem is over"}
		if d.Problem.ID != "" {
			row.Title, row.Rank, row.RankText = d.Problem.Text.At(v.Now), string(d.Problem.Severity), d.Problem.Severity.Name()
		} else if rule, _, ok := strings.Cut(d.By.ID, "."); ok {
			row.Title = rules.Rule(rule).Name() + ": this problem is over"
		}
		m.Dismissed = append(m.Dismissed, row)
	}
	return m
}

func adviceItem(v answer.View, i rules.Problem, may answer.AdviceMay) AdviceItem {
	out := AdviceItem{ID: i.ID, Rule: i.Rule.Name(), Rank: string(i.Severity), RankText: i.Severity.Name(),
		Title: i.Text.At(v.Now), Because: answer.Because(i), Why: i.Why.At(v.Now)}
	out.Links = parts.ProblemLinks(v, i)
	for _, e := range i.Evidence {
		out.Evidence = append(out.Evidence, AdviceFigure(v, e))
	}
	rem := answer.RemediesOf(v, i, may)
	out.WhyNot = rem.WhyNot
	for _, p := range rem.Offered {
		out.Plans = append(out.Plans, AdvicePlan{Text: p.Text, URL: p.Url})
	}
	for _, p := range rem.Refused {
		out.Plans = append(out.Plans, AdvicePlan{Text: p.Text, Why: p.Why})
	}
	for _, c := range i.Remedy.Commands {
		out.Commands = append(out.Commands, AdviceCommand{Text: c.Text, Check: c.Check, Say: c.Explanation.At(v.Now)})
	}
	return out
}

// adviceFigure writes one figure: what it is, how it was had, how old it is.
func AdviceFigure(v answer.View, e rules.Evidence) AdviceFigureModel {
	out := AdviceFigureModel{Name: e.Name.At(v.Now)}
	if !e.Known {
		out.Figure = templates.Figure{Text: topology.ReasonText(e.Reason)}
		return out
	}
	f := templates.Figure{Known: true, Approx: !e.Exact && e.Method != "collStats" && e.Unit != "share"}
	switch e.Unit {
	case "bytes":
		f.Text = format.Bytes(int64(e.Value))
	case "share":
		f.Text = format.Share(e.Value)
	case "perHour":
		f.Text = format.Rate(e.Value) + " per hour"
	case "rate":
		f.Text = format.Rate(e.Value) + "/s"
		if e.PlusMinus > 0 {
			f.Text = fmt.Sprintf("%s ± %s/s", format.Rate(e.Value), format.Rate(e.PlusMinus))
		}
	case "time":
		f.Text = e.Time.UTC().Format("2 Jan 2006 15:04 UTC")
	case "text":
		f.Text = sanitize.Shorten(e.Text.Text(v.Now), 300)
		if e.Text.Value == "" {
			f.Text = "not sharded"
		}
	default:
		f.Text = format.Count(int64(e.Value))
	}
	switch {
	case e.AtLeast && e.Unit == "time":
		f.Text, f.Approx = f.Text+" or earlier", false
	case e.AtLeast:
		f.Text, f.Approx = "at least "+f.Text, false
	}
	out.Figure = f
	how := topology.MethodText(e.Method)
	switch {
	case e.Over > 0 && e.Covered < e.Over:
		out.How = fmt.Sprintf("%s, %s of the last %s counted, %s", how, format.Span(e.Covered), format.Span(e.Over), format.Ago(v.Now.Sub(e.At)))
	case e.Over > 0:
		out.How = fmt.Sprintf("%s, over %s, %s", how, format.Span(e.Over), format.Ago(v.Now.Sub(e.At)))
	case e.At.IsZero():
		out.How = how
	default:
		out.How = fmt.Sprintf("%s, %s", how, format.Ago(v.Now.Sub(e.At)))
	}
	return out
}
