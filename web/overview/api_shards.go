package overview

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/parts"
	"shardboard/web/site"
)

func ApiShards(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.LoadedAt(r)
	if err != nil {
		return err
	}
	load := parts.LoadOf(v.Table)
	out, err := site.PageOf(r, v.Table.Shards,
		func(sh topology.Shard) string { return sh.Name },
		func(sh topology.Shard) api.Shard { return ShardOf(load, sh) })
	if err != nil {
		return err
	}
	out.AsOf, out.Stale = answer.AsOf(v, topology.PartShards, topology.PartRouting)
	return site.WriteJSON(w, http.StatusOK, out)
}

// shardContents finds the shard of the address and what is on it.
func ShardContents(s *site.Site, r *http.Request) (answer.View, *topology.Shard, placement.Contents, error) {
	v, err := s.LoadedAt(r)
	if err != nil {
		return v, nil, placement.Contents{}, err
	}
	name, err := site.PathText(r, "name")
	if err != nil {
		return v, nil, placement.Contents{}, err
	}
	sh := v.Table.Shard(name)
	if sh == nil {
		return v, nil, placement.Contents{}, fault.New(fault.NotFound, "No shard is named %q (searched the %d shards of this cluster).", sanitize.Truncate(name, 100), len(v.Table.Shards))
	}
	return v, sh, placement.ShardContents(v.Table, v.Dir, s.Deps.Profile, name), nil
}

// shardOf has the same figures as the overview: both come from one sum.
func ShardOf(l parts.Load, sh topology.Shard) api.Shard {
	out := api.Shard{Name: sh.Name, ReplSet: sh.ReplSet, Hosts: answer.NotNil(sh.Hosts), Draining: sh.Draining, Zones: answer.NotNil(sh.Zones)}
	for _, c := range l.Table.Collections {
		if answer.Visible(c) && answer.Sharded(c) && c.Chunks.CountByShard()[sh.Name] > 0 {
			out.Collections++
		}
	}
	disk := l.Table.DiskOf(sh.Name)
	out.Disk = api.Disk{Used: answer.FigureOf(disk.Used), Total: answer.FigureOf(disk.Total)}
	for i := range l.Shards {
		if l.Shards[i].Name == sh.Name {
			out.Chunks = int(l.Chunks[i].Value)
			out.Bytes, out.Documents = answer.FigureOf(l.Bytes[i]), answer.FigureOf(l.Documents[i])
		}
	}
	return out
}
