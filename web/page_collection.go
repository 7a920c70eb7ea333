package web

import (
	"net/http"

	"shardboard/internal/topology"
	"shardboard/web/templates"
)

// pageCollection answers "how is the key space cut?" of one collection. Its
// live region is always filtered or paged, so it re-reads its own address.
func (s *Site) pageCollection(w http.ResponseWriter, r *http.Request) error {
	raw, err := pathText(r, "ns")
	if err != nil {
		return err
	}
	q, err := chunkQueryOf(r.URL.Query())
	if err != nil {
		return err
	}
	ns := topology.Namespace(raw)
	v, err := s.viewAt(r)
	if err != nil {
		return err
	}
	if q.At != "" {
		if err := mayNameKeys(v, "hidden.key"); err != nil {
			return err
		}
	}
	m, err := collectionView(v, ns, q)
	if err != nil {
		return err
	}
	s.deps.Watcher.Viewed(ns)
	sh := s.shell(r, v, "collections", raw, "collection:"+raw)
	m.LiveURL = r.URL.RequestURI()
	if v.Past == nil { // writes are counted now
		m.Heat = s.heatLine(v, ns, -1)
	}
	m.Acts = s.offers(r, v.Table).collection(v.Table.Collection(ns))
	return writePage(w, r, http.StatusOK, templates.CollectionPage(sh, m))
}
