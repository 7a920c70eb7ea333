package problems

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"shardboard/internal/alert"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/rules"
	"shardboard/internal/shardkey"
	"shardboard/internal/store"
)

// Alerts lists the receivers, the problems that alerts follow, and the silences.
func Alerts(v answer.View, st alert.Status) api.Alerts {
	out := api.Alerts{
		For: st.For.String(), Targets: []api.AlertTarget{}, Alerts: []api.Alert{}, Over: []api.Alert{}, Silences: []api.AlertSilence{},
		Checked: !st.At.IsZero(), Dropped: st.Dropped, Kept: st.Kept,
	}
	if out.AsOf = st.At.UTC().Truncate(time.Millisecond); !out.Checked {
		out.AsOf = v.Now.UTC().Truncate(time.Millisecond)
	}
	out.Stale = st.Err != nil || out.Checked && v.Now.Sub(st.At) > ageLimit
	if st.Err != nil {
		out.Failure = fault.Text(st.Err)
	}
	out.Level, out.Headline = AlertsHeadline(st.Alerts, st.Targets)
	for _, t := range st.Targets {
		one := api.AlertTarget{Name: t.Name, Format: t.Format, MinSeverity: string(t.MinSeverity), Repeat: t.Repeat.String(), Due: t.Due}
		if d := t.Last; !d.At.IsZero() {
			one.Last = &api.AlertDelivery{
				At: d.At.UTC(), Code: d.Code, Status: d.Status, Alerts: d.Alerts, Test: d.Test, Failed: d.Failed,
				Text: alert.DeliveryText(d),
			}
		}
		out.Targets = append(out.Targets, one)
	}
	for _, a := range st.Alerts {
		one := alertOf(a)
		one.Unsent = unsent(a, st.Targets)
		out.Alerts = append(out.Alerts, one)
	}
	for _, a := range st.Over {
		out.Over = append(out.Over, alertOf(a))
	}
	for _, q := range st.Silences {
		out.Silences = append(out.Silences, api.AlertSilence{
			ID: q.ID, Alert: q.Alert, Rule: q.Rule, By: q.By, Reason: q.Reason, At: q.At.UTC(), Until: q.Until.UTC(),
			Title: silenceTitle(q, st.Alerts),
		})
	}
	return out
}

func alertOf(a alert.Alert) api.Alert {
	sentTo := []string{}
	for _, name := range slices.Sorted(maps.Keys(a.Sent)) {
		if a.Sent[name].State == alert.Firing {
			sentTo = append(sentTo, name)
		}
	}
	return api.Alert{
		SentTo: sentTo,
		ID:     a.ID, Rule: a.Rule, Severity: string(a.Severity), State: a.State, Subject: a.Subject, Title: a.Title,
		Since: a.Since.UTC(), Fired: api.Time(a.Fired), Resolved: api.Time(a.Resolved), Silenced: a.Silenced,
		Playbook: firstPlaybook(rules.Rule(a.Rule)).URL,
	}
}

// unsent tells whether an alert that exists went and goes to nobody, because every receiver wants more severe ones.
func unsent(a alert.Alert, to []alert.TargetStatus) bool {
	wants := func(t alert.TargetStatus) bool { return !a.Severity.Below(t.MinSeverity) }
	return a.State != alert.Resolved && len(a.Sent) == 0 && len(to) > 0 && !slices.ContainsFunc(to, wants)
}

// AlertsHeadline counts the alerts of the list below it: active ones, and those that are not sent yet or have just
// ended.
func AlertsHeadline(all []alert.Alert, to []alert.TargetStatus) (level, text string) {
	firing, pending, ended, below := 0, 0, 0, 0
	level = "ok"
	for _, a := range all {
		if unsent(a, to) {
			below++
			continue
		}
		switch a.State {
		case alert.Pending:
			pending++
		case alert.Resolved:
			ended++
		case alert.Firing:
			if firing++; a.Severity == alert.Critical {
				level = "bad"
			}
		}
	}
	if level == "ok" && firing+pending > 0 {
		level = "note"
	}
	parts := []string{"No active alerts"}
	switch {
	case firing > 0:
		parts[0] = format.Count(int64(firing)) + message.Plural(firing, " active alert", " active alerts")
	case pending+ended+below == 0:
		return level, "No alerts"
	}
	if pending > 0 {
		parts = append(parts, format.Count(int64(pending))+" not sent yet")
	}
	if below > 0 {
		parts = append(parts, format.Count(int64(below))+message.Plural(below, " problem", " problems")+" too small to alert")
	}
	if ended > 0 {
		parts = append(parts, format.Count(int64(ended))+" just ended")
	}
	return level, strings.Join(parts, ", ")
}

func silenceTitle(q store.Silence, all []alert.Alert) string {
	if q.Rule != "" {
		return rules.Rule(q.Rule).Name()
	}
	if i := slices.IndexFunc(all, func(a alert.Alert) bool { return a.ID == q.Alert }); i >= 0 {
		return all[i].Title
	}
	return q.Alert
}

// AlertSource makes alerts of the problems that are not dismissed. An alert whose rule
// could not be checked stays as it is. It is not known who reads a receiver's messages,
// so alerts have no texts of servers and, with hideBounds, no key values.
func AlertSource(a *rules.Advisor, hideBounds bool) alert.Source {
	return func(ctx context.Context) (alert.Observed, error) {
		found, err := a.View(ctx)
		if err != nil {
			return alert.Observed{}, err
		}
		found = found.HideTexts(answer.HideText)
		if hideBounds {
			found = found.HideBounds(shardkey.HiddenText, sameID)
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
		// The alert about one that is now part of a problem about many, or a consequence of another, is neither over nor
		// sent again.
		for _, p := range found.Items {
			for _, x := range slices.Concat(p.Parts, p.Consequences) {
				if unsure[x.Rule] == nil {
					unsure[x.Rule] = map[string]bool{}
				}
				unsure[x.Rule][x.Subject] = true
			}
		}
		out := alert.Observed{Cluster: a.Cluster(), Unsure: func(rule, subject string) bool {
			of := unsure[rules.Rule(rule)]
			return of[""] || of[subject]
		}}
		for _, i := range found.Items {
			if !i.Until.IsZero() {
				continue // it is over
			}
			text := strings.TrimSpace(i.Because.String() + " " + i.Why.At(found.At))
			if also := alsoText(i); also != "" {
				text = strings.TrimSpace(text + " With it: " + also + ".")
			}
			if taken := takenText(found, i); taken != "" {
				text = strings.TrimSpace(text + " " + taken)
			}
			var follow []alert.Also
			for _, x := range i.Consequences {
				follow = append(follow, alert.Also{ID: x.ID, Rule: string(x.Rule)})
			}
			out.Notices = append(out.Notices, alert.Notice{Also: follow, ID: i.ID, Rule: string(i.Rule),
				Severity: alert.Severity(i.Severity), Subject: i.Subject,
				Title: i.Text.At(found.At), Text: text, Path: "/advice#" + i.ID, Playbook: string(firstPlaybook(i.Rule).URL)})
		}
		return out, nil
	}
}

// sameID keeps the id of a problem whose bounds are hidden: alerts go by it.
func sameID(id string) string {
	_, rest, _ := strings.Cut(id, ".")
	return rest
}
