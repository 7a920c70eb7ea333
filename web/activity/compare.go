package activity

import (
	"net/http"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// compare says what became different between two times.
func comparison(s *site.Site, r *http.Request) (a api.Comparison, err error) {
	v := s.ViewFor(r) // the cluster need not be reached to look at its past
	if err := s.KeepsHistory(v); err != nil {
		return a, err
	}
	from, to, err := twoTimes(s, r, v)
	if err != nil {
		return a, err
	}
	before, after, err := viewsOf(s, r, v, from, to)
	if err != nil {
		return a, err
	}
	gaps, err := s.Deps.Past.History.Gaps(r.Context(), v.Table.ClusterID, from, to)
	if err != nil {
		return a, err
	}
	return data.Comparison(before, after, after.Internal, gaps), nil
}

// comparePage is the form and, unless problem says what is wrong with the times,
// the comparison.
type comparePage struct {
	from, to, latest string // the fields' values
	problem          string
	address          string // the page's own
	whole            bool   // every shard is listed
	before, after    answer.View
	answer           api.Comparison
	refs             templates.Refs
}

// ComparePage shows what became different between two times.
func ComparePage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v := s.ViewFor(r)
	if err := s.KeepsHistory(v); err != nil {
		return err
	}
	m := comparePage{latest: v.Now.UTC().Format(answer.FieldTime), address: r.URL.RequestURI(),
		whole: templates.WantsAllShards(r.URL.Query())}
	status := http.StatusOK
	from, to, err := twoTimes(s, r, v)
	if err == nil {
		m.from, m.to = from.Format(answer.FieldTime), to.Format(answer.FieldTime)
		m.before, m.after, err = viewsOf(s, r, v, from, to)
	}
	switch kind := fault.Of(err); {
	case err == nil:
		m.answer, m.refs = data.Comparison(m.before, m.after, m.after.Internal, nil), templates.RefsOf(m.after.Table)
	case kind == fault.Invalid || kind == fault.NotFound:
		// What was typed is to be corrected in place.
		m.problem, status = fault.Text(err), kind.HTTPStatus()
	default:
		return err
	}
	sh := s.Shell(r, v, "compare", "Compare two times")
	return site.WritePage(w, r, status, compare(sh, m))
}

// viewsOf are the states at two times.
func viewsOf(s *site.Site, r *http.Request, v answer.View, from, to time.Time) (before, after answer.View, err error) {
	if before, err = s.ViewOf(r.Context(), v, from); err != nil {
		return before, after, err
	}
	if after, err = s.ViewOf(r.Context(), v, to); err != nil {
		return before, after, err
	}
	after.Internal, err = answer.ParseInternal(r.URL.Query())
	return before, after, err
}

// ofTwoTimes are the times of an address that is read now; zero where they are absent.
func ofTwoTimes(from, to *time.Time, now time.Time) param.List {
	return param.List{
		answer.TimeUpTo(from, "from", "RFC 3339 or milliseconds since 1970; default a day before to, or where history begins", now),
		answer.TimeUpTo(to, "to", "likewise; default now", now),
	}
}

// twoTimes are ?from= and ?to=. To is now by default, from a day before it, or
// where history begins.
func twoTimes(s *site.Site, r *http.Request, v answer.View) (from, to time.Time, err error) {
	if err = ofTwoTimes(&from, &to, v.Now).Read(r.URL.Query()); err != nil {
		return from, to, err
	}
	if to.IsZero() {
		to = v.Now.UTC().Truncate(time.Millisecond)
	}
	if from.IsZero() {
		begin, err := s.Deps.Past.History.Begin(r.Context(), v.Table.ClusterID)
		if err != nil {
			return from, to, err
		}
		if from = to.Add(-data.CompareSpan); from.Before(begin) {
			from = begin
		}
	}
	if !from.Before(to) {
		return from, to, fault.New(fault.Invalid, "from must be before to.")
	}
	return from, to, nil
}

// notes say where nothing was recorded at a time that is compared.
func (m comparePage) notes() []api.State {
	var out []api.State
	for _, v := range []answer.View{m.before, m.after} {
		if !v.Past.Watched {
			notes := logbook.PastNotes(v, false)
			notes[0].Title = "Nothing was recorded at " + answer.FullInstant(v.Past.At) + "."
			out = append(out, notes...)
		}
	}
	return out
}
