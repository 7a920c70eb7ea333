package web

import (
	"net/http"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
)

func (s *Site) apiProjects(w http.ResponseWriter, r *http.Request) error {
	v, err := s.loadedProjects(r)
	if err != nil {
		return err
	}
	q := r.URL.Query().Get("q")
	out, err := projectPage(r, v.Dir.Search(q), func(p placement.Project) api.Project {
		return s.projectOf(placement.SpreadOf(v.Table, s.deps.Profile, p))
	})
	if err != nil {
		return err
	}
	out.AsOf, out.Stale = directoryAsOf(v)
	return writeJSON(w, http.StatusOK, out)
}

// projectPage is a page of projects in the directory's own order, which for a
// search is by relevance: the cursor is the next project's identity.
func projectPage(r *http.Request, rows []placement.Project, wire func(placement.Project) api.Project) (api.List[api.Project], error) {
	var out api.List[api.Project]
	q := r.URL.Query()
	limit, err := limitOf(q)
	if err != nil {
		return out, err
	}
	key, given, err := cursorKey(q)
	if err != nil {
		return out, err
	}
	identity := func(p placement.Project) string { return p.ID.Hex() + p.DB }
	from := 0
	if given {
		for from < len(rows) && identity(rows[from]) != key {
			from++
		}
		if from == len(rows) {
			return out, fault.New(fault.Conflict, "The project that this cursor points to is gone; begin again without a cursor.")
		}
	}
	to := min(from+limit, len(rows))
	for _, p := range rows[from:to] {
		out.Items = append(out.Items, wire(p))
	}
	if to < len(rows) {
		out.Next = cursorOf(identity(rows[to]))
	}
	return out, nil
}

func (s *Site) apiProject(w http.ResponseWriter, r *http.Request) error {
	v, err := s.loadedProjects(r)
	if err != nil {
		return err
	}
	text, err := pathText(r, "id")
	if err != nil {
		return err
	}
	id, err := api.ID(text)
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "A project's id is 24 hexadecimal digits; %q is not.", sanitize.Truncate(text, 60))
	}
	p, ok := v.Dir.ByID(id)
	if db := r.URL.Query().Get("db"); db != "" {
		p, ok = v.Dir.In(db, id)
	}
	if !ok {
		return fault.New(fault.NotFound, "No project has the id %s (searched %d projects).", id.Hex(), len(v.Dir.All()))
	}
	spread := placement.SpreadOf(v.Table, s.deps.Profile, p)
	out := api.ProjectDetail{Project: s.projectOf(spread), Collections: []api.ProjectCollection{}, Moving: inFlightOf(v, movingOfProject(v, spread))}
	if _, pinned := isPinned(v.Table, pinZone(id)); pinned {
		out.PinTerms = pinTermsOf(v, pinZone(id))
	}
	out.AsOf, out.Stale = directoryAsOf(v)
	for _, c := range spread.Collections {
		out.Collections = append(out.Collections, projectCollectionOf(v, c))
	}
	return writeJSON(w, http.StatusOK, out)
}

// loadedProjects is the newest view, once table and directory are both there.
func (s *Site) loadedProjects(r *http.Request) (View, error) {
	v, err := s.loadedAt(r)
	if err == nil && !v.Dir.Loaded() {
		err = fault.New(fault.Unavailable, "The projects are not loaded yet; try again in a moment.")
	}
	return v, err
}

func (s *Site) projectOf(sp placement.Spread) api.Project {
	p := sp.Project
	out := api.Project{
		ID: p.ID.Hex(), DB: p.DB, Name: p.Name, PublicKey: p.PublicKey, CreatedAt: api.Time(p.CreatedAt),
		Documents: figureOf(p.Documents), Clients: figureOf(p.Clients), Spread: []api.ProjectSpread{},
	}
	for _, c := range sp.Collections {
		row := api.ProjectSpread{NS: string(c.NS), Shards: []string{}, Exact: c.Exact}
		for _, part := range c.Shards {
			row.Shards = append(row.Shards, part.Shard)
		}
		out.Spread = append(out.Spread, row)
	}
	return out
}

func projectCollectionOf(v View, c placement.CollectionSpread) api.ProjectCollection {
	out := api.ProjectCollection{
		NS: string(c.NS), Scope: string(c.Scope), What: c.What, Sharded: c.Sharded, Presence: presenceOf(c.Presence),
		Key: c.Key, Exact: c.Exact, Basis: c.Basis, ChunkCount: c.ChunkCount,
		Shards: []api.ProjectShardPart{}, Chunks: []api.Chunk{},
		Pin: api.Verdict(c.Pin), Split: api.Verdict(c.Split),
	}
	for _, part := range c.Shards {
		out.Shards = append(out.Shards, api.ProjectShardPart{
			ShardPart: api.ShardPart{Shard: part.Shard, Chunks: part.Chunks, Bytes: figureOf(part.Bytes), Documents: figureOf(part.Documents)},
			Share:     shareOf(part.Share),
		})
	}
	t := v.Table
	coll := t.Collection(c.NS)
	var f *chunkFigures
	if coll != nil {
		f = figuresOf(v, coll)
	}
	for _, ch := range c.Chunks {
		if coll == nil {
			break
		}
		row := chunkOf(coll, ch)
		i, _ := coll.Chunks.Find(ch.Min)
		row.Zone, row.Straddles = t.ZoneOf(coll, i)
		f.sizeInto(&row, i)
		out.Chunks = append(out.Chunks, row)
	}
	return out
}

func presenceOf(p placement.Presence) string {
	switch p {
	case placement.PresenceYes:
		return "exists"
	case placement.PresenceNo:
		return "absent"
	}
	return "unknown"
}
