package collections

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// apiMap is one tile of the chunk map. A collection of a million chunks is
// drawn from tiles of bounded size: neighbours on the same shard are one run,
// and where even those are too many, fixed cells hold their counts.
func ApiMap(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.LoadedAt(r)
	if err != nil {
		return err
	}
	c, err := s.Sharded(r, v.Table)
	if err != nil {
		return err
	}
	const deepest = 20
	q := r.URL.Query()
	level, err := answer.Integer(q, "level", deepest)
	if err != nil {
		return err
	}
	index, err := answer.Integer(q, "index", 1<<level-1)
	if err != nil {
		return err
	}
	n := c.Chunks.Len()
	out := api.Tile{
		NS: string(c.NS), Level: level, Index: index, Total: n, From: n * index >> level, To: n * (index + 1) >> level,
		Freshness: answer.FreshnessOf(v, topology.PartRouting),
	}
	out.Runs = answer.TileRuns(c, out.From, out.To)
	return site.WriteJSON(w, http.StatusOK, out)
}
