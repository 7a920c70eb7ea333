package web

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"shardboard/internal/alert"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/rules"
	"shardboard/internal/sanitize"
	"shardboard/internal/store"
	"shardboard/web/templates"
	"shardboard/web/words"
)

func (s *Site) pageAlerts(w http.ResponseWriter, r *http.Request) error {
	v := s.viewFor(r)
	may := auth.From(r.Context()).May(auth.Admin) && s.whyReadOnly() == ""
	var m templates.Alerts
	if s.deps.Alerts == nil {
		m = templates.Alerts{Level: "note", Verdict: words.T("alert.off"), Lead: words.T("alert.off.lead")}
	} else {
		m = alertsView(v, s.alertStatus(r), may)
	}
	return writePage(w, r, http.StatusOK, templates.AlertsPage(s.shell(r, v, "advise", words.T("alert.title")), m))
}

// alerts is the engine, or why there is none.
func (s *Site) alerts() (*alert.Engine, error) {
	if s.deps.Alerts == nil {
		return nil, fault.New(fault.Unavailable, "No alert receivers are configured: start shardboard with --alerts FILE. Of several processes over the same data, the one that owns it sends.")
	}
	return s.deps.Alerts, nil
}

func (s *Site) postAlertTest(w http.ResponseWriter, r *http.Request) error {
	return s.alertForm(w, r, func(e *alert.Engine) error {
		_, err := e.Test(r.Context(), r.PostForm.Get("target"), deed(r))
		return err
	})
}

func (s *Site) postSilence(w http.ResponseWriter, r *http.Request) error {
	return s.alertForm(w, r, func(e *alert.Engine) error {
		return silence(r, e, r.PostForm.Get("alert"), r.PostForm.Get("rule"), r.PostForm.Get("for"), r.PostForm.Get("reason"))
	})
}

func (s *Site) postEndSilence(w http.ResponseWriter, r *http.Request) error {
	return s.alertForm(w, r, func(e *alert.Engine) error {
		return e.Unsilence(r.Context(), sanitize.Truncate(r.PostForm.Get("id"), 100), deed(r))
	})
}

// alertForm does what a form of the page says, and leads back to it.
func (s *Site) alertForm(w http.ResponseWriter, r *http.Request, do func(*alert.Engine) error) error {
	if err := parseForm(r); err != nil {
		return err
	}
	e, err := s.alerts()
	if err == nil {
		err = do(e)
	}
	if err != nil {
		return err
	}
	seeOther(w, "/alerts")
	return nil
}

// silence begins one from texts.
func silence(r *http.Request, e *alert.Engine, id, rule, span, reason string) error {
	for _, text := range []struct{ name, value string }{{"alert", id}, {"rule", rule}, {"reason", reason}} {
		if _, err := checkText(text.name, text.value); err != nil {
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
	_, err = e.Silence(r.Context(), store.Silence{Alert: id, Rule: rule, Reason: strings.TrimSpace(reason)}, d, deed(r))
	return err
}
