package locate

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/auth"
	"shardboard/web/parts"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// pageChunk answers "why is this chunk here, and why does it not move?". It is
// made from the table alone.
func PageChunk(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.LoadedAt(r)
	if err != nil {
		return err
	}
	c, i, err := s.ChunkAt(r, v)
	if err != nil {
		return err
	}
	m := chunkView(v, c, i)
	if v.Past == nil { // what is known of ids and of writes is of now
		m.Dangers = dangersView(v, knownDangers(s, c, i))
		m.Heat = s.HeatLine(v, c.NS, i)
		if s.Deps.Sizes != nil {
			s.Deps.Sizes.Viewed(c, []int{i})
		}
	}
	m.Size = parts.ChunkSizeView(v, c, i, auth.From(r.Context()))
	m.Watch = answer.ChunkItem(c, answer.ChunkRef(c, c.Chunks.At(i).Min))
	m.Acts = s.Offers(r, v.Table).Chunk(c, i)
	s.Deps.Watcher.Viewed(c.NS)
	sh := s.Shell(r, v, "collections", m.Title, "collection:"+m.NS)
	return site.WritePage(w, r, http.StatusOK, templates.WhyChunkPage(sh, m))
}
