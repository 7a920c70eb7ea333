package shards

import (
	"net/http"

	"github.com/a-h/templ"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// ListPage is the page of all shards.
func ListPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.ViewAt(r)
	if err != nil {
		return err
	}
	return site.WritePage(w, r, http.StatusOK, listPage(s.Shell(r, v, "shards", "Shards", "shards"), listRegion(v)))
}

// shardList is what the page lists; empty before the first read.
type shardList struct {
	all     []api.Shard
	balance string
	state   api.State
	refs    templates.Refs
}

// listRegion is the part of the page that is updated live.
func listRegion(v answer.View) templ.Component {
	l := shardList{state: answer.PartState(v, topology.PartShards), refs: templates.RefsOf(v.Table)}
	if v.Table.Loaded {
		l.all, l.balance = answer.Shards(v), v.Load().Balance().String()+"."
	}
	return listed(l)
}

// list is the list of shards.
func list(s *site.Site, r *http.Request) (a api.List[api.Shard], err error) {
	v, err := s.LoadedAt(r)
	if err != nil {
		return a, err
	}
	out, err := site.PageOf(r, answer.Shards(v),
		func(sh api.Shard) string { return sh.Name },
		func(sh api.Shard) api.Shard { return sh })
	if err != nil {
		return a, err
	}
	out.AsOf, out.Stale = answer.AsOf(v, topology.PartShards, topology.PartRouting)
	return out, nil
}
