package web

import (
	"errors"
	"net/http"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/chunksize"
	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// apiChunkSize answers what is known of one chunk's size, and has it estimated
// in the background when nobody has measured it.
func (s *Site) apiChunkSize(w http.ResponseWriter, r *http.Request) error {
	v, err := s.loaded(r)
	if err != nil {
		return err
	}
	c, i, err := s.chunkAt(r, v)
	if err != nil {
		return err
	}
	if v.Sizes != nil {
		v.Sizes.Viewed(c, []int{i})
	}
	return writeJSON(w, http.StatusOK, chunkSizeOf(v, c, c.Chunks.At(i)))
}

// apiMeasureChunk measures one chunk and waits for the answer. It reads the
// cluster and changes nothing of it, so it is no action that has to be planned.
func (s *Site) apiMeasureChunk(w http.ResponseWriter, r *http.Request) error {
	var in api.ChunkMeasure
	if err := readJSON(r, &in); err != nil {
		return err
	}
	c, i, err := s.measureChunk(r, in.Exact)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, chunkSizeOf(s.viewFor(r), c, c.Chunks.At(i)))
}

// measureChunk measures the chunk of the address.
func (s *Site) measureChunk(r *http.Request, exact bool) (*topology.Collection, int, error) {
	v, err := s.loaded(r)
	if err != nil {
		return nil, 0, err
	}
	c, i, err := s.chunkAt(r, v)
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

// postChunkSize does what a button of a chunk's page says, and leads back to the
// page, which tells what came of it.
func (s *Site) postChunkSize(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	do := r.PostForm.Get("do")
	if do != "exact" && do != "estimate" {
		return fault.New(fault.Invalid, "The form says neither exact nor estimate.")
	}
	c, i, err := s.measureChunk(r, do == "exact")
	if c == nil || errors.Is(err, topology.ErrMeasuredOften) {
		return err
	}
	w.Header().Set("Location", chunkURL(c.NS, chunkRef(c, c.Chunks.At(i).Min)))
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// chunkSizeOf is the size of one chunk for the wire.
func chunkSizeOf(v View, c *topology.Collection, ch topology.Chunk) api.ChunkSize {
	out := api.ChunkSize{NS: string(c.NS), Ref: chunkRef(c, ch.Min), Shard: ch.Shard}
	s := sizeNow(v, c, ch)
	out.Documents, out.Bytes, out.Measured, out.MeasuredAt = figureOf(s.Documents), figureOf(s.Bytes), s.Measured, api.Time(s.At)
	if mean := meanOf(s); mean.Known {
		out.MeanBytes = &mean.Value
	}
	if s.Measured {
		took := int64(s.Took / time.Millisecond)
		out.TookMillis = &took
	}
	if s.Reason != "" {
		out.Failed = &api.ChunkAttempt{At: s.ReasonAt.UTC().Truncate(time.Millisecond), Reason: s.Reason}
	}
	j := chunksize.Judge(v.Table, c, ch.Shard, s)
	out.Move = api.ChunkMove{Verdict: string(j.State), Release: j.Release.String(), Text: verdictText(j, s), ChunkBytes: positive(j.ChunkBytes), MeanBytes: positive(j.Mean)}
	if j.State != chunksize.Unknown {
		out.Move.LimitDocuments = &j.Limit
	}
	return out
}

// positive is null for what is not known.
func positive(n int64) *int64 {
	if n <= 0 {
		return nil
	}
	return &n
}

// sizeInto fills a list's row with documents, bytes and writes.
func (f *chunkFigures) sizeInto(row *api.Chunk, i int) {
	s := f.size(i, row.Shard)
	row.Documents, row.Bytes, row.Measured = figureOf(s.Documents), figureOf(s.Bytes), s.Measured
	if j := chunksize.Judge(f.t, f.c, row.Shard, s); j.State != chunksize.Unknown {
		over := j.Oversized(s)
		row.Oversized = &over
	}
	if !f.heated {
		return
	}
	r, ok := f.writes[i]
	if !ok && f.atMost {
		return // of this method, not counted is not none
	}
	row.WritesPerSecond = &r.PerSecond
}
