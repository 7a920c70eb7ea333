package site

import (
	"net/http"
	"slices"
	"strings"

	"shardboard/internal/alert"
	"shardboard/internal/auth"
	"shardboard/internal/rules"
)

// alertStatus is what an engine follows, as far as whoever sent a request may see
// it. Alerts are made without servers' texts; those that were kept by an earlier
// release, or before bounds were hidden, may have some.
func (s *Site) AlertStatus(r *http.Request) alert.Status {
	if s.Deps.Alerts == nil {
		return alert.Status{}
	}
	st, h := s.Deps.Alerts.Status(), s.HiddenFrom(auth.From(r.Context()))
	st.Err = ShownTo(r, st.Err)
	for i := range st.Alerts {
		a := &st.Alerts[i]
		if h.Texts && a.Rule == string(rules.MigrationsFailing) && a.State != alert.Firing {
			a.Title = rules.MigrationsFailing.Name()
		}
		if h.Bounds {
			a.ID = s.hiddenAlert(a.ID)
			if ns, _, bound := strings.Cut(a.Subject, " {"); bound {
				a.Subject = ns + " " + s.tables.Hiding.Text
			}
		}
	}
	if h.Bounds {
		st.Silences = slices.Clone(st.Silences)
		for i, q := range st.Silences {
			if q.Alert != "" {
				st.Silences[i].Alert = s.hiddenAlert(q.Alert)
			}
		}
	}
	return st
}

// hiddenAlert is another id of an alert, whose own is a hash of what it is about.
// It is that of the problem on the page of advice.
func (s *Site) hiddenAlert(id string) string {
	rule, _, _ := strings.Cut(id, ".")
	return rule + "." + s.tables.Hiding.Name(id)
}
