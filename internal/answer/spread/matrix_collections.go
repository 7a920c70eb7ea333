package spread

import (
	"net/url"
	"slices"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/topology"
)

// Bounds of the rows of collections: of each database at most PageRows, of all open ones together
// matrixLeaves. Others are one row with their sum.
const (
	matrixLeaves = 150
	matrixOpen   = 60 // databases are open as long as no more rows follow
)

// collections lays out the rows of databases and collections.
func (m *matrix) collections() {
	if s := answer.PartState(m.v, topology.PartRouting); s.Code != "" && s.Code != "stale" && s.Code != "partial" {
		m.out.State = s
		return
	}
	if s := answer.PartState(m.v, topology.PartSizes); s.Code != "" && m.q.Measure != MatrixWrites && m.q.Measure != MatrixReads {
		m.out.Notes = append(m.out.Notes, s)
	}
	m.out.Notes = append(m.out.Notes, data.DamagedNotes(m.v.Table)...)
	lines, total := m.collectionLines()
	m.out.Found, m.out.Total = len(lines), total
	if len(lines) == 0 {
		m.out.State = noMatrixRows(m.q, "collections", total)
		return
	}
	of := collectionsNumber(len(lines))
	byDB := map[string][]*matrixLine{}
	for _, l := range lines {
		db := topology.Namespace(l.name).Database()
		byDB[db] = append(byDB[db], l)
	}
	if len(byDB) == 1 || m.q.DB != "" {
		m.takeTotals(sumLine(m.v.Table, lines), of)
		m.sort(lines)
		m.out.Pages = len(lines)
		_, from, to := answer.PageOfRows(len(lines), m.q.Page, m.out.OnPage)
		m.addPage(lines, from, to, "collections", 0)
		return
	}
	m.databases(byDB, of)
}

func collectionsNumber(n int) string {
	return message.Plural(n, "1 collection", format.Count(int64(n))+" collections")
}

// databases lays out the databases of a page with the collections of the open ones. of says of what the totals are.
func (m *matrix) databases(byDB map[string][]*matrixLine, of string) {
	var groups []*matrixLine
	for db, lines := range byDB {
		l := sumLine(m.v.Table, lines)
		l.name = db
		l.row = &MatrixRow{Key: "db:" + db, Kind: "database", Name: db, Note: collectionsNumber(len(lines))}
		groups = append(groups, l)
	}
	slices.SortFunc(groups, func(a, b *matrixLine) int { return natural.Compare(a.name, b.name) })
	m.takeTotals(sumLine(m.v.Table, groups), of)
	m.sort(groups)
	m.out.Pages = len(groups)
	_, from, to := answer.PageOfRows(len(groups), m.q.Page, m.out.OnPage)
	m.addOthers(groups[:from], "others-before", message.Plural(from, "1 database", format.Count(int64(from))+" databases")+" before", "", 0)
	leaves := 0
	for _, g := range groups[from:to] {
		lines := byDB[g.name]
		usually := leaves+len(lines) <= matrixOpen
		g.row.Fold, g.row.Open = m.q.toggled(g.row.Key, usually).URL(), m.q.isOpen(g.row.Key, usually) && leaves < matrixLeaves
		m.add(g)
		if !g.row.Open {
			continue
		}
		m.sort(lines)
		n := min(len(lines), answer.PageRows, matrixLeaves-leaves)
		leaves += n
		m.addCollections(lines[:n], 1)
		more := m.q.with(func(q *MatrixQuery) { q.DB = g.name })
		m.addOthers(lines[n:], "others:"+g.name, others(len(lines)-n), more.URL(), 1)
	}
	m.addOthers(groups[to:], "others-after", message.Plural(len(groups)-to, "1 other database",
		format.Count(int64(len(groups)-to))+" other databases"), m.pageURL(to), 0)
}

// addPage adds the lines [from, to), and what is before and after them as sums.
func (m *matrix) addPage(lines []*matrixLine, from, to int, what string, depth int) {
	m.addOthers(lines[:from], "others-before", format.Count(int64(from))+" "+what+" before", m.pageURL(from-1), depth)
	m.addCollections(lines[from:to], depth)
	m.addOthers(lines[to:], "others-after", others(len(lines)-to), m.pageURL(to), depth)
}

func others(n int) string { return message.Plural(n, "1 other", format.Count(int64(n))+" others") }

// pageURL is the page that has a row.
func (m *matrix) pageURL(row int) string {
	q := m.q
	if q.Page = row/m.out.OnPage + 1; q.Page <= 1 {
		q.Page = 0
	}
	return q.URL()
}

// addOthers adds the sum of lines that are not shown; nothing without any.
func (m *matrix) addOthers(lines []*matrixLine, key, name, more string, depth int) {
	if len(lines) == 0 {
		return
	}
	l := sumLine(m.v.Table, lines)
	l.row = &MatrixRow{Key: key, Kind: "others", Name: name, URL: more, Depth: depth}
	m.add(l)
}

// collectionLines are the collections that the query finds; total is how many there are.
func (m *matrix) collectionLines() (out []*matrixLine, total int) {
	byNS := map[topology.Namespace][]PendingMove{}
	for _, x := range m.moves {
		byNS[x.NS] = append(byNS[x.NS], x)
	}
	text := strings.ToLower(m.q.Text)
	all := make([]matrixLine, 0, len(m.v.CollectionsByName()))
	out = make([]*matrixLine, 0, cap(all))
	facts, sizes := m.facts(), m.sizes()
	for i, ns := range m.v.CollectionsByName() {
		if !m.q.Internal && facts[i].system {
			continue
		}
		total++
		if m.q.DB != "" && ns.Database() != m.q.DB || text != "" && !strings.Contains(strings.ToLower(string(ns)), text) {
			continue
		}
		all = append(all, m.collectionLine(ns, facts[i], sizes, i))
		all[len(all)-1].moves = byNS[ns]
		out = append(out, &all[len(all)-1])
	}
	return out, total
}

// Keys of what is answer.OncePerTable of all collections.
type (
	factsKey   struct{}
	spreadsKey struct{ measure string }
)

// collectionFacts tell which collections are shown and how.
type collectionFacts struct{ system, unsharded bool }

// facts are those of all collections. Read only.
func (m *matrix) facts() []collectionFacts {
	return answer.OncePerTable(m.v, factsKey{}, func() []collectionFacts {
		return answer.Map(m.v.CollectionsByName(), func(ns topology.Namespace) collectionFacts {
			c := m.v.Table.Collection(ns)
			return collectionFacts{answer.System(m.v.Table, ns), c == nil || c.Unsplittable}
		})
	})
}

// summed is a spread with its total.
type summed struct {
	spread
	sum amount
}

// sizes are the amounts of all collections that are pictured; nil where the measure is no size. Read only.
func (m *matrix) sizes() []summed {
	if m.q.Measure == MatrixWrites || m.q.Measure == MatrixReads {
		return nil
	}
	return answer.OncePerTable(m.v, spreadsKey{m.q.Measure}, func() []summed {
		return answer.Map(m.v.CollectionsByName(), func(ns topology.Namespace) summed {
			s := sizesByShard(m.v.Table, ns, m.measure, m.at)
			return summed{s, s.total()}
		})
	})
}

// collectionLine is the line of a collection whose sizes are at a position.
func (m *matrix) collectionLine(ns topology.Namespace, facts collectionFacts, sizes []summed, at int) matrixLine {
	out := matrixLine{name: string(ns), unsharded: facts.unsharded}
	switch m.q.Measure {
	case MatrixWrites:
		s := m.writes.spread(ns)
		out.spread = &s
	case MatrixReads:
		s := m.reads(ns)
		out.spread = &s
	default:
		out.spread, out.total = &sizes[at].spread, sizes[at].sum
		if len(m.ended[ns]) == 0 {
			return out
		}
	}
	if len(m.ended[ns]) > 0 {
		out.shards = out.spread.dense(len(m.v.Table.Shards))
		noteMoves(m.v.Table, out.shards, m.ended[ns], nil)
	}
	out.sum()
	return out
}

// addCollections adds the rows of collections. Only those that are shown are made.
func (m *matrix) addCollections(lines []*matrixLine, depth int) {
	for _, l := range lines {
		ns := topology.Namespace(l.name)
		l.row = &MatrixRow{Key: l.name, Kind: "collection", Name: l.name, URL: answer.CollectionURL(ns), Depth: depth}
		l.link = func(shard string) string {
			return answer.CollectionURL(ns) + "?shard=" + url.QueryEscape(shard) + "#chunks"
		}
		if l.unsharded {
			l.row.Note, l.row.URL, l.link = "not sharded", "", answer.ShardURL
		}
		l.row.Zones, l.row.ZonesMore = m.zones.collection(ns)
		m.add(l)
	}
}

// noMatrixRows says why a table has no rows.
func noMatrixRows(q MatrixQuery, what string, total int) api.State {
	if total > 0 && (q.Text != "" || q.DB != "") {
		return api.State{Code: "empty", Title: "No " + what + " match the filter",
			Detail: "Searched: " + format.Count(int64(total)) + ". Upper and lower case are treated alike."}
	}
	return api.State{Code: "empty", Title: "There are no " + what + " yet", Detail: "New ones appear here within a few seconds."}
}
