package web

import (
	"net/http"
	"time"

	"shardboard/internal/alert"
	"shardboard/internal/api"
	"shardboard/internal/sanitize"
)

// apiAlerts answers an empty list of receivers where nobody is alerted.
func (s *Site) apiAlerts(w http.ResponseWriter, r *http.Request) error {
	return writeJSON(w, http.StatusOK, alertsOf(s.viewFor(r), s.alertStatus(r)))
}

func (s *Site) apiAlertTest(w http.ResponseWriter, r *http.Request) error {
	var in api.AlertTest
	return s.alertDo(w, r, &in, func(e *alert.Engine) error {
		_, err := e.Test(r.Context(), in.Target, deed(r))
		return err
	})
}

func (s *Site) apiSilence(w http.ResponseWriter, r *http.Request) error {
	var in api.SilenceStart
	return s.alertDo(w, r, &in, func(e *alert.Engine) error { return silence(r, e, in.Alert, in.Rule, in.For, in.Reason) })
}

func (s *Site) apiEndSilence(w http.ResponseWriter, r *http.Request) error {
	var in api.SilenceEnd
	return s.alertDo(w, r, &in, func(e *alert.Engine) error { return e.Unsilence(r.Context(), sanitize.Truncate(in.ID, 100), deed(r)) })
}

// alertDo reads a body, does what it says and answers with what is then.
func (s *Site) alertDo(w http.ResponseWriter, r *http.Request, in any, do func(*alert.Engine) error) error {
	e, err := s.alerts()
	if err != nil {
		return err
	}
	if err := readJSON(r, in); err != nil {
		return err
	}
	if err := do(e); err != nil {
		return err
	}
	return s.apiAlerts(w, r)
}

func alertsOf(v View, st alert.Status) api.Alerts {
	out := api.Alerts{For: st.For.String(), Targets: []api.AlertTarget{}, Alerts: []api.Alert{}, Silences: []api.AlertSilence{}}
	if out.AsOf = st.At.UTC().Truncate(time.Millisecond); st.At.IsZero() {
		out.AsOf = v.Now.UTC().Truncate(time.Millisecond)
	}
	out.Stale = st.Err != nil || !st.At.IsZero() && v.Now.Sub(st.At) > ageLimit
	for _, t := range st.Targets {
		one := api.AlertTarget{Name: t.Name, Format: t.Format, MinSeverity: string(t.MinSeverity), Repeat: t.Repeat.String(), Due: t.Due}
		if d := t.Last; !d.At.IsZero() {
			one.Last = &api.AlertDelivery{At: d.At.UTC(), Code: d.Code, Status: d.Status, Alerts: d.Alerts, Test: d.Test, Failed: d.Failed}
		}
		out.Targets = append(out.Targets, one)
	}
	for _, a := range st.Alerts {
		out.Alerts = append(out.Alerts, api.Alert{ID: a.ID, Rule: a.Rule, Severity: string(a.Severity), State: a.State, Subject: a.Subject, Title: a.Title,
			Since: a.Since.UTC(), Fired: api.Time(a.Fired), Resolved: api.Time(a.Resolved), Silenced: a.Silenced})
	}
	for _, q := range st.Silences {
		out.Silences = append(out.Silences, api.AlertSilence{ID: q.ID, Alert: q.Alert, Rule: q.Rule, By: q.By, Reason: q.Reason, At: q.At.UTC(), Until: q.Until.UTC()})
	}
	return out
}
