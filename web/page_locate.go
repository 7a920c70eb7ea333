package web

import (
	"net/http"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// locateWait bounds the few reads that one question may cost the cluster.
const locateWait = 5 * time.Second

// pageLocate is one box: a project with a document key, an id, or a namespace
// with a key. A question without an answer keeps its box, so that the asker
// corrects it in place; the status still says not found or invalid.
func (s *Site) pageLocate(w http.ResponseWriter, r *http.Request) error {
	v := s.viewFor(r)
	in := r.URL.Query()
	q := placement.Query{Text: in.Get("q"), NS: topology.Namespace(in.Get("ns")), Key: in.Get("key")}
	m := templates.Locate{Query: sanitize.Truncate(q.Text, placement.MaxQueryBytes), NS: sanitize.Truncate(string(q.NS), 300), Key: sanitize.Truncate(q.Key, 2000)}
	sh := s.shell(r, v, "locate", words.T("nav.locate"))
	if q == (placement.Query{}) {
		m.Examples = locateExamples(v)
		return writePage(w, r, http.StatusOK, templates.LocatePage(sh, m))
	}
	found, err := s.ask(r.Context(), q)
	m.Read, m.Anatomy = readAs(found), anatomies(found.Anatomy, v.Now)
	if err != nil {
		kind := fault.Of(err)
		if kind == fault.Internal {
			return err
		}
		m.Problem = s.problemText(w, err)
		m.Examples = locateExamples(v)
		return writePage(w, r, kind.HTTPStatus(), templates.LocatePage(sh, m))
	}
	if m.Items, err = s.explainPage(r, v, found.Items); err != nil {
		return err
	}
	m.Asked = true
	if len(m.Items) == 0 {
		m.Hint, m.Key = words.T("locate.noCollection"), m.Query // one field left to fill in
	}
	return writePage(w, r, http.StatusOK, templates.LocatePage(sh, m))
}
