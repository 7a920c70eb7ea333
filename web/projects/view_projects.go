package projects

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/format"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/sanitize"
	"shardboard/web/parts"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// projectsView lists tenants with the shards of every collection that is
// placed by project. Collections placed by document have the same shards for
// every project, so they are said once, above the table.
func ProjectsView(v answer.View, p *profile.Profile, q answer.ProjectsQuery) Projects {
	m := Projects{Query: q.Text, State: parts.ProjectsState(v), DocumentsHead: answer.DocumentsHead(p),
		Counted: p.Names.Documents != "", Clients: p.Names.Clients != ""}
	all := v.Dir.All()
	hits := v.Dir.Search(q.Text)
	var from, to int
	m.Pager, from, to = parts.Pager(len(hits), q.Page, q.Url)
	m.DBColumn = len(v.Dir.Databases()) > 1
	switch {
	case m.State.Code == "loading" || m.State.Code == "failed" || m.State.Code == "denied":
		return m
	case len(v.Dir.Databases()) == 0 && v.Table.Loaded:
		m.State = site.NoDatabase(p)
		return m
	case len(all) == 0:
		m.State = templates.State{Code: "empty", Title: "There are no projects yet", Detail: fmt.Sprintf("The collection %s of %s is empty.", p.Names.Collection, strings.Join(v.Dir.Databases(), ", "))}
		return m
	case len(hits) == 0:
		m.EmptyWhy = fmt.Sprintf("No project's name contains “%s” and no id or public key begins with it; %s were searched. Names are compared without regard to case, ids from their beginning.", sanitize.Truncate(q.Text, 80), format.Count(int64(len(all))))
		return m
	}
	m.Summary = fmt.Sprintf("%s projects in %s. Coloured numbers are the shards that hold a project's rows.", format.Count(int64(len(all))), strings.Join(v.Dir.Databases(), ", "))
	r := parts.RefsOf(v.Table)
	m.Columns = answer.ProjectColumns(v, p)
	m.ByDoc, m.ByDocOn = byDocument(v, p, r)
	for _, pr := range hits[from:to] {
		m.Rows = append(m.Rows, projectRow(v, p, pr, m.Columns, r))
	}
	return m
}

// byDocument says once what is the same for every project.
func byDocument(v answer.View, p *profile.Profile, r parts.Refs) (string, []templates.ShardRef) {
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
		shards = append(shards, r.Of(name))
	}
	return answer.JoinWords(names) + " are placed document by document, for every project alike on any of", shards
}

func projectRow(v answer.View, p *profile.Profile, pr placement.Project, columns []string, r parts.Refs) ProjectRow {
	row := ProjectRow{
		ID: pr.ID.Hex(), URL: "/projects/" + pr.ID.Hex(), Name: answer.NameOf(pr), DB: pr.DB,
		Documents: parts.CountFigure(pr.Documents), Clients: parts.CountFigure(pr.Clients), Created: templates.Ago(pr.CreatedAt, v.Now),
	}
	if pr.CreatedAt.IsZero() {
		row.Created = templates.Moment{Text: format.Unknown}
	}
	spread := placement.SpreadOf(v.Table, p, pr)
	for _, name := range columns {
		cell := SpreadCell{Name: name, Word: "absent"}
		for _, c := range spread.Collections {
			if c.NS.Collection() != name {
				continue
			}
			cell.Word = ""
			switch {
			case c.Presence == placement.PresenceNo:
				cell.Word = "absent"
			case len(c.Shards) == 0:
				cell.Word = "unknown"
			}
			for _, part := range c.Shards {
				cell.Shards = append(cell.Shards, r.Of(part.Shard))
			}
			if c.ChunkCount > 1 {
				cell.Chunks = format.Count(int64(c.ChunkCount)) + " chunks"
			}
		}
		row.Cells = append(row.Cells, cell)
	}
	return row
}
