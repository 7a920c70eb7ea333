package activity

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// apiInFlight lists the migrations under way, the oldest first.
func ApiInFlight(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v := s.ViewFor(r)
	if err := answer.Known(v, topology.PartMoves, "Migrations"); err != nil {
		return err
	}
	q := r.URL.Query()
	ns, shard := topology.Namespace(q.Get("ns")), q.Get("shard")
	var list []topology.InFlight
	for _, x := range v.Table.Moves.List {
		if (ns == "" || x.NS == ns) && (shard == "" || x.From == shard || x.To == shard) {
			list = append(list, x)
		}
	}
	out := api.List[api.InFlight]{Items: answer.InFlightOf(v, list)}
	out.AsOf, out.Stale = answer.AsOf(v, topology.PartMoves)
	return site.WriteJSON(w, http.StatusOK, out)
}
