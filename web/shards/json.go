package shards

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/answer/shares"
	"shardboard/internal/api"
	"shardboard/web/site"
)

// JSON is a shard with everything on it; as CSV for whoever asks for that.
func JSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if site.WantsCSV(r) {
		return CSV(s, w, r)
	}
	internal, err := answer.ParseInternal(r.URL.Query())
	if err != nil {
		return err
	}
	out, err := shard(s, r, internal)
	if err != nil {
		return err
	}
	return site.WriteJSON(w, http.StatusOK, out)
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
