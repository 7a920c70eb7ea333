package advice

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"shardboard/internal/alert"
	"shardboard/internal/answer"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/rules"
	"shardboard/internal/sanitize"
	"shardboard/internal/store"
	"shardboard/web/parts"
	"shardboard/web/site"
)

func PageAlerts(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v := s.ViewFor(r)
	may := auth.From(r.Context()).May(auth.Admin) && s.WhyReadOnly() == ""
	var m Alerts
	if s.Deps.Alerts == nil {
		m = Alerts{Level: "note", Verdict: "No alert receivers configured", Lead: "Start shardboard with --alerts FILE. If several processes share the data, the one that owns it sends the alerts."}
	} else {
		m = alertsView(v, s.AlertStatus(r), may)
	}
	return site.WritePage(w, r, http.StatusOK, AlertsPage(s.Shell(r, v, "advise", "Alerts"), m))
}

// alerts is the engine, or why there is none.
func alerts(s *site.Site) (*alert.Engine, error) {
	if s.Deps.Alerts == nil {
		return nil, fault.New(fault.Unavailable, "No alert receivers are configured: start shardboard with --alerts FILE. Of several processes over the same data, the one that owns it sends.")
	}
	return s.Deps.Alerts, nil
}

func PostAlertTest(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return alertForm(s, w, r, func(e *alert.Engine) error {
		_, err := e.Test(r.Context(), r.PostForm.Get("target"), parts.Deed(r))
		return err
	})
}

func PostSilence(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return alertForm(s, w, r, func(e *alert.Engine) error {
		return silence(r, e, r.PostForm.Get("alert"), r.PostForm.Get("rule"), r.PostForm.Get("for"), r.PostForm.Get("reason"))
	})
}

func PostEndSilence(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return alertForm(s, w, r, func(e *alert.Engine) error {
		return e.Unsilence(r.Context(), sanitize.Truncate(r.PostForm.Get("id"), 100), parts.Deed(r))
	})
}

// alertForm does what a form of the page says, and leads back to it.
func alertForm(s *site.Site, w http.ResponseWriter, r *http.Request, do func(*alert.Engine) error) error {
	if err := site.ParseForm(r); err != nil {
		return err
	}
	e, err := alerts(s)
	if err == nil {
		err = do(e)
	}
	if err != nil {
		return err
	}
	site.SeeOther(w, "/alerts")
	return nil
}

// silence begins one from texts.
func silence(r *http.Request, e *alert.Engine, id, rule, span, reason string) error {
	for _, text := range []struct{ name, value string }{{"alert", id}, {"rule", rule}, {"reason", reason}} {
		if _, err := answer.CheckText(text.name, text.value); err != nil {
			return err
		}
	}
	if rule != "" && !slices.Contains(rules.Rules(), rules.Rule(rule)) {
		return fault.New(fault.Invalid, "There is no rule %q, so a silence of it would keep nothing from being told.", sanitize.Truncate(rule, 100))
	}
	if id != "" && !slices.ContainsFunc(e.Status().Alerts, func(a alert.Alert) bool { return a.ID == id }) {
		return fault.New(fault.Invalid, "There is no alert %q now. Silence its rule to keep what may come from being told.", sanitize.Truncate(id, 200))
	}
	d, err := time.ParseDuration(span)
	if err != nil {
		return fault.New(fault.Invalid, "for is a duration such as 8h; %q is not.", sanitize.Truncate(span, 40))
	}
	_, err = e.Silence(r.Context(), store.Silence{Alert: id, Rule: rule, Reason: strings.TrimSpace(reason)}, d, parts.Deed(r))
	return err
}
