package locate

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// pageLocate is one box: a project with a document key, an id, or a namespace
// with a key. A question without an answer keeps its box, so that the asker
// corrects it in place; the status still says not found or invalid.
func PageLocate(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v := s.ViewFor(r)
	in := r.URL.Query()
	q := placement.Query{Text: in.Get("q"), NS: topology.Namespace(in.Get("ns")), Key: in.Get("key")}
	m := Locate{Query: sanitize.Truncate(q.Text, placement.MaxQueryBytes), NS: sanitize.Truncate(string(q.NS), 300), Key: sanitize.Truncate(q.Key, 2000)}
	sh := s.Shell(r, v, "locate", "Locate")
	if q == (placement.Query{}) {
		m.Examples = locateExamples(v)
		return site.WritePage(w, r, http.StatusOK, LocatePage(sh, m))
	}
	found, err := ask(s, r.Context(), q)
	m.Read, m.Anatomy = answer.ReadAs(found), anatomies(found.Anatomy, v.Now)
	if err != nil {
		kind := fault.Of(err)
		if kind == fault.Internal {
			return err
		}
		m.Problem = s.ProblemText(w, err)
		m.Examples = locateExamples(v)
		return site.WritePage(w, r, kind.HTTPStatus(), LocatePage(sh, m))
	}
	if m.Items, err = explainPage(s, r, v, found.Items); err != nil {
		return err
	}
	m.Asked = true
	if len(m.Items) == 0 {
		m.Hint, m.Key = "A UUID is in no collection by itself. Name a collection above to see where such a shard-key value would live.", m.Query // one field left to fill in
	}
	return site.WritePage(w, r, http.StatusOK, LocatePage(sh, m))
}
