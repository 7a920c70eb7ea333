package web

import (
	"net/http"

	"shardboard/internal/auth"
	"shardboard/web/templates"
)

// pageChunk answers "why is this chunk here, and why does it not move?". It is
// made from the table alone.
func (s *Site) pageChunk(w http.ResponseWriter, r *http.Request) error {
	v, err := s.loadedAt(r)
	if err != nil {
		return err
	}
	c, i, err := s.chunkAt(r, v)
	if err != nil {
		return err
	}
	m := chunkView(v, c, i)
	if v.Past == nil { // what is known of ids and of writes is of now
		m.Dangers = dangersView(v, s.knownDangers(c, i))
		m.Heat = s.heatLine(v, c.NS, i)
		if s.deps.Sizes != nil {
			s.deps.Sizes.Viewed(c, []int{i})
		}
	}
	m.Size = chunkSizeView(v, c, i, auth.From(r.Context()))
	m.Watch = chunkItem(c, chunkRef(c, c.Chunks.At(i).Min))
	m.Acts = s.offers(r, v.Table).chunk(c, i)
	s.deps.Watcher.Viewed(c.NS)
	sh := s.shell(r, v, "collections", m.Title, "collection:"+m.NS)
	return writePage(w, r, http.StatusOK, templates.WhyChunkPage(sh, m))
}
