package projects

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/web/site"
)

func ApiProjects(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := loadedProjects(s, r)
	if err != nil {
		return err
	}
	q := r.URL.Query().Get("q")
	out, err := projectPage(r, v.Dir.Search(q), func(p placement.Project) api.Project {
		return projectOf(s, placement.SpreadOf(v.Table, s.Deps.Profile, p))
	})
	if err != nil {
		return err
	}
	out.AsOf, out.Stale = answer.DirectoryAsOf(v)
	return site.WriteJSON(w, http.StatusOK, out)
}

// projectPage is a page of projects in the directory's own order, which for a
// search is by relevance: the cursor is the next project's identity.
func projectPage(r *http.Request, rows []placement.Project, wire func(placement.Project) api.Project) (api.List[api.Project], error) {
	var out api.List[api.Project]
	q := r.URL.Query()
	limit, err := answer.LimitOf(q)
	if err != nil {
		return out, err
	}
	key, given, err := answer.CursorKey(q)
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
		out.Next = answer.CursorOf(identity(rows[to]))
	}
	return out, nil
}

func ApiProject(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := loadedProjects(s, r)
	if err != nil {
		return err
	}
	text, err := site.PathText(r, "id")
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
	spread := placement.SpreadOf(v.Table, s.Deps.Profile, p)
	out := api.ProjectDetail{Project: projectOf(s, spread), Collections: []api.ProjectCollection{}, Moving: answer.InFlightOf(v, answer.MovingOfProject(v, spread))}
	if _, pinned := answer.IsPinned(v.Table, answer.PinZone(id)); pinned {
		out.PinTerms = answer.PinTermsOf(v, answer.PinZone(id))
	}
	out.AsOf, out.Stale = answer.DirectoryAsOf(v)
	for _, c := range spread.Collections {
		out.Collections = append(out.Collections, answer.ProjectCollectionOf(v, c))
	}
	return site.WriteJSON(w, http.StatusOK, out)
}

// loadedProjects is the newest view, once table and directory are both there.
func loadedProjects(s *site.Site, r *http.Request) (answer.View, error) {
	v, err := s.LoadedAt(r)
	if err == nil && !v.Dir.Loaded() {
		err = fault.New(fault.Unavailable, "The projects are not loaded yet; try again in a moment.")
	}
	return v, err
}

func projectOf(s *site.Site, sp placement.Spread) api.Project {
	p := sp.Project
	out := api.Project{
		ID: p.ID.Hex(), DB: p.DB, Name: p.Name, PublicKey: p.PublicKey, CreatedAt: api.Time(p.CreatedAt),
		Documents: answer.FigureOf(p.Documents), Clients: answer.FigureOf(p.Clients), Spread: []api.ProjectSpread{},
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
