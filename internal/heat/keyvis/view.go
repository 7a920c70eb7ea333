package keyvis

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Unknown is the value of an unknown cell.
const Unknown = -1

// View is the part of a heat map in a time span. Do not modify it.
type View struct {
	NS      topology.Namespace
	By      By
	Version int64 // increases with each new column
	Columns []Column
	Bounds  []shardkey.Key  // by key: lower bound of each row; the last row ends with the key space
	IDs     []bson.ObjectID // by project: hottest first
	Cells   []int64         // writes, row by row: Cells[row*len(Columns)+column]; Unknown if not counted
	Oldest  time.Time       // begin of the oldest stored column; zero: none
}

// Rows is the number of rows.
func (v View) Rows() int {
	if v.By == ByProject {
		return len(v.IDs)
	}
	return len(v.Bounds)
}

// At returns a cell's writes.
func (v View) At(row, column int) int64 { return v.Cells[row*len(v.Columns)+column] }

// PerSecond returns a cell as a rate; false when unknown.
func (v View) PerSecond(row, column int) (float64, bool) {
	n, covered := v.At(row, column), v.Columns[column].Covered.Seconds()
	if n == Unknown || covered <= 0 {
		return 0, false
	}
	return float64(n) / covered, true
}

// Version is the version that View would have now; 0 without a picture.
func (r *Recorder) Version(ns topology.Namespace, by By) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.find(ns, by); p != nil {
		return p.version
	}
	return 0
}

// View returns a collection's heat map in [from, to): the columns that overlap it. False when there
// is none.
func (r *Recorder) View(ns topology.Namespace, by By, from, to time.Time) (View, bool) {
	r.mu.Lock()
	p := r.find(ns, by)
	if p == nil || len(p.columns) == 0 {
		r.mu.Unlock()
		return View{NS: ns, By: by}, false
	}
	columns, rows := p.columns, p.rows // neither list is ever changed in place
	v := View{NS: ns, By: by, Version: p.version, Oldest: columns[0].From}
	r.mu.Unlock()

	var cols []*column
	for _, c := range columns {
		if c.From.Before(to) && c.End().After(from) {
			cols = append(cols, c)
			v.Columns = append(v.Columns, c.Column)
		}
	}
	if by == ByProject {
		v.byProject(cols)
	} else {
		v.byKey(cols, rows)
	}
	return v, true
}

func (v *View) byKey(cols []*column, rows *axis) {
	v.Bounds = rows.bounds
	v.Cells = make([]int64, len(rows.bounds)*len(cols))
	for i, c := range cols {
		if c.Hottest {
			v.setUnknown(i)
		}
		add := func(row int, n int64) {
			if at := row*len(cols) + i; v.Cells[at] == Unknown {
				v.Cells[at] = n
			} else {
				v.Cells[at] += n
			}
		}
		if c.dense(rows, add) {
			v.Columns[i].Shared = true
		}
	}
}

// setUnknown marks all cells of a column as unknown.
func (v *View) setUnknown(column int) {
	for row := range v.Rows() {
		v.Cells[row*len(v.Columns)+column] = Unknown
	}
}

// byProject has a row for each project listed in a column, at most MaxRows. Where a column has
// writes without a name, the cells of projects that it does not list are unknown.
func (v *View) byProject(cols []*column) {
	totals := map[bson.ObjectID]int64{}
	for _, c := range cols {
		eachProject(c.cells, func(id bson.ObjectID, rows int64) { totals[id] += rows })
	}
	v.IDs = slices.SortedFunc(maps.Keys(totals), func(a, b bson.ObjectID) int {
		return cmp.Or(cmp.Compare(totals[b], totals[a]), slices.Compare(a[:], b[:]))
	})
	v.IDs = v.IDs[:min(len(v.IDs), MaxRows)]
	at := make(map[bson.ObjectID]int, len(v.IDs))
	for i, id := range v.IDs {
		at[id] = i
	}
	v.Cells = make([]int64, len(v.IDs)*len(cols))
	for i, c := range cols {
		if c.Astray > 0 || c.Hottest {
			v.setUnknown(i)
		}
		eachProject(c.cells, func(id bson.ObjectID, rows int64) {
			if row, ok := at[id]; ok {
				v.Cells[row*len(cols)+i] = rows
			} else {
				v.Columns[i].Astray += rows
			}
		})
	}
}
