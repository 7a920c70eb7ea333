package web

import (
	"net/http"

	"shardboard/web/templates"
)

// pageChunk answers "why is this chunk here, and why does it not move?". It is
// made from the table alone.
func (s *Server) pageChunk(w http.ResponseWriter, r *http.Request) error {
	v, err := s.loaded()
	if err != nil {
		return err
	}
	c, i, err := s.chunkAt(r, v.Table)
	if err != nil {
		return err
	}
	m := chunkView(v, c, i)
	m.Dangers = dangersView(v, s.knownDangers(c, i))
	s.deps.Watcher.Viewed(c.NS)
	sh := s.shell(r, v, "collections", m.Title, "collection:"+m.NS)
	return writePage(w, r, http.StatusOK, templates.WhyChunkPage(sh, m))
}
