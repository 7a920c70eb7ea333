package collections

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// chunks lists a collection's chunks.
func chunks(s *site.Site, r *http.Request) (a api.ChunkList, err error) {
	v, c, err := loadedSharded(s, r)
	if err != nil {
		return a, err
	}
	q, err := param.Read[data.ChunksQuery](r.URL.Query())
	if err != nil {
		return a, err
	}
	return data.Chunks(v, c, q)
}

// clusterChunks lists the chunks of all collections.
func clusterChunks(s *site.Site, r *http.Request) (a api.ClusterChunks, err error) {
	v, err := s.LoadedAt(r)
	if err != nil {
		return a, err
	}
	q, err := param.Read[data.ClusterChunksQuery](r.URL.Query())
	if err != nil {
		return a, err
	}
	return data.ClusterChunks(v, q)
}

// mapTile is one tile of the chunk map.
func mapTile(s *site.Site, r *http.Request) (a api.Tile, err error) {
	v, c, err := loadedSharded(s, r)
	if err != nil {
		return a, err
	}
	q, err := param.Read[data.ChunkTileQuery](r.URL.Query())
	if err != nil {
		return a, err
	}
	return data.ChunkTile(v, c, q), nil
}

// loadedSharded is the loaded view and the sharded collection that the address names.
func loadedSharded(s *site.Site, r *http.Request) (answer.View, *topology.Collection, error) {
	v, err := s.LoadedAt(r)
	if err != nil {
		return v, nil, err
	}
	c, err := s.Sharded(r, v.Table)
	return v, c, err
}

// chunkOrders are the choices of the filter's order.
func chunkOrders(chosen string) []templates.Option {
	names := map[string]string{data.ByKey: "key", data.ByBytes: "data, largest first",
		data.ByDocuments: "documents, most first", data.ByHeat: "writes, hottest first"}
	out := make([]templates.Option, len(data.ChunkOrders))
	for i, by := range data.ChunkOrders {
		out[i] = templates.Option{Value: by, Text: names[by], Selected: by == chosen}
	}
	return out
}

// writesFigure is a row's writes per second for a column whose head has the unit.
func writesFigure(c api.Chunk) templates.Figure {
	if c.WritesPerSecond == nil {
		return templates.Figure{Text: "unknown"}
	}
	return templates.Figure{Known: true, Text: format.PerSecond(*c.WritesPerSecond), Approx: !c.WritesExact}
}

// since is when a chunk came to its shard.
func (m onePage) since(c api.Chunk) templates.Moment {
	if c.Since == nil {
		return templates.Moment{Text: format.Unknown}
	}
	return templates.Ago(*c.Since, m.view.Now)
}
