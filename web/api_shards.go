package web

import (
	"net/http"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

func (s *Site) apiShards(w http.ResponseWriter, r *http.Request) error {
	v, err := s.loadedAt(r)
	if err != nil {
		return err
	}
	load := loadOf(v.Table)
	out, err := pageOf(r, v.Table.Shards,
		func(sh topology.Shard) string { return sh.Name },
		func(sh topology.Shard) api.Shard { return shardOf(load, sh) })
	if err != nil {
		return err
	}
	out.AsOf, out.Stale = asOf(v, topology.PartShards, topology.PartRouting)
	return writeJSON(w, http.StatusOK, out)
}

// apiShard is a shard with everything on it; as CSV for whoever asks so.
func (s *Site) apiShard(w http.ResponseWriter, r *http.Request) error {
	if wantsCSV(r) {
		return s.shardCSV(w, r)
	}
	v, sh, contents, err := s.shardContents(r)
	if err != nil {
		return err
	}
	out := api.ShardDetail{
		Shard: shardOf(loadOf(v.Table), *sh), Orphans: orphansOf(v.Table.OrphansAt(sh.Name, v.Now)), Contents: []api.ShardCollection{}, Projects: []api.ShardProject{},
		ByDocument: []api.ShardCollection{}, Moving: inFlightOf(v, v.Table.MovingOn(sh.Name)), Freshness: freshnessOf(v, topology.PartShards, topology.PartRouting),
	}
	internal, err := internalOf(r.URL.Query())
	if err != nil {
		return err
	}
	listed, hidden := foldContents(contents.Collections, internal)
	out.Hidden = hidden
	for _, c := range listed {
		out.Contents = append(out.Contents, collectionOnOf(v.Table, c))
	}
	for _, c := range contents.ByDocument {
		out.ByDocument = append(out.ByDocument, collectionOnOf(v.Table, c))
	}
	for _, p := range contents.Projects {
		row := api.ShardProject{ID: p.Project.ID.Hex(), Name: p.Project.Name, DB: p.Project.DB, Share: shareOf(p.Share), RowShare: rowShareOf(p.Rows), Whole: p.Whole, Collections: []api.ShardProjectPart{}}
		for _, part := range p.Collections {
			row.Collections = append(row.Collections, api.ShardProjectPart{NS: string(part.NS), Chunks: part.Chunks, Of: part.Of})
		}
		out.Projects = append(out.Projects, row)
	}
	return writeJSON(w, http.StatusOK, out)
}

// shardContents finds the shard of the address and what is on it.
func (s *Site) shardContents(r *http.Request) (View, *topology.Shard, placement.Contents, error) {
	v, err := s.loadedAt(r)
	if err != nil {
		return v, nil, placement.Contents{}, err
	}
	name, err := pathText(r, "name")
	if err != nil {
		return v, nil, placement.Contents{}, err
	}
	sh := v.Table.Shard(name)
	if sh == nil {
		return v, nil, placement.Contents{}, fault.New(fault.NotFound, "No shard is named %q (searched the %d shards of this cluster).", sanitize.Truncate(name, 100), len(v.Table.Shards))
	}
	return v, sh, placement.ShardContents(v.Table, v.Dir, s.deps.Profile, name), nil
}

// shardOf has the same figures as the overview: both come from one sum.
func shardOf(l load, sh topology.Shard) api.Shard {
	out := api.Shard{Name: sh.Name, ReplSet: sh.ReplSet, Hosts: notNil(sh.Hosts), Draining: sh.Draining, Zones: notNil(sh.Zones)}
	for _, c := range l.table.Collections {
		if visible(c) && sharded(c) && c.Chunks.CountByShard()[sh.Name] > 0 {
			out.Collections++
		}
	}
	disk := l.table.DiskOf(sh.Name)
	out.Disk = api.Disk{Used: figureOf(disk.Used), Total: figureOf(disk.Total)}
	for i := range l.shards {
		if l.shards[i].Name == sh.Name {
			out.Chunks = int(l.chunks[i].Value)
			out.Bytes, out.Documents = figureOf(l.bytes[i]), figureOf(l.documents[i])
		}
	}
	return out
}

func rowShareOf(s placement.RowShare) api.RowShare {
	if !s.Known {
		return api.RowShare{Reason: s.Reason}
	}
	return api.RowShare{Low: shareOf(s.Low), High: shareOf(s.High), Exact: s.Exact, Method: s.Method, At: api.Time(s.At)}
}

func collectionOnOf(t *topology.Table, c placement.CollectionOn) api.ShardCollection {
	_, all, _ := sizeOf(t, c.NS)
	return api.ShardCollection{
		RowShare: documentShare(c.Size.Documents, all),
		NS:       string(c.NS), Sharded: c.Sharded, Chunks: c.Chunks, Of: c.Of,
		Bytes: figureOf(c.Size.Bytes), Documents: figureOf(c.Size.Documents), Share: shareOf(c.Share),
	}
}

// documentShare is the part of a collection's documents that is on a shard.
func documentShare(here, all topology.Figure) *float64 {
	if !here.Known || !all.Known || all.Value == 0 {
		return nil
	}
	return shareOf(share(here.Value, all.Value))
}

// notNil keeps empty lists lists on the wire.
func notNil(in []string) []string {
	if in == nil {
		return []string{}
	}
	return in
}
