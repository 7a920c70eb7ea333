package locate

import (
	"net/http"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// apiChunkWhy tells why one chunk is where it is and what the balancer makes
// of it.
func ApiChunkWhy(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.LoadedAt(r)
	if err != nil {
		return err
	}
	c, i, err := s.ChunkAt(r, v)
	if err != nil {
		return err
	}
	out := answer.ChunkWhy(v.Table, balance.PlanOf(balance.Situation{Table: v.Table}, c), c, i)
	out.Freshness = answer.WhyFreshness(v)
	out.Moving = answer.InFlightOf(v, answer.MovingChunk(v, c, i))
	size := answer.ChunkSizeOf(v, c, c.Chunks.At(i))
	out.Size, out.Dangers = &size, []api.Danger{}
	for _, d := range knownDangers(s, c, i) {
		ids := make([]string, len(d.IDs))
		for k, id := range d.IDs {
			ids[k] = id.Hex()
		}
		out.Dangers = append(out.Dangers, api.Danger{Shard: d.Shard, IDs: ids})
	}
	return site.WriteJSON(w, http.StatusOK, out)
}

// knownDangers are the moves of a chunk that would bring two equal ids
// together, as far as the check for duplicate ids has found any.
func knownDangers(s *site.Site, c *topology.Collection, i int) []placement.Danger {
	if s.Deps.Duplicates == nil {
		return nil
	}
	return placement.Dangers(c, i, s.Deps.Duplicates.Report().Found)
}

// apiProjectWhy is apiChunkWhy for the chunks of one project.
func ApiProjectWhy(s *site.Site, w http.ResponseWriter, r *http.Request) error {
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
		return fault.New(fault.Invalid, "A project id is 24 hexadecimal digits; %q is not.", sanitize.Truncate(raw, 60))
	}
	pr, ok := v.Dir.ByID(id)
	if !ok {
		return fault.New(fault.NotFound, "There is no project with id %s in %s.", id.Hex(), strings.Join(v.Dir.Databases(), ", "))
	}
	out := api.ProjectWhy{Project: id.Hex(), Name: pr.Name, Collections: answer.ProjectWhy(v.Table, placement.SpreadOf(v.Table, s.Deps.Profile, pr))}
	out.Freshness = answer.WhyFreshness(v)
	return site.WriteJSON(w, http.StatusOK, out)
}
