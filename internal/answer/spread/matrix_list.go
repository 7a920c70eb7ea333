package spread

import (
	"slices"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/natural"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// MatrixListQuery is which part of the matrix a script reads.
type MatrixListQuery struct {
	MatrixQuery
	limit  int
	cursor string
}

// Parameters are those of the address of the list. What only the page has is not looked at.
func (q *MatrixListQuery) Parameters() param.List {
	return append(q.rows(), param.Cursor(&q.cursor), param.Limit(&q.limit))
}

// MatrixList is a page of the matrix as a list: collections by name, or projects by name, with all
// measures.
func MatrixList(v answer.View, from MatrixSource, q MatrixListQuery) (out api.List[api.MatrixRow], err error) {
	m := newMatrix(v, from, q.MatrixQuery)
	out.AsOf, out.Stale = answer.AsOf(v, topology.PartRouting, topology.PartSizes)
	if !q.Projects {
		out.Incomplete = data.UnreadCollections(v)
		return m.listCollections(q, out)
	}
	if v.Past != nil {
		return out, fault.New(fault.NotFound, "%s", v.Profile.Words("What projects had on each shard is not recorded for past times."))
	}
	if v.Profile == nil {
		return out, fault.New(fault.NotFound, "There is no profile, so it is not known what a project is.")
	}
	out.AsOf, out.Stale = answer.DirectoryAsOf(v)
	return m.listProjects(q, out)
}

func (m *matrix) listCollections(q MatrixListQuery, out api.List[api.MatrixRow]) (api.List[api.MatrixRow], error) {
	var names []topology.Namespace
	text := strings.ToLower(q.Text)
	for _, ns := range m.v.CollectionsByName() {
		if (q.Internal || !answer.System(m.v.Table, ns)) && (q.DB == "" || ns.Database() == q.DB) &&
			strings.Contains(strings.ToLower(string(ns)), text) && natural.Compare(string(ns), q.cursor) >= 0 {
			names = append(names, ns)
		}
	}
	if len(names) > q.limit {
		out.Next = answer.CursorOf(string(names[q.limit]))
		names = names[:q.limit]
	}
	byNS := map[topology.Namespace][]PendingMove{}
	for _, x := range m.moves {
		byNS[x.NS] = append(byNS[x.NS], x)
	}
	n := len(m.v.Table.Shards)
	size, documents, writes, reads := make([]amount, n), make([]amount, n), make([]amount, n), make([]amount, n)
	for _, ns := range names {
		row := api.MatrixRow{Kind: "collection", ID: string(ns), DB: ns.Database(), Name: ns.Collection()}
		fill := func(list []amount, measure string) {
			sizesByShard(m.v.Table, ns, measureOf(MatrixQuery{Measure: measure}), m.at).fill(list)
		}
		fill(size, MatrixBytes)
		fill(documents, MatrixDocuments)
		noteMoves(m.v.Table, size, m.ended[ns], nil)
		row.Shards = m.parts(size, documents, m.writes.spread(ns).fill(writes), m.reads(ns).fill(reads), byNS[ns])
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
		out.Next = answer.CursorOf(projectCursor(found[to]))
	}
	m.byProject = movesByProject(m.v, m.moves)
	figures := map[string]projectFigures{}
	for _, measure := range []string{MatrixBytes, MatrixDocuments, MatrixWrites} {
		m.q.Measure = measure
		figures[measure] = m.projectFigures()
	}
	reads := m.readsOfProject()
	for _, p := range found[from:to] {
		ref := refOf(p)
		row := api.MatrixRow{Kind: "project", ID: p.ID.Hex(), DB: p.DB, Name: p.Name}
		m.q.Measure = MatrixBytes
		size := figures[MatrixBytes].project(ref)
		m.noteProjectMoves(p, size)
		row.Shards = m.parts(size, figures[MatrixDocuments].project(ref), figures[MatrixWrites].project(ref),
			reads, m.movesOfProject(p))
		out.Items = append(out.Items, row)
	}
	if out.Next == "" && q.Text == "" && q.DB == "" {
		if row := m.listRest(figures); len(row.Shards) > 0 {
			out.Items = append(out.Items, row)
		}
	}
	return out, nil
}

// listRest is what belongs to no listed project, so that the list adds up to all data.
func (m *matrix) listRest(figures map[string]projectFigures) api.MatrixRow {
	rests := map[string][]amount{}
	for measure, f := range figures {
		m.q.Measure, m.measure = measure, measureOf(MatrixQuery{Measure: measure})
		rests[measure] = slices.Repeat([]amount{unknownAmount("notSurveyed", "Not estimated yet.")}, len(m.v.Table.Shards))
		if ranked := f.ranked(); len(ranked) > 0 {
			all, byNS := m.allData()
			rests[measure] = m.rest(all, byNS, ranked).all
		}
	}
	row := api.MatrixRow{Kind: "rest", Name: "Not in the list"}
	row.Shards = m.parts(rests[MatrixBytes], rests[MatrixDocuments], rests[MatrixWrites], m.readsOfProject(), nil)
	return row
}

// parts are the parts of a row on the shards that have or may have one.
func (m *matrix) parts(size, documents, writes, reads []amount, moves []PendingMove) []api.MatrixPart {
	byShard := movesByShard(m.v.Table, moves)
	out := []api.MatrixPart{}
	for i, s := range m.v.Table.Shards {
		still := byShard == nil || len(byShard[i].leaving)+len(byShard[i].arriving) == 0
		if still && size[i].nowhere() && documents[i].nowhere() && writes[i].notSeen() && reads[i].notSeen() {
			continue
		}
		p := api.MatrixPart{Shard: s.Name, MovedAt: api.Time(size[i].moved), Bytes: size[i].figure(m.v.Now),
			Documents: documents[i].figure(m.v.Now), WritesPerSecond: writes[i].rate(m.v.Now),
			ReadsPerSecond: reads[i].rate(m.v.Now), ReadMillis: answer.MeanMillis(reads[i].value, reads[i].mean)}
		if byShard != nil {
			p.Leaving, p.Arriving = movesAnswer(byShard[i].leaving, true), movesAnswer(byShard[i].arriving, false)
		}
		out = append(out, p)
	}
	return out
}

// notSeen tells that there is nothing, or that it is not known.
func (a amount) notSeen() bool { return !a.known || a.nowhere() }

// nowhere tells that there is certainly nothing.
func (a amount) nowhere() bool { return a.exact() && a.value == 0 }
