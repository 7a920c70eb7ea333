package advice

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"shardboard/internal/alert"
	"shardboard/internal/answer/param"
	"shardboard/internal/answer/problems"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/rules"
	"shardboard/internal/sanitize"
	"shardboard/internal/store"
	"shardboard/web/site"
)

// AlertsPage shows the receivers, the alerts and the silences.
func AlertsPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v := s.ViewFor(r)
	may := auth.From(r.Context()).May(auth.Admin) && s.Deps.Store.WhyReadOnly() == ""
	list := problems.Alerts(v, s.AlertStatus(r))
	return site.WritePage(w, r, http.StatusOK, alertsPage(s.Shell(r, v, "alerts", "Alerts"), list, may, v.Now))
}

// alerts has an empty list of receivers where none are configured.
func alerts(s *site.Site, r *http.Request) (a api.Alerts, err error) {
	return problems.Alerts(s.ViewFor(r), s.AlertStatus(r)), nil
}

// onAlerts is what an admin does about alerts; the answer is what is known of them after that.
func onAlerts[In any](rt site.Route, forScripts string, do func(*http.Request, *alert.Engine, In) error) site.Change[In, api.Alerts] {
	rt.Policy = alertPolicy
	return site.Change[In, api.Alerts]{
		Route: rt, For: forScripts,
		Do: func(s *site.Site, r *http.Request, in In) (api.Alerts, error) {
			e, err := engine(s)
			if err == nil {
				err = do(r, e, in)
			}
			if err != nil {
				return api.Alerts{}, err
			}
			return alerts(s, r)
		},
		Leads: func(*http.Request, api.Alerts) string { return "/alerts" },
	}
}

// engine is the alert engine, or why there is none.
func engine(s *site.Site) (*alert.Engine, error) {
	if s.Deps.Problems.Alerts == nil {
		return nil, fault.New(fault.Unavailable, "No alert receivers are configured: start shardboard with --alerts FILE. "+
			"If several processes share the data, the one that owns it sends the alerts.")
	}
	return s.Deps.Problems.Alerts, nil
}

// testReceiver sends a test message to one receiver.
func testReceiver(r *http.Request, e *alert.Engine, in api.AlertTest) error {
	_, err := e.Test(r.Context(), in.Target, site.AuditEntry(r))
	return err
}

// endSilence ends a silence before its time.
func endSilence(r *http.Request, e *alert.Engine, in api.SilenceEnd) error {
	return e.Unsilence(r.Context(), sanitize.Truncate(in.ID, 100), site.AuditEntry(r))
}

// silence suppresses one alert, or those of a rule, for a time.
func silence(r *http.Request, e *alert.Engine, in api.SilenceStart) error {
	for _, text := range []struct{ name, value string }{{"alert", in.Alert}, {"rule", in.Rule}, {"reason", in.Reason}} {
		if _, err := param.Checked(text.name, text.value); err != nil {
			return err
		}
	}
	if in.Rule != "" && !slices.Contains(rules.Rules(), rules.Rule(in.Rule)) {
		return fault.New(fault.Invalid, "There is no rule %q, so a silence of it would suppress nothing.", sanitize.Truncate(in.Rule, 100))
	}
	if in.Alert != "" && !slices.ContainsFunc(e.Status().Alerts, func(a alert.Alert) bool { return a.ID == in.Alert }) {
		return fault.New(fault.Invalid, "There is no alert %q now. Silence its rule to suppress future alerts.", sanitize.Truncate(in.Alert, 200))
	}
	d, err := time.ParseDuration(in.For)
	if err != nil {
		return fault.New(fault.Invalid, "for must be a duration such as 8h, not %q.", sanitize.Truncate(in.For, 40))
	}
	_, err = e.Silence(r.Context(), store.Silence{Alert: in.Alert, Rule: in.Rule, Reason: strings.TrimSpace(in.Reason)}, d, site.AuditEntry(r))
	return err
}

// span writes a Go duration of an answer for people.
func span(text string) string {
	d, err := time.ParseDuration(text)
	if err != nil {
		return text
	}
	return format.Span(d)
}
