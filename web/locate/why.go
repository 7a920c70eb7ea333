package locate

import (
	"net/http"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
	"shardboard/web/parts"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// ChunkJSON says why one chunk is where it is and what the balancer does with it.
func ChunkJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.LoadedAt(r)
	if err != nil {
		return err
	}
	c, i, err := s.ChunkAt(r, v)
	if err != nil {
		return err
	}
	return site.WriteJSON(w, http.StatusOK, answer.ChunkWhy(v, c, i, answer.KnownDuplicates(v, s.Deps.Duplicates)))
}

// ChunkPage shows the same beside what can be done with the chunk.
func ChunkPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.LoadedAt(r)
	if err != nil {
		return err
	}
	c, i, err := s.ChunkAt(r, v)
	if err != nil {
		return err
	}
	ch := c.Chunks.At(i)
	p := chunkPage{
		v: v, why: answer.ChunkWhy(v, c, i, answer.KnownDuplicates(v, s.Deps.Duplicates)),
		moving: parts.InFlightView(v, answer.MovingChunk(v, c, i), answer.FlightsListed),
		failed: parts.FailedOf(v, c.NS, answer.Touches(c, shardkey.Range{Min: ch.Min, Max: ch.Max})),
		size:   parts.ChunkSizeView(v, c, i, auth.From(r.Context())),
		watch:  answer.ChunkItem(c, answer.ChunkRef(c, ch.Min)),
		acts:   s.Offers(r, v.Table).Chunk(c, i),
	}
	if v.Past == nil { // writes and sizes are known of now only
		p.heat = s.HeatLine(v, c.NS, i)
		if s.Deps.Sizes != nil {
			s.Deps.Sizes.Viewed(c, []int{i})
		}
	}
	s.Deps.Watcher.Viewed(c.NS)
	return site.WritePage(w, r, http.StatusOK, chunkWhole(s.Shell(r, v, "collections", p.title(), "collection:"+p.why.NS), p))
}

// chunkPage is one chunk: why it is there, and what other rooms know of it.
type chunkPage struct {
	v      answer.View
	why    api.ChunkWhy
	heat   templates.HeatLine
	moving templates.InFlight
	failed templates.FailedMoves
	size   templates.ChunkSize
	watch  string // the item as it is watched
	acts   templates.Acts
}

func (p chunkPage) title() string {
	return "Chunk " + format.Count(int64(p.why.Chunk.Number)) + " of " + format.Count(int64(p.why.Chunk.Of))
}

// level is how serious the balancer's decision on a chunk is: a chunk that has to
// move and cannot needs a person.
func level(b api.WhyBalance) string {
	switch {
	case b.Due != "" && b.Decision == string(balance.Stays):
		return "bad"
	case b.Decision == string(balance.Moves) || b.Due == "":
		return "ok"
	}
	return "note"
}

// ProjectJSON says why the chunks of one project are where they are.
func ProjectJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.LoadedAt(r)
	if err != nil {
		return err
	}
	raw, err := site.PathText(r, "id")
	if err != nil {
		return err
	}
	id, err := bson.ObjectIDFromHex(raw)
	if err != nil {
		return fault.New(fault.Invalid, "A project's id has 24 hexadecimal digits; %q does not.", sanitize.Truncate(raw, 60))
	}
	pr, ok := v.Dir.ByID(id)
	if !ok {
		return fault.New(fault.NotFound, "There is no project with id %s in %s.", id.Hex(), strings.Join(v.Dir.Databases(), ", "))
	}
	return site.WriteJSON(w, http.StatusOK, answer.ProjectWhy(v, placement.SpreadOf(v.Table, s.Deps.Profile, pr)))
}
