package web

import (
	"net/http"

	"shardboard/web/templates"
)

// pageShard answers "what is on it, and who is hit when it is sick?".
func (s *Site) pageShard(w http.ResponseWriter, r *http.Request) error {
	name, err := pathText(r, "name")
	if err != nil {
		return err
	}
	v, err := s.viewAt(r)
	if err != nil {
		return err
	}
	if v.Internal, err = internalOf(r.URL.Query()); err != nil {
		return err
	}
	m, err := shardView(v, s.deps.Profile, name)
	if err != nil {
		return err
	}
	sh := s.shell(r, v, "shards", name, "shard:"+name)
	return writePage(w, r, http.StatusOK, templates.ShardPage(sh, m, s.offers(r, v.Table).shard(name)))
}
