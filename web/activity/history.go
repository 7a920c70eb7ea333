package activity

import (
	"net/http"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/web/site"
)

// happened lists what happened in a time span, oldest first.
func happened(s *site.Site, r *http.Request) (a api.History, err error) {
	v := s.ViewFor(r) // the cluster need not be reached to look at its past
	if err := s.KeepsHistory(v); err != nil {
		return a, err
	}
	q, err := param.Read[logbook.HistoryQuery](r.URL.Query())
	if err != nil {
		return a, err
	}
	if q.From, q.To, err = twoTimes(s, r, v); err != nil {
		return a, err
	}
	return logbook.History(r.Context(), v, s.Deps.Past.History, q)
}

// Step leads to a page at the time of the next change or failure,
// or of the one before: as a link, so that it costs nothing until it is taken.
func Step(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	page, to, of := q.Get("page"), q.Get("to"), q.Get("of")
	if page == "" {
		page = "/"
	}
	if !s.OwnPage(page) {
		return fault.New(fault.Invalid, "page must be the address of a page that shows past times.")
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
		if at, err = answer.ParsePastTime("at", text, v.Now); err != nil {
			return err
		}
	}
	found, err := s.Deps.Past.History.Step(r.Context(), v.Table.ClusterID, at, to == "next", of == "failure")
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
	begin, err := s.Deps.Past.History.Begin(r.Context(), v.Table.ClusterID)
	if err != nil {
		return err
	}
	return fault.New(fault.NotFound, "No earlier %s is known: history of this cluster begins at %s.", of, begin.Format(time.RFC3339))
}
