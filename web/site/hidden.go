package site

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"shardboard/internal/alert"
	"shardboard/internal/answer"
	"shardboard/internal/answer/problems"
	"shardboard/internal/auth"
	"shardboard/internal/history"
	"shardboard/internal/rules"
)

// HiddenFrom is what somebody does not see. Servers' texts are for operators;
// bounds are for everybody, and from support on with --hide-bounds.
func (s *Views) HiddenFrom(who auth.Principal) answer.Hidden {
	return answer.Hidden{Texts: !who.May(auth.Operator), Bounds: s.deps.Cluster.HideBounds && !who.May(auth.Support)}
}

// HiddenFromAny is what the least role does not see, for what goes to everybody.
func (s *Views) HiddenFromAny() answer.Hidden {
	return answer.Hidden{Texts: true, Bounds: s.deps.Cluster.HideBounds}
}

// ViewBy is the newest state as far as somebody may see it.
func (s *Views) ViewBy(who auth.Principal) answer.View { return s.Hide(s.View(), s.HiddenFrom(who)) }

// Hide takes out of a view what somebody does not see, before any page, answer or
// fragment is made of it. Texts of servers are gone from its data. Bounds are
// still there for what is computed with them: the table's patterns and View's
// methods write them, and write instead that they are hidden.
func (s *Views) Hide(v answer.View, h answer.Hidden) answer.View {
	if h == (answer.Hidden{}) || v.Hidden == h {
		return v
	}
	whole := v.Computable()
	v = whole
	v.Hidden, v.Whole = h, &whole
	v.Table = s.tables.Of(v.Table, h, v.Past == nil)
	if runs := v.Runs; runs != nil && h.Texts {
		v.Runs = func(from, to time.Time) []history.OurRun { return answer.HideAnswers(runs(from, to)) }
	}
	if runs := v.FlightRuns; runs != nil && h.Texts {
		v.FlightRuns = func() []history.OurRun { return answer.HideAnswers(runs()) }
	}
	found := s.hideInProblems(problems.Problems(whole), h)
	v.Found = &found
	return v
}

// hideInProblems takes out of a list of problems what somebody does not see.
func (s *Views) hideInProblems(found rules.View, h answer.Hidden) rules.View {
	if h.Texts {
		found = found.HideTexts(answer.HideText)
	}
	if h.Bounds {
		found = found.HideBounds(s.tables.Hiding.Text, s.tables.Hiding.Name)
	}
	return found
}

// AlertStatus is what an engine follows, as far as whoever sent a request may see
// it. Alerts are made without servers' texts; those that were kept by an earlier
// release, or before bounds were hidden, may have some.
func (s *Views) AlertStatus(r *http.Request) alert.Status {
	if s.deps.Problems.Alerts == nil {
		return alert.Status{}
	}
	st, h := s.deps.Problems.Alerts.Status(), s.HiddenFrom(auth.From(r.Context()))
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
func (s *Views) hiddenAlert(id string) string {
	rule, _, _ := strings.Cut(id, ".")
	return rule + "." + s.tables.Hiding.Name(id)
}
