package spread

import (
	"cmp"
	"math"
	"slices"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/topology"
)

// MatrixSource is what the matrix is made of besides the view.
type MatrixSource struct {
	Counts *heat.Collector // nil: writes and reads are not counted
	Runs   []engine.Run    // that have not ended
}

// MatrixTable is the matrix as its page lays it out. It is bounded whatever the size of the cluster.
type MatrixTable struct {
	Query   MatrixQuery
	State   api.State   // why there are no rows
	Notes   []api.State // beside rows
	Columns []MatrixColumn
	Groups  []MatrixGroup // of the columns; none: each shard has a column
	Rows    []MatrixRow
	Found   int // collections or projects that match the filter
	Total   int // all of them
	Pages   int // rows that are divided into pages: databases, collections or projects
	OnPage  int // of which a page has so many
	AsOf    time.Time
	Stale   bool

	NameURL, NameSort   string // of the column of names
	TotalURL, TotalSort string // of the column of totals
	Regroup             MatrixChoice
}

// MatrixRow is a row of the table: a collection, a project, or the sum of several.
type MatrixRow struct {
	Key   string // identifies it within the table
	Kind  string // total, database, collection, project, part or others
	Name  string
	Note  string // beside the name
	URL   string // of what it is about
	Depth int
	Fold  string // opens or closes it; "" if it has no rows below
	Open  bool
	Total MatrixCell
	Cells []MatrixCell // one for each column

	Hot bool // a project that a problem of writes is about

	Zones     []api.ZoneName // that its ranges are in, the first of them
	ZonesMore int            // the others

	ListURL string // opens or closes Listed
	Listed  []MatrixListed
	Empty   int // shards that are not listed, as they have certainly none; of an open list
}

// MatrixListed is a shard in the list of a row, which takes the place of columns on a small screen.
type MatrixListed struct {
	Shard string
	MatrixCell
}

// MatrixCell is a number of the table.
type MatrixCell struct {
	Text    string
	Title   string // how exact, how old, of what
	Unknown string // why there is no number
	Age     string // of a number that is older than an hour
	Moved   string // chunks moved after the number was read
	Zero    bool
	Shade   int // 0 to MatrixShades
	URL     string
	Out, In *MatrixGhost
}

// MatrixShades is the darkest shade.
const MatrixShades = 8

// A page of projects on many shards has about so many cells, of 300 bytes each, and at least so many rows.
const (
	matrixCells = 240
	leastRows   = 20
)

// matrixOld is the age from which a cell shows it: usually numbers are minutes old.
const matrixOld = time.Hour

// matrixMeasure is what the numbers are.
type matrixMeasure struct {
	query string
	write func(float64) string
}

func measureOf(q MatrixQuery) matrixMeasure {
	switch q.Measure {
	case MatrixDocuments:
		return matrixMeasure{q.Measure, func(f float64) string { return format.Count(int64(math.Round(f))) }}
	case MatrixWrites, MatrixReads:
		return matrixMeasure{q.Measure, format.PerSecond}
	}
	return matrixMeasure{q.Measure, func(f float64) string { return format.Bytes(int64(math.Round(f))) }}
}

func (m matrixMeasure) ofMove(x PendingMove) amount {
	switch m.query {
	case MatrixBytes:
		return x.bytes
	case MatrixDocuments:
		return x.documents
	}
	return unknownAmount("notReported", "")
}

// ofSize is the measure of a collection's size on a shard.
func (m matrixMeasure) ofSize(s *topology.Size) amount {
	if m.query == MatrixDocuments {
		return amountOf(s.Documents)
	}
	return amountOf(s.Bytes)
}

// matrixLine is a row before it is laid out: an amount for each shard.
type matrixLine struct {
	row       *MatrixRow // nil: not made yet
	name      string     // rows are sorted by it
	shards    []amount   // for each shard; nil: spread has them
	spread    *spread
	total     amount
	moves     []PendingMove
	unsharded bool                      // a collection that is not sharded
	link      func(shard string) string // of a cell; nil: none
}

func (l *matrixLine) sum() {
	l.total = amount{}
	if l.shards == nil && l.spread != nil {
		l.total = l.spread.total()
	}
	for _, a := range l.shards {
		l.total = l.total.plus(a)
	}
}

// sumLine is the sum of lines as one line.
func sumLine(t *topology.Table, lines []*matrixLine) *matrixLine {
	out := &matrixLine{row: &MatrixRow{}, shards: make([]amount, len(t.Shards))}
	for _, l := range lines {
		for n, a := range l.shards {
			out.shards[n] = out.shards[n].plus(a)
		}
		out.moves = append(out.moves, l.moves...)
	}
	addSpreads(out.shards, func(yield func(*spread) bool) {
		for _, l := range lines {
			if l.shards == nil && !yield(l.spread) {
				return
			}
		}
	})
	out.sum()
	return out
}

// matrix lays out the table of one query.
type matrix struct {
	v       answer.View
	from    MatrixSource
	q       MatrixQuery
	measure matrixMeasure
	moves   []PendingMove
	ended   map[topology.Namespace][]endedMove
	zones   zonesOfRows
	writes  *matrixWrites
	out     MatrixTable
	at      map[string]int // positions of shards
	columns []amount       // total of each shard, of all rows
	all     amount

	hot       map[string]bool          // ids of projects that a problem of writes is about
	byProject map[string][]PendingMove // of collections that are placed by project
}

// newMatrix is a table without rows.
func newMatrix(v answer.View, from MatrixSource, q MatrixQuery) *matrix {
	m := &matrix{v: v, from: from, q: q, measure: measureOf(q), moves: PendingMoves(v, from.Runs), ended: endedMoves(v),
		at: answer.ShardPositions(v.Table)}
	m.zones, m.writes = newZonesOfRows(v), newMatrixWrites(v, from.Counts)
	m.out = MatrixTable{Query: q, NameURL: q.sorted(MatrixByName).URL(), NameSort: q.direction(MatrixByName),
		TotalURL: q.sorted(MatrixByTotal).URL(), TotalSort: q.direction(MatrixByTotal)}
	m.out.Columns, m.out.Groups = matrixColumns(v.Table, q)
	if m.out.OnPage = answer.PageRows; q.Projects && len(v.Table.Shards) > matrixEach {
		m.out.OnPage = min(answer.PageRows, max(matrixCells/len(m.out.Columns), leastRows))
	}
	m.out.Regroup = regroup(v.Table, q, m.out.Groups != nil)
	m.out.AsOf, m.out.Stale = answer.AsOf(v, topology.PartRouting, topology.PartSizes)
	return m
}

// Matrix is the table of a query.
func Matrix(v answer.View, from MatrixSource, q MatrixQuery) MatrixTable {
	m := newMatrix(v, from, q)
	switch {
	case q.Projects:
		m.projects()
	default:
		m.collections()
	}
	return m.out
}

// regroup is the link between one column for each shard and columns of groups.
func regroup(t *topology.Table, q MatrixQuery, grouped bool) MatrixChoice {
	to, text := MatrixGrouped, "Group the shards"
	if grouped {
		to, text = MatrixEach, "A column for each shard"
	}
	if len(t.Shards) < 3 || to == MatrixEach && len(t.Shards) > matrixMost {
		return MatrixChoice{}
	}
	return MatrixChoice{Text: text, URL: q.with(func(q *MatrixQuery) { q.Columns = to }).URL()}
}

// order is what a line is sorted by, largest first.
func (m *matrix) order(l *matrixLine) float64 {
	a := l.total
	if m.q.Sort != MatrixByTotal {
		for _, c := range m.out.Columns {
			if c.key == m.q.Sort {
				a = c.sumOfLine(l)
			}
		}
		if m.q.Show == MatrixOfRow {
			return a.of(l.total)
		}
	}
	return a.order()
}

// sort sorts lines, which come by name, as the query asks. Unknown amounts are last in both directions.
func (m *matrix) sort(lines []*matrixLine) {
	if m.q.Sort == MatrixByName {
		if m.q.Reverse {
			slices.Reverse(lines)
		}
		return
	}
	keys := make([]float64, len(lines))
	place := make([]int, len(lines))
	for i := range lines {
		keys[i], place[i] = m.order(lines[i]), i
	}
	slices.SortFunc(place, func(a, b int) int {
		if a, b := lines[a].unsharded, lines[b].unsharded; a != b && m.q.Sort == MatrixByTotal && !m.q.Reverse {
			if a { // last, as in the list and on the map
				return 1
			}
			return -1
		}
		x, y := keys[a], keys[b]
		if m.q.Reverse && x >= 0 && y >= 0 {
			x, y = y, x
		}
		return cmp.Or(cmp.Compare(y, x), cmp.Compare(a, b))
	})
	sorted := make([]*matrixLine, len(lines))
	for i, at := range place {
		sorted[i] = lines[at]
	}
	copy(lines, sorted)
}

// takeTotals keeps the sums of all rows, which shares of columns are of, and adds them as the first
// row.
func (m *matrix) takeTotals(all *matrixLine, name string) {
	m.columns, m.all = all.shards, all.total
	all.row.Key, all.row.Kind, all.row.Name = "total", "total", name
	all.link = answer.ShardURL
	m.add(all)
}

// add lays out a line as the next row.
func (m *matrix) add(l *matrixLine) {
	row := *l.row
	if l.shards == nil && l.spread != nil {
		l.shards = l.spread.dense(len(m.v.Table.Shards))
	}
	l.total.moved = time.Time{} // moves between shards do not change it
	row.Total = m.cell(l, l.total, m.all)
	if m.q.Show != MatrixOfColumn { // the share of a row in itself says nothing
		row.Total.Text, row.Total.Shade = l.total.text(m.measure.write), 0
	}
	byShard := movesByShard(m.v.Table, l.moves)
	m.list(&row, l, byShard)
	for _, c := range m.out.Columns {
		a := c.sumOf(l.shards)
		cell := m.cell(l, a, c.sumOf(m.columns))
		if full := c.fullest(m.v.Table, l.shards); full != "" {
			cell.Title = joinNotEmpty(cell.Title, full)
		}
		cell.URL = m.cellURL(l, c)
		if !leafRow(row.Kind) {
			cell.Moved = ""
		}
		if byShard != nil {
			var leaving, arriving []PendingMove
			for _, i := range c.shards {
				leaving, arriving = append(leaving, byShard[i].leaving...), append(arriving, byShard[i].arriving...)
			}
			cell.Out, cell.In = ghost(leaving, true, m.measure), ghost(arriving, false, m.measure)
		}
		row.Cells = append(row.Cells, cell)
	}
	m.out.Rows = append(m.out.Rows, row)
}

// cellURL is the page of what a cell counts: the line's own, or for a sum of shards the table with
// them open.
func (m *matrix) cellURL(l *matrixLine, c MatrixColumn) string {
	if c.Shard == "" {
		if g := m.out.Groups[c.Group]; !g.Open {
			return g.URL
		}
		return ""
	}
	if l.link == nil {
		return ""
	}
	if a := l.shards[c.shards[0]]; (l.row.Kind == "project" || l.row.Kind == "part") && (!a.known || a.value == 0) {
		return "" // nothing was seen there
	}
	return l.link(c.Shard)
}

// cell is one amount of a line in a column whose total is given. Its title leaves out what the heads of
// row and column say, since there are hundreds of them.
func (m *matrix) cell(l *matrixLine, a, column amount) MatrixCell {
	ofRow, ofColumn := a.of(l.total), a.of(column)
	out := MatrixCell{Text: a.text(m.measure.write), Zero: a.known && a.value == 0 && !a.none()}
	if out.Zero && !a.atLeast {
		out.Text = "0"
	}
	if !a.known {
		out.Unknown = a.detail(m.measure.write)
	}
	share := ofRow
	switch m.q.Show {
	case MatrixOfRow:
		out.Text = shareText(a, l.total)
	case MatrixOfColumn:
		out.Text, share = shareText(a, column), ofColumn
	}
	if out.Text == format.Unknown && out.Unknown == "" {
		out.Unknown = "no share: the whole is 0 or not known"
	}
	if share > 0 {
		out.Shade = min(MatrixShades, max(1, int(math.Round(MatrixShades*math.Sqrt(share)))))
	}
	if m.q.Show != MatrixAbsolute {
		out.Title = a.text(m.measure.write)
	}
	if ofRow >= 0 && ofColumn >= 0 && !out.Zero {
		out.Title = joinNotEmpty(out.Title, format.Share(ofRow)+" of row, "+format.Share(ofColumn)+" of column")
	}
	out.Title = joinNotEmpty(out.Title, a.detail(m.measure.write))
	if !a.moved.IsZero() {
		out.Moved = a.movedText()
	}
	if age := m.v.Now.Sub(a.at); a.known && !a.at.IsZero() && m.v.Past == nil && age > matrixOld {
		out.Age = format.Span(age) + " old"
	}
	return out
}

// shareText is the share of a whole with the precision of the amount.
func shareText(a, whole amount) string {
	share := a.of(whole)
	switch {
	case share < 0:
		return format.Unknown
	case a.none():
		return "≤\u202f" + format.Share(min(1, a.high/whole.value))
	case share == 0:
		return "0"
	case a.estimated() || a.atLeast:
		return "≈\u202f" + format.Share(share)
	}
	return format.Share(share)
}
