package answer

import (
	"net/url"
	"slices"
	"strings"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// MatrixListQuery is which part of the matrix a script reads.
type MatrixListQuery struct {
	MatrixQuery
	limit  int
	cursor string
}

// ParseMatrixListQuery reads the query of a script. What only a page has is not looked at.
func ParseMatrixListQuery(in url.Values) (q MatrixListQuery, err error) {
	of := url.Values{}
	for _, name := range []string{"by", "q", "db", InternalParam} {
		of[name] = in[name]
	}
	if q.MatrixQuery, err = ParseMatrixQuery(of); err != nil {
		return q, err
	}
	if q.limit, err = ParseLimit(in); err != nil {
		return q, err
	}
	q.cursor, _, err = CursorKey(in)
	return q, err
}

// MatrixList is a page of the matrix as a list: collections by name, or projects by name, with all
// measures.
func MatrixList(v View, from MatrixSource, q MatrixListQuery) (out api.List[api.MatrixRow], err error) {
	m := matrix{v: v, from: from, q: q.MatrixQuery, moves: PendingMoves(v, from.Runs), writes: newMatrixWrites(v, from.Counts)}
	out.AsOf, out.Stale = AsOf(v, topology.PartRouting, topology.PartSizes)
	if !q.Projects {
		return m.listCollections(q, out)
	}
	if v.Past != nil {
		return out, fault.New(fault.NotFound, "What projects had on each shard is not recorded for past times.")
	}
	if v.Profile == nil {
		return out, fault.New(fault.NotFound, "There is no profile, so it is not known what a project is.")
	}
	out.AsOf, out.Stale = DirectoryAsOf(v)
	return m.listProjects(q, out)
}

func (m *matrix) listCollections(q MatrixListQuery, out api.List[api.MatrixRow]) (api.List[api.MatrixRow], error) {
	var names []topology.Namespace
	for ns := range Namespaces(m.v.Table) {
		if (q.Internal || !system(m.v.Table, ns)) && (q.DB == "" || ns.Database() == q.DB) &&
			strings.Contains(strings.ToLower(string(ns)), strings.ToLower(q.Text)) && string(ns) >= q.cursor {
			names = append(names, ns)
		}
	}
	slices.Sort(names)
	if len(names) > q.limit {
		out.Next = CursorOf(string(names[q.limit]))
		names = names[:q.limit]
	}
	byNS := map[topology.Namespace][]PendingMove{}
	for _, x := range m.moves {
		byNS[x.NS] = append(byNS[x.NS], x)
	}
	for _, ns := range names {
		row := api.MatrixRow{Kind: "collection", ID: string(ns), DB: ns.Database(), Name: ns.Collection()}
		row.Shards = m.parts(sizesByShard(m.v.Table, ns, measureOf(MatrixQuery{})),
			sizesByShard(m.v.Table, ns, measureOf(MatrixQuery{Measure: MatrixDocuments})), m.writes.collection(ns), byNS[ns])
		out.Items = append(out.Items, row)
	}
	return out, nil
}

func (m *matrix) listProjects(q MatrixListQuery, out api.List[api.MatrixRow]) (api.List[api.MatrixRow], error) {
	found := m.v.Dir.Search(q.Text)
	if q.DB != "" {
		found = slices.DeleteFunc(slices.Clone(found), func(p placement.Project) bool { return p.DB != q.DB })
	}
	from, to, err := ProjectsQuery{limit: q.limit, cursor: q.cursor}.span(found)
	if err != nil {
		return out, err
	}
	if to < len(found) {
		out.Next = CursorOf(projectCursor(found[to]))
	}
	m.byProject = movesByProject(m.v, m.moves)
	figures := map[string]projectFigures{}
	for _, measure := range []string{MatrixBytes, MatrixDocuments, MatrixWrites} {
		m.q.Measure = measure
		figures[measure] = m.projectFigures()
	}
	for _, p := range found[from:to] {
		ref := projectRef{p.DB, p.ID}
		row := api.MatrixRow{Kind: "project", ID: p.ID.Hex(), DB: p.DB, Name: p.Name}
		row.Shards = m.parts(figures[MatrixBytes].project(ref), figures[MatrixDocuments].project(ref), figures[MatrixWrites].project(ref),
			m.movesOfProject(p))
		out.Items = append(out.Items, row)
	}
	return out, nil
}

// parts are the parts of a row on the shards that have or may have one.
func (m *matrix) parts(size, documents, writes []amount, moves []PendingMove) []api.MatrixPart {
	byShard := movesByShard(m.v.Table, moves)
	out := []api.MatrixPart{}
	for i, s := range m.v.Table.Shards {
		p := api.MatrixPart{Shard: s.Name, Bytes: size[i].figure(m.v.Now), Documents: documents[i].figure(m.v.Now),
			WritesPerSecond: writes[i].rate(m.v.Now)}
		if byShard != nil {
			p.Leaving, p.Arriving = movesAnswer(byShard[i].leaving, true), movesAnswer(byShard[i].arriving, false)
		}
		if p.Leaving == nil && p.Arriving == nil && size[i].nowhere() && documents[i].nowhere() && (writes[i].nowhere() || !writes[i].known) {
			continue
		}
		out = append(out, p)
	}
	return out
}

// nowhere tells that there is certainly nothing.
func (a amount) nowhere() bool { return a.exact() && a.value == 0 }
