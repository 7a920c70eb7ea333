package spread

import (
	"math"

	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// matrixRest is what the shards have beyond the listed projects, so that the rows add up to all data.
type matrixRest struct {
	all      []amount // what is not in a row of a project
	unlisted []amount // of projects that are not in the list
	projects int      // of which rows were seen, not in the list
	others   []amount // of collections that are not counted by project
	names    int      // of these
	left     []amount // what remains: rows that moved chunks left behind, and errors of the estimates
}

// allData are the amounts of all collections, as the matrix of collections adds them up.
func (m *matrix) allData() (sum []amount, byNS map[topology.Namespace]*spread) {
	q := m.q
	q.Projects, q.Text, q.DB = false, "", ""
	lines, _ := (&matrix{v: m.v, q: q, measure: m.measure, zones: m.zones, writes: m.writes, at: m.at}).collectionLines()
	byNS = make(map[topology.Namespace]*spread, len(lines))
	for _, l := range lines {
		byNS[topology.Namespace(l.name)] = l.spread
	}
	return sumLine(m.v.Table, lines).shards, byNS
}

// rest divides what is not in a row of the listed projects.
func (m *matrix) rest(all []amount, byNS map[topology.Namespace]*spread, ranked map[projectRef]shardAmounts) matrixRest {
	var out matrixRest
	none := func() []amount { return make([]amount, len(all)) }
	out.all, out.unlisted, out.others, out.left = none(), none(), none(), none()
	for ref, cells := range ranked {
		_, listed := m.v.Dir.In(ref.db, ref.id)
		if !listed {
			out.projects++
		}
		for _, c := range cells {
			if listed {
				out.all[c.shard] = out.all[c.shard].plus(c.amount)
			} else {
				out.unlisted[c.shard] = out.unlisted[c.shard].plus(c.amount)
			}
		}
	}
	counted := m.countedByProject()
	addSpreads(out.others, func(yield func(*spread) bool) {
		for ns, s := range byNS {
			if !counted[ns] {
				out.names++
				if !yield(s) {
					return
				}
			}
		}
	})
	for i, a := range all {
		listed := out.all[i]
		out.all[i] = m.difference(a, listed)
		out.left[i] = m.difference(m.difference(out.all[i], out.unlisted[i]), out.others[i])
	}
	return out
}

// difference is what remains of an amount without estimates of its parts, which may add up to more.
func (m *matrix) difference(a, part amount) amount {
	if !a.known || !part.known {
		return a
	}
	if a.value -= part.value; math.Abs(a.value) <= m.rounding() {
		return nothing()
	}
	a.low, a.high = a.value, a.value
	a.rough = a.rough || part.estimated()
	return a
}

// countedByProject are the collections whose rows are divided by project in the query's measure.
func (m *matrix) countedByProject() map[topology.Namespace]bool {
	out := map[topology.Namespace]bool{}
	if m.q.Measure == MatrixWrites {
		if _, none := m.writes.reason(); !none {
			for _, ns := range m.writes.counts.Counted(m.v.Table) {
				out[ns] = true
			}
		}
		return out
	}
	if h := m.v.Holdings(); h != nil {
		for _, c := range h.Collections {
			out[c.NS] = c.Measured()
		}
	}
	return out
}

// addRest adds the row of what belongs to no listed project, which opens into what it consists of.
func (m *matrix) addRest(r matrixRest) {
	l := &matrixLine{shards: r.all}
	if l.sum(); !l.total.known || m.nothingOf(r.all) {
		return
	}
	const key = "rest"
	l.row = &MatrixRow{Key: key, Kind: "others", Name: "Not in the list", Fold: m.q.toggled(key, false).URL(), Open: m.q.isOpen(key, false)}
	m.add(l)
	if !l.row.Open {
		return
	}
	collections := m.q
	collections.Projects, collections.Sort, collections.Opened, collections.Page = false, "", nil, 0
	for _, part := range []struct {
		key, name, url string
		shards         []amount
	}{
		{"unlisted", message.Plural(r.projects, "1 project that is gone or unknown",
			format.Count(int64(r.projects))+" projects that are gone or unknown"), "", r.unlisted},
		{"others", message.Plural(r.names, "1 collection not divided by project",
			format.Count(int64(r.names))+" collections not divided by project"), collections.URL(), r.others},
		{"left", m.leftName(), "", r.left},
	} {
		if m.nothingOf(part.shards) {
			continue
		}
		l := &matrixLine{shards: part.shards}
		l.row = &MatrixRow{Key: key + ":" + part.key, Kind: "others", Name: m.v.Profile.Words(part.name), URL: part.url, Depth: 1}
		l.sum()
		m.add(l)
	}
}

// leftName says what the remainder of a measure is.
func (m *matrix) leftName() string {
	if m.q.Measure == MatrixWrites {
		return "Writes of unknown projects"
	}
	return "Orphans and errors of the estimates"
}

// rounding is what the rows of all projects can be rounded by together.
func (m *matrix) rounding() float64 {
	if m.q.Measure == MatrixWrites {
		return 0.005
	}
	return float64(len(m.v.Dir.All())) + 1
}

// nothingOf tells whether amounts are no more than what rounding leaves over.
func (m *matrix) nothingOf(shards []amount) bool {
	for _, a := range shards {
		if a.known && math.Abs(a.value) > m.rounding() {
			return false
		}
	}
	return true
}
