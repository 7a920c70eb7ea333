package collections

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// ChunksJSON lists a collection's chunks.
func ChunksJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, ns, err := named(s, r)
	if err != nil {
		return err
	}
	c, err := answer.ShardedCollection(v.Table, ns)
	if err != nil {
		return err
	}
	out, err := answer.Chunks(v, c, r.URL.Query())
	if err != nil {
		return err
	}
	return site.WriteJSON(w, http.StatusOK, out)
}

// MapJSON is one tile of the chunk map.
func MapJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, ns, err := named(s, r)
	if err != nil {
		return err
	}
	c, err := answer.ShardedCollection(v.Table, ns)
	if err != nil {
		return err
	}
	out, err := answer.Map(v, c, r.URL.Query())
	if err != nil {
		return err
	}
	return site.WriteJSON(w, http.StatusOK, out)
}

// chunkOrders are the choices of the filter's order.
func chunkOrders(chosen string) []templates.Option {
	names := map[string]string{answer.ByKey: "key", answer.ByBytes: "data, largest first",
		answer.ByDocuments: "documents, most first", answer.ByHeat: "writes, hottest first"}
	out := make([]templates.Option, len(answer.ChunkOrders))
	for i, by := range answer.ChunkOrders {
		out[i] = templates.Option{Value: by, Text: names[by], Selected: by == chosen}
	}
	return out
}

// writes are a row's writes per second for a column whose head has the unit.
func writes(c api.Chunk) templates.Figure {
	if c.WritesPerSecond == nil {
		return templates.Figure{Text: "unknown"}
	}
	return templates.Figure{Known: true, Text: answer.RateNumber(*c.WritesPerSecond), Approx: !c.WritesExact}
}

// since is when a chunk came to its shard.
func (m onePage) since(c api.Chunk) templates.Moment {
	if c.Since == nil {
		return templates.Moment{Text: format.Unknown}
	}
	return templates.Ago(*c.Since, m.view.Now)
}
