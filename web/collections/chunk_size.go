package collections

import (
	"errors"
	"net/http"

	"shardboard/internal/answer"
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

// measureJSON measures one chunk and waits for the answer. It reads the
// cluster and changes nothing of it, so it is no action that has to be planned.
func measureJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	var in api.ChunkMeasure
	if err := site.ReadJSON(r, &in); err != nil {
		return err
	}
	c, i, err := measureChunk(s, r, in.Exact)
	if err != nil {
		return err
	}
	return site.WriteJSON(w, http.StatusOK, data.ChunkSizeOf(s.ViewFor(r), c, c.Chunks.At(i)))
}

// measureChunk measures the chunk of the address.
func measureChunk(s *site.Site, r *http.Request, exact bool) (*topology.Collection, int, error) {
	v, err := s.Loaded(r)
	if err != nil {
		return nil, 0, err
	}
	c, i, err := s.ChunkAt(r, v)
	if err != nil {
		return nil, 0, err
	}
	if v.Sizes == nil {
		return nil, 0, fault.New(fault.Unavailable, "Chunks are not measured here.")
	}
	ch := c.Chunks.At(i)
	_, err = v.Sizes.Measure(r.Context(), c, shardkey.Range{Min: ch.Min, Max: ch.Max}, exact)
	return c, i, err
}

// PostChunkSize handles the buttons of a chunk's page and leads back to the page,
// which shows the result.
func PostChunkSize(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if err := site.ParseForm(r); err != nil {
		return err
	}
	do := r.PostForm.Get("do")
	if do != "exact" && do != "estimate" {
		return fault.New(fault.Invalid, "The form says neither exact nor estimate.")
	}
	c, i, err := measureChunk(s, r, do == "exact")
	if c == nil || errors.Is(err, topology.ErrMeasuredOften) {
		return err
	}
	w.Header().Set("Location", answer.ChunkURL(c.NS, answer.ChunkRef(c, c.Chunks.At(i).Min)))
	w.WriteHeader(http.StatusSeeOther)
	return nil
}
