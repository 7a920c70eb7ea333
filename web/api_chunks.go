package web

import (
	"net/http"
	"net/url"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

// apiChunks lists a collection's chunks in key order. Its cursor is the
// reference of the next chunk: when that was merged away meanwhile, the page
// begins with the chunk that now holds its lower bound, so nothing is skipped.
func (s *Server) apiChunks(w http.ResponseWriter, r *http.Request) error {
	v, err := s.loadedAt(r)
	if err != nil {
		return err
	}
	c, err := s.sharded(r, v.Table)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	limit, err := limitOf(q)
	if err != nil {
		return err
	}
	jumbo, err := flag(q, "jumbo")
	if err != nil {
		return err
	}
	from, to, err := chunkSpan(c, q)
	if err != nil {
		return err
	}
	shard, zone := q.Get("shard"), q.Get("zone")
	moving := movingChunks(v, c)
	var out api.List[api.Chunk]
	for i, ch := range c.Chunks.Range(from, to) {
		if shard != "" && ch.Shard != shard || jumbo != nil && ch.Jumbo != *jumbo {
			continue
		}
		name, straddles := v.Table.ZoneOf(c, i)
		if zone != "" && name != zone {
			continue
		}
		if len(out.Items) == limit { // one more exists: it begins the next page
			out.Next = api.Cursor(chunkRef(c, ch.Min))
			break
		}
		row := chunkOf(c, ch)
		row.Zone, row.Straddles, row.MovingTo = name, straddles, moving[i]
		out.Items = append(out.Items, row)
	}
	out.AsOf, out.Stale = asOf(v, topology.PartRouting)
	return writeJSON(w, http.StatusOK, out)
}

func chunkOf(c *topology.Collection, ch topology.Chunk) api.Chunk {
	return api.Chunk{
		Ref: chunkRef(c, ch.Min), Min: keyOf(c.Key, ch.Min), Max: keyOf(c.Key, ch.Max), Shard: ch.Shard,
		Version: api.Version{Major: ch.Version.Major, Minor: ch.Version.Minor}, Since: api.Instant(ch.Since), Jumbo: ch.Jumbo,
	}
}

// chunkSpan is the positions [from, to) that cursor=, from= or key= leave.
func chunkSpan(c *topology.Collection, q url.Values) (from, to int, err error) {
	to = c.Chunks.Len()
	given := 0
	for _, name := range []string{"from", "key"} {
		if q.Get(name) != "" {
			given++
		}
	}
	if given == 2 {
		return 0, 0, fault.New(fault.Invalid, "Give from= or key=, not both: one begins a list, the other asks for one chunk.")
	}
	if text := q.Get("key"); text != "" {
		k, err := plainKey(c.Key, text)
		if err != nil {
			return 0, 0, err
		}
		i, _ := c.Chunks.Find(k)
		return i, i + 1, nil
	}
	if text := q.Get("from"); text != "" {
		k, err := boundKey(c.Key, text)
		if err != nil {
			return 0, 0, err
		}
		from, _ = c.Chunks.Find(k)
	}
	if ref := q.Get("cursor"); ref != "" { // a later page of a list that began at from=
		k, err := parseChunkRef(c, ref)
		if err != nil {
			return 0, 0, err
		}
		from, _ = c.Chunks.Find(k)
	}
	return max(from, 0), to, nil
}
