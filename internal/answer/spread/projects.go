package spread

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"

	"shardboard/internal/answer"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/natural"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
)

// ProjectsQuery searches the list of projects and says which part of it to
// give: a numbered page, or a number of projects from a cursor on. The zero
// value is the first page.
type ProjectsQuery struct {
	Text string
	Page int // 0 is the first
	Sort string

	limit  int // 0: a numbered page
	cursor string
}

// Parameters are those of the address of the page.
func (q *ProjectsQuery) Parameters() param.List {
	return append(q.chosen(), param.Page(&q.Page, "of 50 rows, counted from 1"))
}

func (q *ProjectsQuery) chosen() param.List {
	return param.List{
		param.Text(&q.Text, "q", "name, id or public key"),
		param.OneOf(&q.Sort, "sort", "the largest, hottest, widest or newest first; default by name, a search by relevance", projectOrders...),
	}
}

// ProjectsListQuery is which projects a script reads.
type ProjectsListQuery struct{ ProjectsQuery }

// Parameters are those of the address of the list.
func (q *ProjectsListQuery) Parameters() param.List {
	return append(q.chosen(), param.Cursor(&q.cursor), param.Limit(&q.limit))
}

// URL is the address of a page of the same search.
func (q ProjectsQuery) URL(page int) string {
	u := url.Values{}
	answer.SetParameter(u, "q", q.Text)
	answer.SetParameter(u, "sort", q.Sort)
	return answer.Address("/projects", u, page)
}

// Projects lists projects and where they are, in the order of the query. Without one it is that of the directory,
// which for a search is by relevance.
func Projects(v answer.View, p *profile.Profile, q ProjectsQuery) (api.Projects, error) {
	figures := newProjectFigures(v)
	found := figures.sorted(v.Dir.Search(q.Text), p, q.Sort)
	from, to, err := q.span(found)
	if err != nil {
		return api.Projects{}, err
	}
	out := api.Projects{From: from, Found: len(found), Total: len(v.Dir.All()), Databases: v.Dir.Databases(), Columns: projectColumns(v, p),
		ProjectCounts: answer.CountsOf(p)}
	out.AsOf, out.Stale = answer.DirectoryAsOf(v)
	out.ByDocument, out.ByDocumentOn = placedByDocument(v, p)
	out.State, out.Unread = projectsState(v, p)
	for _, pr := range found[from:to] {
		out.Items = append(out.Items, figures.fill(placement.SpreadOf(v.Table, p, pr)))
	}
	if to < len(found) {
		out.Next = answer.CursorOf(projectCursor(found[to]))
	}
	return out, nil
}

// span is the positions [from, to) that the query asks for. A cursor names the
// project that it begins with.
func (q ProjectsQuery) span(found []placement.Project) (from, to int, err error) {
	if q.limit == 0 {
		_, from, to = answer.PageOf(len(found), q.Page)
		return from, to, nil
	}
	if q.cursor != "" {
		from = slices.IndexFunc(found, func(p placement.Project) bool { return projectCursor(p) == q.cursor })
		if from < 0 {
			return 0, 0, fault.New(fault.Conflict, "The project at this cursor is gone. Start again without a cursor.")
		}
	}
	return from, min(from+q.limit, len(found)), nil
}

func projectCursor(p placement.Project) string { return p.ID.Hex() + p.DB }

// projectOf is one project and where it is, in short.
func projectOf(sp placement.Spread) api.Project {
	p := sp.Project
	out := api.Project{
		ID: p.ID.Hex(), DB: p.DB, Name: p.Name, PublicKey: p.PublicKey, CreatedAt: api.Time(p.CreatedAt),
		Documents: answer.FigureOf(p.Documents), Clients: answer.FigureOf(p.Clients), Spread: []api.ProjectSpread{}, Label: answer.NameOf(p),
	}
	if p.Stored != "" {
		out.StoredID = p.IDText()
	}
	for _, c := range sp.Collections {
		out.Spread = append(out.Spread, api.ProjectSpread{NS: string(c.NS), Shards: answer.ShardsOf(c), Exact: c.Exact,
			Presence: presenceOf(c.Presence), ChunkCount: c.ChunkCount})
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

// projectsState says why there are no projects, or none of now. unread is that
// there is no list yet, or that it may not be read any more.
func projectsState(v answer.View, p *profile.Profile) (s api.State, unread bool) {
	s = answer.ProjectsState(v)
	switch {
	case s.Code == "loading" || s.Code == "failed" || s.Code == "denied":
		return s, true
	case len(v.Dir.Databases()) == 0 && v.Table.Loaded:
		return NoDatabase(p), false
	case len(v.Dir.All()) == 0:
		return api.State{Code: "empty", Title: p.Words("There are no projects yet"),
			Detail: fmt.Sprintf("The collection %s of %s is empty.", cmp.Or(p.Names.Collection, p.Keys.Collection),
				format.JoinWords(v.Dir.Databases()))}, false
	}
	return s, false
}

const profileElsewhere = "Collections, zones and locating by key still work. " +
	"If a profile can be made of what is there, the overview has it."

// NoDatabase says how databases with projects were searched for.
func NoDatabase(p *profile.Profile) api.State {
	if p.Names.Collection == "" {
		return api.State{Code: "empty", Title: p.Words("No database holds projects"),
			Detail: fmt.Sprintf("No database has a sharded collection %s whose key begins with %s. "+profileElsewhere,
				p.Keys.Collection, p.Keys.Project)}
	}
	return api.State{Code: "empty", Title: p.Words("No database holds projects"),
		Detail: fmt.Sprintf("No database has both collections, %s and %s, or a sharded collection %s whose key begins with %s. "+profileElsewhere,
			p.Names.Collection, p.Keys.Collection, p.Keys.Collection, p.Keys.Project)}
}

// projectColumns are the collections of the databases' nearest layouts whose
// shard key begins with the project.
func projectColumns(v answer.View, p *profile.Profile) []string {
	var out []string
	for _, db := range v.Dir.Databases() {
		for _, c := range p.Nearest(v.Table, db).Collections {
			if c.Scope == profile.ScopeProject && !slices.Contains(out, c.Name) {
				out = append(out, c.Name)
			}
		}
	}
	return out
}

// placedByDocument are the collections whose shard key does not begin with the project,
// and their shards: the same for every project.
func placedByDocument(v answer.View, p *profile.Profile) (names, shards []string) {
	on := map[string]bool{}
	for _, db := range v.Dir.Databases() {
		for _, c := range placement.SpreadOf(v.Table, p, placement.Project{DB: db}).Collections {
			if !c.AnyProject() {
				continue
			}
			if name := c.NS.Collection(); !slices.Contains(names, name) {
				names = append(names, name)
			}
			for _, part := range c.Shards {
				on[part.Shard] = true
			}
		}
	}
	return names, natural.Sorted(maps.Keys(on))
}
