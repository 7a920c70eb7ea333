package web

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"shardboard/internal/format"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/sanitize"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// projectsQuery searches and pages the list; the zero value is its first page.
type projectsQuery struct {
	Text string
	Page int // 0 is the first
}

func projectsQueryOf(in url.Values) (projectsQuery, error) {
	var q projectsQuery
	var err error
	if q.Text, err = text(in, "q"); err != nil {
		return q, err
	}
	if q.Page, err = pageNumber(in); q.Page == 1 {
		q.Page = 0
	}
	return q, err
}

func (q projectsQuery) url(page int) string {
	u := url.Values{}
	set(u, "q", q.Text)
	return address("/projects", u, page)
}

// projectsView lists tenants with the shards of every collection that is
// placed by project. Collections placed by document have the same shards for
// every project, so they are said once, above the table.
func projectsView(v View, p *profile.Profile, q projectsQuery) templates.Projects {
	m := templates.Projects{Query: q.Text, State: projectsState(v), DocumentsHead: documentsHead(p),
		Counted: p.Names.Documents != "", Clients: p.Names.Clients != ""}
	all := v.Dir.All()
	hits := v.Dir.Search(q.Text)
	var from, to int
	m.Pager, from, to = pager(len(hits), q.Page, q.url)
	m.DBColumn = len(v.Dir.Databases()) > 1
	switch {
	case m.State.Code == "loading" || m.State.Code == "failed" || m.State.Code == "denied":
		return m
	case len(v.Dir.Databases()) == 0 && v.Table.Loaded:
		m.State = noDatabase(p)
		return m
	case len(all) == 0:
		m.State = templates.State{Code: "empty", Title: words.T("projects.none"), Detail: words.T("projects.none.detail", "db", strings.Join(v.Dir.Databases(), ", "), "projects", p.Names.Collection)}
		return m
	case len(hits) == 0:
		m.EmptyWhy = words.T("projects.nomatch", "q", sanitize.Truncate(q.Text, 80), "n", format.Count(int64(len(all))))
		return m
	}
	m.Summary = words.T("projects.summary", "n", format.Count(int64(len(all))), "db", strings.Join(v.Dir.Databases(), ", "))
	r := refsOf(v.Table)
	m.Columns = projectColumns(v, p)
	m.ByDoc, m.ByDocOn = byDocument(v, p, r)
	for _, pr := range hits[from:to] {
		m.Rows = append(m.Rows, projectRow(v, p, pr, m.Columns, r))
	}
	return m
}

// projectColumns are the collections of the matched databases' layouts whose
// shard key begins with the project.
func projectColumns(v View, p *profile.Profile) []string {
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

// byDocument says once what is the same for every project.
func byDocument(v View, p *profile.Profile, r refs) (string, []templates.ShardRef) {
	var names []string
	on := map[string]bool{}
	for _, db := range v.Dir.Databases() {
		s := placement.SpreadOf(v.Table, p, placement.Project{DB: db})
		for _, c := range s.Collections {
			if c.Basis != placement.BasisByDocument {
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
	if len(names) == 0 {
		return "", nil
	}
	var shards []templates.ShardRef
	for _, name := range slices.Sorted(maps.Keys(on)) {
		shards = append(shards, r.of(name))
	}
	return words.T("projects.bydoc", "names", joinWords(names)), shards
}

func projectRow(v View, p *profile.Profile, pr placement.Project, columns []string, r refs) templates.ProjectRow {
	row := templates.ProjectRow{
		ID: pr.ID.Hex(), URL: "/projects/" + pr.ID.Hex(), Name: nameOf(pr), DB: pr.DB,
		Documents: countFigure(pr.Documents), Clients: countFigure(pr.Clients), Created: templates.Ago(pr.CreatedAt, v.Now),
	}
	if pr.CreatedAt.IsZero() {
		row.Created = templates.Moment{Text: format.Unknown}
	}
	spread := placement.SpreadOf(v.Table, p, pr)
	for _, name := range columns {
		cell := templates.SpreadCell{Name: name, Word: words.T("spread.absent")}
		for _, c := range spread.Collections {
			if c.NS.Collection() != name {
				continue
			}
			cell.Word = ""
			switch {
			case c.Presence == placement.PresenceNo:
				cell.Word = words.T("spread.absent")
			case len(c.Shards) == 0:
				cell.Word = words.T("spread.unknown")
			}
			for _, part := range c.Shards {
				cell.Shards = append(cell.Shards, r.of(part.Shard))
			}
			if c.ChunkCount > 1 {
				cell.Chunks = words.T("spread.chunks", "n", format.Count(int64(c.ChunkCount)))
			}
		}
		row.Cells = append(row.Cells, cell)
	}
	return row
}

// documentsHead is what the profile calls its documents.
func documentsHead(p *profile.Profile) string {
	if p == nil || p.Called.Many == "" {
		return words.T("col.ydocuments")
	}
	return p.Called.Many
}

// nameOf is what a project is called; a row without a name is called by its id.
func nameOf(p placement.Project) string {
	if strings.TrimSpace(p.Name) == "" {
		return p.ID.Hex()
	}
	return p.Name
}

// joinWords lists things as a sentence does: a, b and c.
func joinWords(list []string) string {
	switch len(list) {
	case 0:
		return ""
	case 1:
		return list[0]
	}
	return words.T("list.and", "first", strings.Join(list[:len(list)-1], ", "), "last", list[len(list)-1])
}
