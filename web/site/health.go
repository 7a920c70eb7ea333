package site

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/static"
)

// healthz answers as soon as requests are served at all.
func (s *Site) Healthz(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err := w.Write([]byte("ok\n"))
	return err
}

// readyz answers 200 once table and projects are loaded, and while the data
// directory is where it was; a script that waits for it sees real data from then
// on, and what it stores is kept.
func (s *Site) Readyz(w http.ResponseWriter, _ *http.Request) error {
	out := api.Ready{Reason: s.notReady()}
	t := s.troubleNow()
	switch c := s.DataCondition(); {
	case c.Lost():
		out.Reason = fault.Text(c.Err) // names no path, so anybody may read it
	case t != nil && t.Lasting():
		out.Reason = t.Title() + ". The log has the cause." // which names a path
	case out.Reason != "" && s.Deps.Exposed:
		out.Reason = "The data is not loaded yet." // the cause may name hosts, and anybody may ask
	}
	out.Ready = out.Reason == ""
	if out.Ready {
		return WriteJSON(w, http.StatusOK, out)
	}
	w.Header().Set("Retry-After", "1")
	return WriteJSON(w, http.StatusServiceUnavailable, out)
}

// notReady says what is missing; "" when nothing is.
func (s *Site) notReady() string {
	v := s.View()
	switch {
	case !v.Table.Loaded:
		for _, p := range answer.AllParts {
			if err := v.Table.Health[p].Err; err != nil {
				return "The routing table is not loaded yet: " + fault.Brief(err)
			}
		}
		return "The routing table is not loaded yet."
	case !v.Dir.Loaded():
		if err := v.Dir.Health().Err; err != nil {
			return "The projects are not loaded yet: " + fault.Brief(err)
		}
		return "The projects are not loaded yet."
	}
	return ""
}

// serveStatic answers embedded files. Their addresses contain a hash of the
// content, so they may be kept for ever.
func (s *Site) ServeStatic(w http.ResponseWriter, r *http.Request) error {
	if _, ok := static.Open(r.URL.Path); !ok {
		return fault.New(fault.NotFound, "There is no such file in this build.")
	}
	static.Handler().ServeHTTP(w, r)
	return nil
}
