package web

import (
	"context"

	"shardboard/internal/alert"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/rules"
	"shardboard/internal/sanitize"
	"shardboard/internal/store"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// AlertSource makes alerts of the problems that are not dismissed. An alert whose rule
// could not be checked stays as it is. It is not known who reads a receiver's messages,
// so alerts have no texts of servers and, with hideBounds, no key values.
func AlertSource(a *rules.Advisor, hideBounds bool) alert.Source {
	return func(ctx context.Context) (alert.Observed, error) {
		found, err := a.View(ctx)
		if err != nil {
			return alert.Observed{}, err
		}
		found = found.HideTexts(hideText)
		if hideBounds {
			found = found.HideBounds(words.T("hidden.bounds"), sameID)
		}
		unsure := map[rules.Rule]map[string]bool{}
		for _, u := range found.Unsure {
			if unsure[u.Rule] == nil {
				unsure[u.Rule] = map[string]bool{}
			}
			unsure[u.Rule][u.Subject] = true
		}
		if len(unsure) == len(rules.Rules()) {
			return alert.Observed{}, fault.New(fault.Unavailable, "The cluster's routing table is not loaded, so no rule can be checked.")
		}
		out := alert.Observed{Cluster: a.Cluster(), Unsure: func(rule, subject string) bool {
			of := unsure[rules.Rule(rule)]
			return of[""] || of[subject]
		}}
		for _, i := range found.Items {
			text := because(i)
			if why := i.Why.At(found.At); why != "" {
				text = joinSentences(text, why)
			}
			out.Notices = append(out.Notices, alert.Notice{ID: i.ID, Rule: string(i.Rule), Severity: alert.Severity(i.Severity), Subject: i.Subject,
				Title: i.Text.At(found.At), Text: text, Path: "/advice#" + i.ID})
		}
		return out, nil
	}
}

func joinSentences(a, b string) string {
	if a == "" {
		return b
	}
	return a + " " + b
}

// alertsView shows alerts, receivers and silences.
func alertsView(v View, st alert.Status, may bool) templates.Alerts {
	m := templates.Alerts{Level: "ok", May: may, Keeps: st.Kept, Lead: words.T("alert.lead", "for", format.Span(st.For))}
	firing := int64(0)
	for _, a := range st.Alerts {
		if a.State == alert.Firing {
			firing++
			if m.Level != "bad" {
				m.Level = "note"
			}
			if a.Severity == alert.Critical {
				m.Level = "bad"
			}
		}
		m.Alerts = append(m.Alerts, templates.AlertRow{ID: a.ID, Title: a.Title, Rule: rules.Rule(a.Rule).Name(), Severity: string(a.Severity), RankText: rules.Severity(a.Severity).Name(),
			State: words.Code("alert.state", a.State, nil), Since: templates.Ago(a.Since, v.Now), Silenced: a.Silenced})
	}
	m.Verdict = words.T("alert.quiet")
	if firing > 0 {
		m.Verdict = words.Plural("alert.firing", firing, "n", format.Count(firing))
	}
	note := func(code, text string) {
		m.Notes = append(m.Notes, templates.State{Code: code, Title: text})
	}
	switch {
	case st.Err != nil:
		note("failed", fault.Text(st.Err))
	case st.At.IsZero():
		note("loading", words.T("alert.loading"))
	}
	if st.Dropped > 0 {
		note("partial", words.T("alert.dropped", "n", format.Count(int64(st.Dropped))))
	}
	if !st.Kept {
		note("partial", words.T("alert.notkept"))
	}
	for _, t := range st.Targets {
		m.Targets = append(m.Targets, templates.AlertTarget{Name: t.Name, Format: words.Code("alert.format", t.Format, nil), Least: rules.Severity(t.MinSeverity).Name(),
			Repeat: format.Span(t.Repeat), Last: lastAt(v, t.Last), LastText: lastText(t.Last), Failed: t.Last.Failed > 0, Due: exact(t.Due)})
	}
	for _, q := range st.Silences {
		of := q.Alert
		if q.Rule != "" {
			of = rules.Rule(q.Rule).Name()
		}
		for _, a := range st.Alerts {
			if a.ID == q.Alert {
				of = a.Title
			}
		}
		m.Silences = append(m.Silences, templates.SilenceRow{ID: q.ID, Of: of, By: sanitize.Truncate(q.By, 80), Reason: sanitize.Truncate(q.Reason, 600), Until: q.Until.UTC().Format("2 Jan 15:04 UTC")})
	}
	for _, r := range rules.Rules() {
		m.Rules = append(m.Rules, templates.Option{Value: string(r), Text: r.Name()})
	}
	return m
}

func lastAt(v View, d store.Delivery) templates.Moment {
	if d.At.IsZero() {
		return templates.Moment{}
	}
	return templates.Ago(d.At, v.Now)
}

func lastText(d store.Delivery) string {
	if d.At.IsZero() {
		return words.T("alert.sent.never")
	}
	args := map[string]string{"status": countText(d.Status), "n": countText(d.Alerts), "failed": countText(d.Failed)}
	code := d.Code
	if d.Test && code == "ok" {
		code = "test"
	}
	return words.Code("alert.sent", code, args)
}

func countText(n int) string { return format.Count(int64(n)) }
