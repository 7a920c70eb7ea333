package shards

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/web/site"
)

// pageShard answers "what is on it, and who is hit when it is sick?".
func pageShard(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	name, err := site.PathText(r, "name")
	if err != nil {
		return err
	}
	v, err := s.ViewAt(r)
	if err != nil {
		return err
	}
	if v.Internal, err = answer.InternalOf(r.URL.Query()); err != nil {
		return err
	}
	m, err := ShardView(v, s.Deps.Profile, name)
	if err != nil {
		return err
	}
	sh := s.Shell(r, v, "shards", name, "shard:"+name)
	return site.WritePage(w, r, http.StatusOK, ShardPage(sh, m, s.Offers(r, v.Table).Shard(name)))
}
