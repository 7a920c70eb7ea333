package heat

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/internal/heat"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

func mapQueryOf(s *site.Site, t *topology.Table, q url.Values, now time.Time) (answer.MapQuery, error) {
	out := answer.MapQuery{Ns: topology.Namespace(q.Get("ns")), By: keyvis.By(q.Get("by")), To: now, Shard: q.Get("shard")}
	switch out.By {
	case "":
		out.By = keyvis.ByKey
	case keyvis.ByKey, keyvis.ByProject:
	default:
		return out, fault.New(fault.Invalid, "by is key or project; %q is not.", sanitize.Truncate(string(out.By), 40))
	}
	var err error
	if out.To, err = answer.MomentOf(q, "to", now); err != nil {
		return out, err
	}
	if out.From, err = answer.MomentOf(q, "from", out.To.Add(-answer.MapSpan)); err != nil {
		ago, bad := time.ParseDuration(q.Get("from"))
		if bad != nil || ago >= 0 {
			return out, err
		}
		out.From = out.To.Add(ago)
	}
	if !out.From.Before(out.To) {
		return out, fault.New(fault.Invalid, "from has to be before to.")
	}
	if out.Shard != "" {
		if out.By == keyvis.ByProject {
			return out, fault.New(fault.Invalid, "Rows of projects are no shard's: shard goes with by=key.")
		}
		if t.Shard(out.Shard) == nil {
			return out, fault.New(fault.NotFound, "There is no shard %q.", sanitize.Truncate(out.Shard, 100))
		}
	}
	if out.Ns == "" {
		out.Ns = answer.FirstPicture(heat.Counted(t, s.Deps.Profile), s.Deps.Pictures.Collections())
	}
	return out, nil
}

// apiHeatMap answers a picture. Its version takes the place of an ETag: what
// it is made of is not the routing table alone.
func ApiHeatMap(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.Loaded(r)
	if err != nil {
		return err
	}
	if s.Deps.Pictures == nil {
		return fault.New(fault.Unavailable, "Writes are not counted here.")
	}
	q, err := mapQueryOf(s, v.Table, r.URL.Query(), v.Now)
	if err != nil {
		return err
	}
	version := strconv.FormatInt(s.Born, 36) + "-" + strconv.FormatInt(s.Deps.Pictures.Version(q.Ns, q.By), 36) + "-" + strconv.FormatUint(v.Table.Seq, 36)
	if site.Matches(r.Header.Get("If-None-Match"), version) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	c := v.Table.Collection(q.Ns)
	if q.Ns != "" && c == nil {
		return fault.New(fault.NotFound, "There is no sharded collection %q. Names are database.collection.", sanitize.Truncate(string(q.Ns), 200))
	}
	picture, _ := s.Deps.Pictures.View(q.Ns, q.By, q.From, q.To)
	out := answer.HeatMap(v, c, picture, q, s.Deps.Profile)
	out.Version = version
	return site.WriteJSON(w, http.StatusOK, out)
}
