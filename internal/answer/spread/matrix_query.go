package spread

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/answer/param"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// MatrixQuery is what the page of the matrix shows, and how. The zero value is its usual view:
// collections by shard, in bytes, largest first.
type MatrixQuery struct {
	Projects bool   // rows are projects, not collections
	Measure  string // MatrixBytes, MatrixDocuments, MatrixWrites or MatrixReads
	Show     string // MatrixAbsolute, MatrixOfRow or MatrixOfColumn
	Sort     string // MatrixByTotal, MatrixByName, or a prefix below and the name of a column
	Reverse  bool   // smallest first; of names, last first
	Columns  string // MatrixAuto, MatrixEach or MatrixGrouped
	Opened   []string
	Closed   []string // rows and groups of columns that are opened or closed unlike usual, sorted
	Text     string   // part of a name
	DB       string   // one database only
	Page     int      // 0 is the first

	Internal bool // with the server's own collections
}

// The choices. The usual ones are "", so that they are left out of addresses.
const (
	MatrixBytes     = ""
	MatrixDocuments = "documents"
	MatrixWrites    = "writes"
	MatrixReads     = "reads" // of collections: which project reads is not known

	MatrixAbsolute = ""
	MatrixOfRow    = "row"
	MatrixOfColumn = "column"

	MatrixByTotal = ""
	MatrixByName  = "name"
	matrixOn      = "on:" // a shard's column: on:shard-rs-1
	matrixIn      = "in:" // a group of columns

	MatrixAuto    = ""
	MatrixEach    = "each"
	MatrixGrouped = "groups"
)

// matrixToggled bounds how many rows and groups an address opens or closes.
const matrixToggled = 40

// rows are the parameters that choose rows, of the page and of the list.
func (q *MatrixQuery) rows() param.List {
	return param.List{
		param.Named("by", "", []string{"collections", "projects"}, func(by string) { q.Projects = by == "projects" }),
		param.Text(&q.Text, "q", "only rows whose name contains this; of projects, also ids and public keys that begin with it"),
		param.Text(&q.DB, "db", "one database only"),
		answer.ShowInternal(&q.Internal),
	}
}

// Parameters are those of the address of the page.
func (q *MatrixQuery) Parameters() param.List {
	usual := func(to *string, name, text, usual string, others ...string) param.Param {
		return param.Named(name, text, append([]string{usual}, others...), func(word string) {
			if *to = word; word == usual {
				*to = ""
			}
		})
	}
	return append(q.rows(),
		usual(&q.Measure, "measure", "reads are those of collections", "bytes", MatrixDocuments, MatrixWrites, MatrixReads),
		usual(&q.Show, "show", "shares of the row or the column", "absolute", MatrixOfRow, MatrixOfColumn),
		param.Of("sort", "total (default), name, on:<shard> or in:<group of shards>", q.sortBy),
		param.Named("order", "", []string{"usual", "reverse"}, func(order string) { q.Reverse = order == "reverse" }),
		usual(&q.Columns, "columns", "each is a column for each shard", "auto", MatrixEach, MatrixGrouped),
		matrixToggles(&q.Opened, "open", "rows and groups of columns to open; repeated"),
		matrixToggles(&q.Closed, "close", "rows and groups of columns to close; repeated"),
		param.Page(&q.Page, "from 1"),
	)
}

func (q *MatrixQuery) sortBy(sort string) error {
	switch {
	case sort == "total":
		q.Sort = MatrixByTotal
	case sort == MatrixByName, strings.HasPrefix(sort, matrixOn), strings.HasPrefix(sort, matrixIn):
		q.Sort = sort
	default:
		return fault.New(fault.Invalid, "sort must be total, name, on:<shard> or in:<group>, not %q.", sanitize.Truncate(sort, 60))
	}
	return nil
}

func matrixToggles(to *[]string, name, text string) param.Param {
	return param.Values(name, text, func(list []string) error {
		if len(list) > matrixToggled {
			return fault.New(fault.Invalid, "%s is there %d times; at most %d rows can be opened or closed.", name, len(list), matrixToggled)
		}
		for _, text := range list {
			text, err := param.Checked(name, text)
			if err != nil {
				return err
			}
			if text != "" && len(text) <= 300 && !slices.Contains(*to, text) {
				*to = append(*to, text)
			}
		}
		slices.Sort(*to)
		return nil
	})
}

// URL is the page's address with the query.
func (q MatrixQuery) URL() string {
	u := url.Values{}
	if q.Projects {
		u.Set("by", "projects")
	}
	for name, value := range map[string]string{"measure": q.Measure, "show": q.Show, "sort": q.Sort, "columns": q.Columns,
		"q": q.Text, "db": q.DB} {
		answer.SetParameter(u, name, value)
	}
	if q.Reverse {
		u.Set("order", "reverse")
	}
	if len(q.Opened) > 0 {
		u["open"] = q.Opened
	}
	if len(q.Closed) > 0 {
		u["close"] = q.Closed
	}
	if q.Internal {
		u.Set(answer.InternalParam, "1")
	}
	return answer.Address("/matrix", u, q.Page)
}

// Topic is the live topic of the query's rows and measure.
func (q MatrixQuery) Topic() string {
	by, measure := "collections", "bytes"
	if q.Projects {
		by = "projects"
	}
	if q.Measure != MatrixBytes {
		measure = q.Measure
	}
	return by + "-" + measure
}

// Usual tells whether the query is the usual view of its topic, which is the same for everybody.
func (q MatrixQuery) Usual() bool {
	return q.URL() == (MatrixQuery{Projects: q.Projects, Measure: q.Measure}).URL()
}

// MatrixTopics are the queries of the live topics, by name.
var MatrixTopics = func() map[string]MatrixQuery {
	out := map[string]MatrixQuery{}
	for _, measure := range []string{MatrixBytes, MatrixDocuments, MatrixWrites, MatrixReads} {
		for _, projects := range []bool{false, true} {
			q := MatrixQuery{Projects: projects, Measure: measure}
			out[q.Topic()] = q
		}
	}
	return out
}()

// with is the query in another view that begins at its first page.
func (q MatrixQuery) with(change func(*MatrixQuery)) MatrixQuery {
	q.Page = 0
	change(&q)
	return q
}

// MatrixChoice is one of a row of links.
type MatrixChoice struct {
	Text, URL string
	Current   bool
}

// Rows are the choices of what a row is: a collection or a project. Reads are not known by project.
func (q MatrixQuery) Rows() []MatrixChoice {
	to := func(projects bool) MatrixQuery {
		out := MatrixQuery{Projects: projects, Measure: q.Measure, Show: q.Show, Columns: q.Columns}
		if projects && q.Measure == MatrixReads {
			out.Measure = MatrixBytes
		}
		return out
	}
	return []MatrixChoice{
		{"Collections", to(false).URL(), !q.Projects}, {"Projects", to(true).URL(), q.Projects},
	}
}

// Measures are the choices of what a cell counts.
func (q MatrixQuery) Measures() (out []MatrixChoice) {
	names := map[string]string{MatrixBytes: "Bytes", MatrixDocuments: "Documents", MatrixWrites: "Writes", MatrixReads: "Reads"}
	for _, m := range []string{MatrixBytes, MatrixDocuments, MatrixWrites, MatrixReads} {
		if m == MatrixReads && q.Projects {
			continue
		}
		out = append(out, MatrixChoice{names[m], q.with(func(q *MatrixQuery) { q.Measure = m }).URL(), q.Measure == m})
	}
	return out
}

// Shows are the choices of how a cell shows it: as a number, or as a share.
func (q MatrixQuery) Shows() (out []MatrixChoice) {
	names := map[string]string{MatrixAbsolute: "Numbers", MatrixOfRow: "Share of row", MatrixOfColumn: "Share of column"}
	for _, s := range []string{MatrixAbsolute, MatrixOfRow, MatrixOfColumn} {
		out = append(out, MatrixChoice{names[s], q.with(func(q *MatrixQuery) { q.Show = s }).URL(), q.Show == s})
	}
	return out
}

// sorted is the query sorted by a column; by the column that it is sorted by already, in reverse.
func (q MatrixQuery) sorted(by string) MatrixQuery {
	return q.with(func(q *MatrixQuery) { q.Sort, q.Reverse = by, q.Sort == by && !q.Reverse })
}

// direction is the value of aria-sort of a column; "" if the rows are not sorted by it.
func (q MatrixQuery) direction(by string) string {
	switch {
	case q.Sort != by:
		return ""
	case q.Reverse == (by == MatrixByName):
		return "descending"
	}
	return "ascending"
}

// isOpen tells whether a row or a group of columns is open that usually is or is not.
func (q MatrixQuery) isOpen(key string, usually bool) bool {
	if usually {
		return !slices.Contains(q.Closed, key)
	}
	return slices.Contains(q.Opened, key)
}

// toggled is the query with a row or group opened, or closed if it is open.
func (q MatrixQuery) toggled(key string, usually bool) MatrixQuery {
	list := &q.Opened
	if usually {
		list = &q.Closed
	}
	keys := map[string]bool{}
	for _, k := range *list {
		keys[k] = true
	}
	if keys[key] {
		delete(keys, key)
	} else {
		keys[key] = true
	}
	*list = slices.Sorted(maps.Keys(keys))
	return q
}

// Fields are what a filter keeps of the query: as hidden fields, name by Text and value by URL.
func (q MatrixQuery) Fields() (out []MatrixChoice) {
	u, err := url.Parse(q.with(func(q *MatrixQuery) { q.Text, q.Opened, q.Closed = "", nil, nil }).URL())
	if err != nil {
		return nil
	}
	values := u.Query()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		out = append(out, MatrixChoice{Text: name, URL: values.Get(name)})
	}
	return out
}

// Unfiltered is the address of the query without its filter.
func (q MatrixQuery) Unfiltered() string {
	return q.with(func(q *MatrixQuery) { q.Text, q.DB = "", "" }).URL()
}

// MatrixOfShard is the matrix of projects, those first of which a shard has most.
func MatrixOfShard(name string) string {
	return MatrixQuery{Projects: true, Measure: MatrixBytes, Sort: "on:" + name}.URL()
}

// MatrixOfProject is the matrix with one project.
func MatrixOfProject(name, id string) string {
	if name == "" {
		name = id
	}
	return MatrixQuery{Projects: true, Text: name}.URL()
}
