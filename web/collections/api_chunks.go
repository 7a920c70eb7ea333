package collections

import (
	"cmp"
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// apiChunks lists a collection's chunks, in key order or by size or heat. In key
// order its cursor is the reference of the next chunk: when that was merged away
// meanwhile, the page begins with the chunk that now holds its lower bound, so
// nothing is skipped. In another order it is a place in the list.
func ApiChunks(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.LoadedAt(r)
	if err != nil {
		return err
	}
	c, err := s.Sharded(r, v.Table)
	if err != nil {
		return err
	}
	q, err := answer.ChunkListOf(r.URL.Query())
	if err != nil {
		return err
	}
	f := answer.FiguresOf(v, c)
	out := api.ChunkList{Items: []api.Chunk{}, Order: cmp.Or(q.Sort, "key")}
	if q.Sort == answer.ByKey {
		err = q.InOrder(v, c, f, r.URL.Query(), &out)
	} else {
		err = q.Sorted(v, c, f, r.URL.Query(), &out)
	}
	if err != nil {
		return err
	}
	out.AsOf, out.Stale = answer.AsOf(v, topology.PartRouting)
	return site.WriteJSON(w, http.StatusOK, out)
}
