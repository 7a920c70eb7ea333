package collections

import (
	"errors"
	"net/http"
	"strings"

	"shardboard/internal/answer/data"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// chunkSize answers what is known of one chunk's size, and has it estimated
// in the background when nobody has measured it.
func chunkSize(s *site.Site, r *http.Request) (a api.ChunkSize, err error) {
	v, err := s.Loaded(r)
	if err != nil {
		return a, err
	}
	c, i, err := s.ChunkAt(r, v)
	if err != nil {
		return a, err
	}
	if v.Sizes != nil {
		v.Sizes.Viewed(c, []int{i})
	}
	return data.ChunkSizeOf(v, c, c.Chunks.At(i)), nil
}

// measure measures the chunk of the address and waits for the answer. It reads the cluster and
// changes nothing of it, so it is no action that has to be planned.
func measure(s *site.Site, r *http.Request, in api.ChunkMeasure) (api.ChunkSize, error) {
	v, err := s.Loaded(r)
	if err != nil {
		return api.ChunkSize{}, err
	}
	c, i, err := s.ChunkAt(r, v)
	if err != nil {
		return api.ChunkSize{}, err
	}
	if v.Sizes == nil {
		return api.ChunkSize{}, fault.New(fault.Unavailable, "Chunks are not measured here.")
	}
	ch := c.Chunks.At(i)
	if _, err = v.Sizes.Measure(r.Context(), c, shardkey.Range{Min: ch.Min, Max: ch.Max}, in.Exact); err != nil {
		return api.ChunkSize{}, err
	}
	return data.ChunkSizeOf(s.ViewFor(r), c, ch), nil
}

// chunkPage is the page of the chunk that is measured at an address below it. It shows the result.
func chunkPage(r *http.Request) string { return strings.TrimSuffix(r.URL.EscapedPath(), "/size") }

// notMeasured leads to the page as well: it shows what failed of the last measurement.
func notMeasured(s *site.Site, w http.ResponseWriter, r *http.Request, _ api.ChunkMeasure, err error) error {
	v := s.ViewFor(r)
	if _, _, gone := s.ChunkAt(r, v); gone != nil || v.Sizes == nil || errors.Is(err, topology.ErrMeasuredOften) {
		return err
	}
	site.SeeOther(w, chunkPage(r))
	return nil
}
