package site

import (
	"net/http"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/auth"
	"shardboard/internal/history"
)

// hiddenFrom is what somebody does not see. Servers' texts are for operators;
// bounds are for everybody, and from support on with --hide-bounds.
func (s *Site) HiddenFrom(who auth.Principal) answer.Hidden {
	return answer.Hidden{Texts: !who.May(auth.Operator), Bounds: s.Deps.HideBounds && !who.May(auth.Support)}
}

// hiddenFromAny is what the least role does not see, for what goes to everybody.
func (s *Site) HiddenFromAny() answer.Hidden {
	return answer.Hidden{Texts: true, Bounds: s.Deps.HideBounds}
}

// viewFor is the newest state as far as whoever sent a request may see it.
func (s *Site) ViewFor(r *http.Request) answer.View {
	return s.Hide(s.View(), s.HiddenFrom(auth.From(r.Context())))
}

// hide takes out of a view what somebody does not see, before any page, answer or
// fragment is made of it. Texts of servers are gone from its data. Bounds are
// still there for what is computed with them: the table's patterns and View's
// methods write them, and write instead that they are hidden.
func (s *Site) Hide(v answer.View, h answer.Hidden) answer.View {
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
	found := s.hideInProblems(whole.Problems(), h)
	v.Found = &found
	return v
}
