package locate

import (
	"net/http"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/answer/causes"
	"shardboard/internal/answer/changing"
	"shardboard/internal/answer/data"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/answer/problems"
	"shardboard/internal/answer/writes"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
	"shardboard/web/site"
)

// whyChunk says why one chunk is where it is and what the balancer does with it.
func whyChunk(s *site.Site, r *http.Request) (a api.ChunkWhy, err error) {
	v, err := s.LoadedAt(r)
	if err != nil {
		return a, err
	}
	c, i, err := s.ChunkAt(r, v)
	if err != nil {
		return a, err
	}
	return causes.ChunkWhy(v, c, i, data.KnownDuplicates(v, s.Deps.Locate.Duplicates)), nil
}

// ChunkPage shows the same beside what can be done with the chunk.
func ChunkPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.LoadedAt(r)
	if err != nil {
		return err
	}
	c, i, err := s.ChunkAt(r, v)
	if err != nil {
		return chunkGone(s, w, r, v, err)
	}
	ch := c.Chunks.At(i)
	p := chunkPage{
		around: around(s, r, v, c, i),
		v:      v, why: causes.ChunkWhy(v, c, i, data.KnownDuplicates(v, s.Deps.Locate.Duplicates)),
		moving: logbook.MovingNow(v, logbook.MovingChunk(v, c, i), logbook.FlightsListed),
		failed: logbook.FailedMovesOf(v, c.NS, logbook.Touches(c, shardkey.Range{Min: ch.Min, Max: ch.Max})),
		size:   data.ChunkSizeOf(v, c, ch), mayMeasure: auth.From(r.Context()).May(auth.Operator),
		watch:     changing.ChunkItem(c, ch.Min),
		offers:    s.Offers(r, v.Table).Chunk(c, i),
		incidents: problems.IncidentsAbout(v, problems.About{NS: c.NS, Chunk: answer.ChunkRef(c, ch.Min)}, s.Tries(v)),
		mayPlan:   s.Deps.Changes.PlanForms,
	}
	if v.Past == nil { // writes and sizes are known of now only
		p.heat = writes.HeatLine(v, writes.HeatSource{Counts: s.Deps.Measured.Heat}, c.NS, i)
		if s.Deps.Measured.Sizes != nil {
			s.Deps.Measured.Sizes.Viewed(c, []int{i})
		}
	}
	s.Deps.Cluster.Watcher.Viewed(c.NS)
	return site.WritePage(w, r, http.StatusOK, chunkWhole(s.Shell(r, v, "collections", p.title(), "collection:"+p.why.NS), p))
}

// chunkPage is one chunk: why it is there, and what other rooms know of it.
type chunkPage struct {
	v          answer.View
	why        api.ChunkWhy
	around     api.ChunkAround
	heat       message.Message
	moving     api.MovingNow
	failed     api.FailedMoves
	size       api.ChunkSize
	mayMeasure bool
	watch      string // the item as it is watched
	offers     []api.Offer
	incidents  []api.Incident
	mayPlan    bool // plans can be made here
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

// whyProject says why the chunks of one project are where they are.
func whyProject(s *site.Site, r *http.Request) (a api.ProjectWhy, err error) {
	v, err := s.LoadedAt(r)
	if err != nil {
		return a, err
	}
	raw, err := site.PathText(r, "id")
	if err != nil {
		return a, err
	}
	id, err := bson.ObjectIDFromHex(raw)
	if err != nil {
		return a, fault.New(fault.Invalid, v.Profile.Format("A project's id has 24 hexadecimal digits; %q does not."), sanitize.Truncate(raw, 60))
	}
	pr, ok := v.Dir.ByID(id)
	if !ok {
		return a, fault.New(fault.NotFound, v.Profile.Format("There is no project with id %s in %s."), id.Hex(),
			strings.Join(v.Dir.Databases(), ", "))
	}
	return causes.ProjectWhy(v, placement.SpreadOf(v.Table, s.Deps.Cluster.Profile, pr)), nil
}
