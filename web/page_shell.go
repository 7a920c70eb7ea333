package web

import (
	"bytes"
	"net/http"

	"github.com/a-h/templ"

	"shardboard/internal/fault"
	"shardboard/web/templates"
)

// view is the newest state of everything a page shows.
func (s *Server) view() View {
	v := View{Table: s.deps.Watcher.Table(), Dir: s.deps.Keeper.Directory(), Now: s.deps.Now()}
	if s.deps.Cost != nil {
		v.Cost = s.deps.Cost()
	}
	return v
}

// shell is what surrounds every page.
func (s *Server) shell(v View, nav, title string, topics ...string) templates.Shell {
	if len(topics) == 0 {
		topics = []string{"zones"} // a quiet topic: its socket carries the status
	}
	return templates.Shell{
		Title:   title,
		Nav:     nav,
		Topics:  topics,
		Status:  statusView(v),
		Shards:  shardRefs(v.Table),
		Target:  s.deps.Target,
		Server:  v.Table.ServerInfo.Version,
		Demo:    s.deps.Demo,
		Version: s.deps.Version,
	}
}

// writePage draws a page. Validators, compression and the buffer that keeps a
// half-drawn page from leaving are the response's business.
func writePage(w http.ResponseWriter, r *http.Request, status int, page templ.Component) error {
	var buf bytes.Buffer
	if err := page.Render(r.Context(), &buf); err != nil {
		return fault.Wrap(fault.Internal, err, "The page could not be drawn.")
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(buf.Bytes()) // the browser is gone; nobody is left to tell
	return nil
}

// writeErrorPage answers a failed page request: the status of the fault's kind
// and a page that says what happened, what was asked for and where to go on.
func (s *Server) writeErrorPage(w http.ResponseWriter, r *http.Request, err error) {
	kind := fault.Of(err)
	page := templates.Error(s.shell(s.view(), "", errorTitle(kind)), errorView(kind, fault.Text(err)))
	if werr := writePage(w, r, kind.HTTPStatus(), page); werr != nil {
		http.Error(w, fault.Text(err), kind.HTTPStatus())
	}
}
