package activity

import (
	"net/http"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// pageHistoryStep leads to a page at the time of the next change or failure,
// or of the one before: as a link, so that it costs nothing until it is taken.
func PageHistoryStep(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	page, to, of := q.Get("page"), q.Get("to"), q.Get("of")
	if page == "" {
		page = "/"
	}
	if !s.OwnPage(page) {
		return fault.New(fault.Invalid, "page is the address of a page here that there is of a past time.")
	}
	if to != "prev" && to != "next" || of != "change" && of != "failure" {
		return fault.New(fault.Invalid, "to is prev or next, of is change or failure.")
	}
	v := s.ViewFor(r)
	if err := s.KeepsHistory(v); err != nil {
		return err
	}
	at := v.Now
	if text := q.Get("at"); text != "" {
		var err error
		if at, err = answer.ParseInstant("at", text, v.Now); err != nil {
			return err
		}
	}
	found, err := s.Deps.History.Step(r.Context(), v.Table.ClusterID, at, to == "next", of == "failure")
	if err != nil {
		return err
	}
	switch {
	case found.After(v.Now):
		found = time.Time{} // a server's clock ahead of ours
	case found.IsZero() && to == "prev":
		return nothingEarlier(s, r, v, of)
	case found.IsZero() && of == "failure":
		return fault.New(fault.NotFound, "No failure after %s is known.", at.Format(time.RFC3339))
	}
	w.Header().Set("Location", answer.WithAt(page, found))
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

func nothingEarlier(s *site.Site, r *http.Request, v answer.View, of string) error {
	begin, err := s.Deps.History.Begin(r.Context(), v.Table.ClusterID)
	if err != nil {
		return err
	}
	return fault.New(fault.NotFound, "No earlier %s is known: history of this cluster begins at %s.", of, begin.Format(time.RFC3339))
}

// twoTimes are the times that a comparison is of; to is now by default, from a
// day before it, or where history begins.
func twoTimes(s *site.Site, r *http.Request, v answer.View) (from, to time.Time, err error) {
	q := r.URL.Query()
	to = v.Now.UTC().Truncate(time.Millisecond)
	if text := q.Get("to"); text != "" {
		if to, err = answer.ParseInstant("to", text, v.Now); err != nil {
			return from, to, err
		}
	}
	if text := q.Get("from"); text != "" {
		if from, err = answer.ParseInstant("from", text, v.Now); err != nil {
			return from, to, err
		}
	} else {
		begin, berr := s.Deps.History.Begin(r.Context(), v.Table.ClusterID)
		if berr != nil {
			return from, to, berr
		}
		if from = to.Add(-answer.CompareSpan); from.Before(begin) {
			from = begin
		}
	}
	if !from.Before(to) {
		return from, to, fault.New(fault.Invalid, "from has to be before to.")
	}
	return from, to, nil
}

// pageCompare tells what became different between two times.
func PageCompare(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v := s.ViewFor(r)
	if err := s.KeepsHistory(v); err != nil {
		return err
	}
	m := templates.Compare{Latest: v.Now.UTC().Format(answer.FieldTime)}
	status := http.StatusOK
	from, to, err := twoTimes(s, r, v)
	var before, after answer.View
	if err == nil {
		m.From, m.To = from.Format(answer.FieldTime), to.Format(answer.FieldTime)
		if before, err = s.ViewOf(r.Context(), v, from); err == nil {
			after, err = s.ViewOf(r.Context(), v, to)
		}
	}
	switch kind := fault.Of(err); {
	case err == nil:
		if after.Internal, err = answer.InternalOf(r.URL.Query()); err != nil {
			return err
		}
		m.Address = r.URL.RequestURI()
		compareView(before, after, &m)
	case kind == fault.Invalid || kind == fault.NotFound:
		// What was typed is to be corrected in place.
		m.Problem, status = fault.Text(err), kind.HTTPStatus()
	default:
		return err
	}
	sh := s.Shell(r, v, "activity", "Compare two times")
	return site.WritePage(w, r, status, ComparePage(sh, m))
}

// pageWatch lists what is watched and where it is now.
func PageWatch(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.ViewAt(r)
	if err != nil {
		return err
	}
	m, err := s.Watching(r, v)
	if err != nil {
		return err
	}
	m.Page = true
	sh := s.Shell(r, v, "", "Watched")
	sh.Watching = templates.Watching{}
	return site.WritePage(w, r, http.StatusOK, templates.WatchPage(sh, m))
}
