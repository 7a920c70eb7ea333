package advice

import (
	"shardboard/internal/alert"
	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/rules"
	"shardboard/internal/sanitize"
	"shardboard/internal/store"
	"shardboard/web/parts"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// alertsView shows alerts, receivers and silences.
func alertsView(v answer.View, st alert.Status, may bool) Alerts {
	m := Alerts{Level: "ok", May: may, Keeps: st.Kept, Lead: "A problem that lasts longer than " + format.Span(st.For) + " is sent once, again after the receiver's interval, and when it is over."}
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
		m.Alerts = append(m.Alerts, AlertRow{ID: a.ID, Title: a.Title, Rule: rules.Rule(a.Rule).Name(), Severity: string(a.Severity), RankText: rules.Severity(a.Severity).Name(),
			State: words.Code("alert.state", a.State, nil), Since: templates.Ago(a.Since, v.Now), Silenced: a.Silenced})
	}
	m.Verdict = "No alerts"
	if firing > 0 {
		m.Verdict = message.Plural(firing, format.Count(firing)+" alert", format.Count(firing)+" alerts")
	}
	note := func(code, text string) {
		m.Notes = append(m.Notes, templates.State{Code: code, Title: text})
	}
	switch {
	case st.Err != nil:
		note("failed", fault.Text(st.Err))
	case st.At.IsZero():
		note("loading", "Not checked yet.")
	}
	if st.Dropped > 0 {
		note("partial", format.Count(int64(st.Dropped))+" more problems, the least severe, are not followed: there are too many.")
	}
	if !st.Kept {
		note("partial", "After a restart everything is sent again, and nothing can be silenced: this shardboard keeps no data.")
	}
	for _, t := range st.Targets {
		m.Targets = append(m.Targets, AlertTarget{Name: t.Name, Format: words.Code("alert.format", t.Format, nil), Least: rules.Severity(t.MinSeverity).Name(),
			Repeat: format.Span(t.Repeat), Last: lastAt(v, t.Last), LastText: answer.LastText(t.Last), Failed: t.Last.Failed > 0, Due: parts.Exact(t.Due)})
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
		m.Silences = append(m.Silences, SilenceRow{ID: q.ID, Of: of, By: sanitize.Truncate(q.By, 80), Reason: sanitize.Truncate(q.Reason, 600), Until: q.Until.UTC().Format("2 Jan 15:04 UTC")})
	}
	for _, r := range rules.Rules() {
		m.Rules = append(m.Rules, templates.Option{Value: string(r), Text: r.Name()})
	}
	return m
}

func lastAt(v answer.View, d store.Delivery) templates.Moment {
	if d.At.IsZero() {
		return templates.Moment{}
	}
	return templates.Ago(d.At, v.Now)
}
