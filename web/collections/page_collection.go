package collections

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// pageCollection answers "how is the key space cut?" of one collection. Its
// live region is always filtered or paged, so it re-reads its own address.
func PageCollection(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	raw, err := site.PathText(r, "ns")
	if err != nil {
		return err
	}
	q, err := answer.ChunkQueryOf(r.URL.Query())
	if err != nil {
		return err
	}
	ns := topology.Namespace(raw)
	v, err := s.ViewAt(r)
	if err != nil {
		return err
	}
	if q.At != "" {
		if err := answer.MayNameKeys(v, "hidden.key"); err != nil {
			return err
		}
	}
	m, err := CollectionView(v, ns, q)
	if err != nil {
		return err
	}
	s.Deps.Watcher.Viewed(ns)
	sh := s.Shell(r, v, "collections", raw, "collection:"+raw)
	m.LiveURL = r.URL.RequestURI()
	if v.Past == nil { // writes are counted now
		m.Heat = s.HeatLine(v, ns, -1)
	}
	m.Acts = s.Offers(r, v.Table).Collection(v.Table.Collection(ns))
	return site.WritePage(w, r, http.StatusOK, CollectionPage(sh, m))
}
