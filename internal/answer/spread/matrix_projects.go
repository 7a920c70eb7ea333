package spread

import (
	"cmp"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// projectRef names a project: several databases may have the same id.
type projectRef struct {
	db string
	id bson.ObjectID
}

func refOf(p placement.Project) projectRef { return projectRef{p.DB, p.ID} }

// shardAmounts are the amounts of a project on the shards where some were seen, by position. There
// may be 100,000 projects on 100 shards, and few are on many of them.
type shardAmounts []shardAmount

type shardAmount struct {
	shard int
	amount
}

// plus adds an amount on a shard.
func (s shardAmounts) plus(shard int, a amount) shardAmounts {
	for i := range s {
		if s[i].shard == shard {
			s[i].amount = s[i].amount.plus(a)
			return s
		}
	}
	return append(s, shardAmount{shard, a})
}

// projectFigures are the amounts of all projects in one measure.
type projectFigures interface {
	ranked() map[projectRef]shardAmounts // of projects of which some was seen
	project(projectRef) []amount         // of one, on every shard
	sum(projectRef) (amount, bool)       // of one, on all shards; false: what the shards add up to
	total() []amount                     // of all, on every shard
}

// projects lays out a page of projects. Only its rows are made, whatever the number of projects.
func (m *matrix) projects() {
	if m.out.State = m.noProjects(); m.out.State.Code != "" {
		return
	}
	if s := answer.ProjectsState(m.v); s.Code != "" {
		m.out.Notes = append(m.out.Notes, s)
	}
	m.out.Notes = append(m.out.Notes, data.DamagedNotes(m.v.Table)...)
	if m.q.Measure != MatrixWrites {
		m.out.Notes = append(m.out.Notes, holdingsNotes(m.v.Profile, m.v.Holdings())...)
	}
	found := m.v.Dir.Search(m.q.Text)
	if m.q.DB != "" {
		found = slices.DeleteFunc(slices.Clone(found), func(p placement.Project) bool { return p.DB != m.q.DB })
	}
	m.out.Found, m.out.Total, m.out.Pages = len(found), len(m.v.Dir.All()), len(found)
	if len(found) == 0 {
		m.out.State = noMatrixRows(m.q, m.v.Profile.Words("projects"), m.out.Total)
		return
	}
	m.byProject, m.hot = movesByProject(m.v, m.moves), hotProjects(m.v)
	figures := m.projectFigures()
	ranked := figures.ranked()
	order := m.projectOrder(found, ranked)
	_, from, to := answer.PageOfRows(len(found), m.q.Page, m.out.OnPage)

	whole := len(found) == m.out.Total
	all, byNS := &matrixLine{row: &MatrixRow{}, moves: m.moves}, map[topology.Namespace]*spread(nil)
	name := m.v.Profile.Words(message.Plural(len(found), "1 project", format.Count(int64(len(found)))+" projects"))
	if whole {
		all.shards, byNS = m.allData()
		all.row.Note, name = name, m.allName()
	} else {
		all.shards = m.sumOfProjects(order, ranked)
	}
	all.sum()
	m.takeTotals(all, name)
	if from > 0 {
		m.addSum(m.sumOfProjects(order[:from], ranked), "others-before",
			format.Count(int64(from))+m.v.Profile.Words(" projects before"), m.pageURL(from-1))
	}
	for _, p := range order[from:to] {
		m.addProject(p, figures.project(refOf(p)), figures)
	}
	if to < len(order) {
		m.addSum(m.sumOfProjects(order[to:], ranked), "others-after", others(len(order)-to), m.pageURL(to))
	}
	if whole && len(ranked) > 0 {
		m.addRest(m.rest(all.shards, byNS, ranked))
	}
}

// allName is the name of the sum of all rows.
func (m *matrix) allName() string {
	switch m.q.Measure {
	case MatrixDocuments:
		return "All documents"
	case MatrixWrites:
		return "All writes"
	}
	return "All data"
}

// addSum adds a row of amounts that stand for several projects.
func (m *matrix) addSum(shards []amount, key, name, more string) {
	l := &matrixLine{shards: shards, row: &MatrixRow{Key: key, Kind: "others", Name: name, URL: more}}
	l.sum()
	m.add(l)
}

// noProjects says why there is no row; the zero State if there are some.
func (m *matrix) noProjects() api.State {
	switch {
	case m.q.Measure == MatrixReads:
		return readsOfProjects(m.v.Profile)
	case m.v.Past != nil:
		return api.State{Code: "empty", Title: "Not recorded for past times",
			Detail: m.v.Profile.Words("History keeps where collections and chunks were, not what each project had. " +
				"Collections by shard are shown for past times.")}
	case m.v.Profile == nil:
		return api.State{Code: "empty", Title: "There is no profile", Detail: "Without one it is not known what a project is."}
	}
	if s, unread := projectsState(m.v, m.v.Profile); unread || len(m.v.Dir.All()) == 0 {
		return s
	}
	return api.State{}
}

// projectOrder sorts projects by their amounts, the largest first. Those of which nothing was seen
// follow by name.
func (m *matrix) projectOrder(found []placement.Project, ranked map[projectRef]shardAmounts) []placement.Project {
	if m.q.Sort == MatrixByName {
		out := found
		if m.q.Text != "" || m.q.Reverse {
			out = slices.Clone(found)
			slices.SortStableFunc(out, func(a, b placement.Project) int { return natural.Compare(a.Name, b.Name) })
		}
		if m.q.Reverse {
			slices.Reverse(out)
		}
		return out
	}
	type keyed struct {
		at  int
		key float64
	}
	var seen []keyed
	rest := make([]int, 0, len(found))
	on := m.sortedShards()
	for i, p := range found {
		cells := ranked[refOf(p)]
		if cells == nil {
			rest = append(rest, i)
			continue
		}
		seen = append(seen, keyed{i, m.projectKey(cells, on)})
	}
	slices.SortStableFunc(seen, func(a, b keyed) int { return cmp.Compare(b.key, a.key) })
	if m.q.Reverse {
		slices.Reverse(seen)
	}
	out := make([]placement.Project, 0, len(found))
	add := func() {
		for _, k := range seen {
			out = append(out, found[k.at])
		}
	}
	if !m.q.Reverse {
		add()
	}
	for _, i := range rest {
		out = append(out, found[i])
	}
	if m.q.Reverse {
		add()
	}
	return out
}

// sortedShards are the shards of the column that rows are sorted by; nil for all.
func (m *matrix) sortedShards() map[int]bool {
	for _, c := range m.out.Columns {
		if c.key == m.q.Sort {
			on := map[int]bool{}
			for _, i := range c.shards {
				on[i] = true
			}
			return on
		}
	}
	return nil
}

// projectKey is what a project is sorted by.
func (m *matrix) projectKey(cells shardAmounts, on map[int]bool) float64 {
	var sum, all float64
	for _, c := range cells {
		all += c.value
		if on == nil || on[c.shard] {
			sum += c.value
		}
	}
	if m.q.Show == MatrixOfRow && on != nil && all > 0 {
		return sum / all
	}
	return sum
}

// sumOfProjects adds up what was seen of some projects.
func (m *matrix) sumOfProjects(list []placement.Project, ranked map[projectRef]shardAmounts) []amount {
	out := make([]amount, len(m.v.Table.Shards))
	for i := range out {
		out[i] = nothing()
		if m.q.Measure != MatrixWrites { // there may be rows that were not in the sample
			out[i] = amount{reason: "noneSeen", why: m.v.Profile.Words("No row of these projects was seen.")}
		}
	}
	for _, p := range list {
		for _, c := range ranked[refOf(p)] {
			if !out[c.shard].known {
				out[c.shard] = c.amount
			} else {
				out[c.shard] = out[c.shard].plus(c.amount)
			}
		}
	}
	if len(ranked) == 0 {
		return m.projectFigures().total()
	}
	return out
}

// addProject adds the row of a project, and of its collections if it is open.
func (m *matrix) addProject(p placement.Project, shards []amount, figures projectFigures) {
	id := p.ID.Hex()
	key := "p:" + id
	if len(m.v.Dir.Databases()) > 1 {
		key += ":" + p.DB
	}
	l := &matrixLine{name: p.Name, shards: shards, moves: m.movesOfProject(p)}
	l.row = &MatrixRow{Key: key, Kind: "project", Name: answer.NameOf(p), URL: "/projects/" + id, Fold: m.q.toggled(key, false).URL(),
		Open: m.q.isOpen(key, false), Hot: m.hot[id]}
	if len(m.v.Dir.Databases()) > 1 {
		l.row.Note = p.DB
	}
	l.row.Zones, l.row.ZonesMore = m.zones.project(p.DB, p.ID)
	l.link = func(shard string) string { return answer.ProjectShardURL(id, shard) }
	m.noteProjectMoves(p, l.shards)
	l.sum()
	if sum, ok := figures.sum(refOf(p)); ok {
		l.total = sum
	}
	m.add(l)
	if l.row.Open {
		m.addParts(p, key)
	}
}

// addParts adds a project's collections.
func (m *matrix) addParts(p placement.Project, key string) {
	sizes := m.v.Holdings().Findings(p.DB, p.ID)
	for _, c := range placement.SpreadOf(m.v.Table, m.v.Profile, p).Collections {
		if c.Presence == placement.PresenceNo {
			continue
		}
		l := &matrixLine{name: string(c.NS)}
		if m.q.Measure == MatrixWrites {
			l.shards = m.writes.part(refOf(p), c.NS)
		} else {
			l.shards = partOfProject(m.v.Table, c, sizes, m.q.Measure == MatrixDocuments)
		}
		l.row = &MatrixRow{Key: key + ":" + string(c.NS), Kind: "part", Name: c.NS.Collection(), URL: answer.CollectionURL(c.NS), Depth: 1}
		l.row.Zones, l.row.ZonesMore = m.zones.project(p.DB, p.ID, c.NS)
		l.link = func(shard string) string { return answer.ProjectShardURL(p.ID.Hex(), shard) }
		noteMoves(m.v.Table, l.shards, m.ended[c.NS], m.touchesProject(c.NS, p.ID))
		l.sum()
		for _, x := range m.movesOfProject(p) {
			if x.NS == c.NS {
				l.moves = append(l.moves, x)
			}
		}
		m.add(l)
	}
}

// movesOfProject are the pending moves of a project's own ranges: those of collections whose shard
// key begins with the project. In others, each range may hold rows of every project.
func (m *matrix) movesOfProject(p placement.Project) (out []PendingMove) {
	for _, x := range m.byProject[p.DB] {
		r, err := m.v.Table.Collection(x.NS).Key.PrefixRange(p.IDValue())
		if err == nil && r.Overlaps(x.span) {
			x.bytes, x.documents = amount{}, amount{} // of the chunk, which may hold other projects too
			out = append(out, x)
		}
	}
	return out
}

// movesByProject are the moves of collections that are placed by project, by database.
func movesByProject(v answer.View, moves []PendingMove) map[string][]PendingMove {
	out := map[string][]PendingMove{}
	for _, x := range moves {
		c, db := v.Table.Collection(x.NS), x.NS.Database()
		if c == nil || x.span.Min.IsZero() {
			continue
		}
		of, ok := v.Profile.Nearest(v.Table, db).Collection(x.NS.Collection())
		if ok && of.ProjectField != "" && c.Key.LeadsWith(of.ProjectField) {
			out[db] = append(out[db], x)
		}
	}
	return out
}

// projectFigures are the amounts of the query's measure.
func (m *matrix) projectFigures() projectFigures {
	if m.q.Measure == MatrixWrites {
		return m.writes
	}
	return &projectSizes{t: m.v.Table, from: m.v.Holdings(), documents: m.q.Measure == MatrixDocuments}
}
