package web

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
func (s *Site) alertStatus(r *http.Request) alert.Status {
	if s.deps.Alerts == nil {
		return alert.Status{}
	}
	st, h := s.deps.Alerts.Status(), s.hiddenFrom(auth.From(r.Context()))
	st.Err = shownTo(r, st.Err)
	for i := range st.Alerts {
		a := &st.Alerts[i]
		if h.texts && a.Rule == string(rules.MigrationsFailing) && a.State != alert.Firing {
			a.Title = rules.MigrationsFailing.Name()
		}
		if h.bounds {
			a.ID = s.hiddenAlert(a.ID)
			if ns, _, bound := strings.Cut(a.Subject, " {"); bound {
				a.Subject = ns + " " + s.tables.hiding.Text
			}
		}
	}
	if h.bounds {
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
	return rule + "." + s.tables.hiding.Name(id)
}

// sameID keeps the id of a problem whose bounds are hidden: alerts go by it.
func sameID(id string) string {
	_, rest, _ := strings.Cut(id, ".")
	return rest
}
