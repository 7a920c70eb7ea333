// Package clustermap is the map of all collections: where in each key space which shard has
// its chunks, how large, how hot and how long there.
package clustermap

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/answer/mapped"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// bands are all collections.
func bands(s *site.Site, r *http.Request) (a api.ClusterMap, err error) {
	v, err := s.LoadedAt(r)
	if err != nil {
		return a, err
	}
	if v.Internal, err = answer.ParseInternal(r.URL.Query()); err != nil {
		return a, err
	}
	a = mapped.ClusterMap(s.MapView(v))
	a.Since = s.HistorySince(r.Context(), v)
	return a, nil
}

// tile is a part of one band.
func tile(s *site.Site, r *http.Request) (a api.MapTile, err error) {
	q, err := param.Read[mapped.MapTileQuery](r.URL.Query())
	if err != nil {
		return a, err
	}
	v, c, err := sharded(s, r)
	if err != nil {
		return a, err
	}
	return mapped.MapTile(s.MapView(v), c, q), nil
}

// chunk is one chunk of a band.
func chunk(s *site.Site, r *http.Request) (a api.MapChunk, err error) {
	v, c, err := sharded(s, r)
	if err != nil {
		return a, err
	}
	var q mapped.MapChunkQuery
	if err := q.Parameters(c).Read(r.URL.Query()); err != nil {
		return a, err
	}
	return mapped.MapChunk(s.MapView(v), c, q), nil
}

func sharded(s *site.Site, r *http.Request) (answer.View, *topology.Collection, error) {
	v, err := s.LoadedAt(r)
	if err != nil {
		return v, nil, err
	}
	c, err := s.Sharded(r, v.Table)
	if err == nil && c.Chunks.Len() == 0 {
		err = fault.New(fault.NotFound, "The chunks of %s are not read yet.", c.NS)
	}
	return v, c, err
}

// mapState is what the map is made of: the table, names and the bands' versions.
func mapState(s *site.Site, r *http.Request, v answer.View) string {
	return mapped.MapStateOfAll(s.MapView(v), r.URL.Query().Get("at"))
}

// tileState is the version of a band: its tiles are made of nothing else.
func tileState(s *site.Site, r *http.Request, v answer.View) string {
	ns, err := site.PathText(r, "ns")
	if err != nil {
		return ""
	}
	return mapped.MapState(s.MapView(v), topology.Namespace(ns), r.URL.Query().Get("at"))
}
