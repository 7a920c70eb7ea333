package web

import (
	"context"
	"net/http"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// locateWait bounds the few reads that one question may cost the cluster.
const locateWait = 5 * time.Second

// pageLocate is one box: a project with a document key, an id, or a namespace
// with a key. A question without an answer keeps its box, so that the asker
// corrects it in place; the status still says not found or invalid.
func (s *Server) pageLocate(w http.ResponseWriter, r *http.Request) error {
	v := s.view()
	in := r.URL.Query()
	q := placement.Query{Text: in.Get("q"), NS: topology.Namespace(in.Get("ns")), Key: in.Get("key")}
	m := templates.Locate{Query: clip(q.Text, 400), NS: clip(string(q.NS), 300), Key: clip(q.Key, 2000)}
	sh := s.shell(v, "locate", words.T("nav.locate"))
	if q == (placement.Query{}) {
		m.Examples = locateExamples(v)
		return writePage(w, r, http.StatusOK, templates.LocatePage(sh, m))
	}
	ctx, cancel := context.WithTimeout(r.Context(), locateWait)
	defer cancel()
	items, err := s.deps.Locator.Locate(ctx, q)
	if err != nil {
		kind := fault.Of(err)
		if kind == fault.Internal {
			return err
		}
		m.Problem = fault.Text(err)
		m.Examples = locateExamples(v)
		return writePage(w, r, kind.HTTPStatus(), templates.LocatePage(sh, m))
	}
	m.Items = locateItems(v, items)
	m.Asked = true
	return writePage(w, r, http.StatusOK, templates.LocatePage(sh, m))
}
