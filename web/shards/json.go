package shards

import (
	"net/http"
	"strconv"

	"shardboard/internal/answer"
	"shardboard/internal/answer/param"
	"shardboard/internal/answer/shares"
	"shardboard/internal/api"
	"shardboard/web/site"
)

// shardQuery is a page of what is on a shard.
type shardQuery struct {
	internal    bool
	from, limit int
}

// Parameters are those of the address for scripts.
func (q *shardQuery) Parameters() param.List {
	return param.List{answer.ShowInternal(&q.internal), answer.Place(&q.from), param.Limit(&q.limit)}
}

// JSON is a shard with a page of what is on it; as CSV, all of it, for whoever asks for that.
func JSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if site.WantsCSV(r) {
		return CSV(s, w, r)
	}
	q, err := param.Read[shardQuery](r.URL.Query())
	if err != nil {
		return err
	}
	out, err := shard(s, r, q.internal)
	if err != nil {
		return err
	}
	from, limit := q.from, q.limit
	if to := from + limit; to < max(len(out.Contents), len(out.Projects), len(out.ByDocument)) {
		out.Next = answer.CursorOf(answer.ByPlace + strconv.Itoa(to))
	}
	out.Contents, out.ByDocument = rows(out.Contents, from, limit), rows(out.ByDocument, from, limit)
	out.Projects = rows(out.Projects, from, limit)
	return site.WriteJSON(w, http.StatusOK, out)
}

// rows are those of a list from a place on, at most limit.
func rows[T any](list []T, from, limit int) []T {
	return list[min(from, len(list)):min(from+limit, len(list))]
}

// shard is the shard that the address names, once the cluster is read.
func shard(s *site.Site, r *http.Request, internal bool) (api.ShardDetail, error) {
	v, err := s.LoadedAt(r)
	if err != nil {
		return api.ShardDetail{}, err
	}
	name, err := site.PathText(r, "name")
	if err != nil {
		return api.ShardDetail{}, err
	}
	return shares.Shard(v, s.Deps.Cluster.Profile, name, internal)
}
