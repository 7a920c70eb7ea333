package keyvis

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/heat"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// picture is one collection's heat map, by key or by project. The recorder's lock guards all of it.
type picture struct {
	name       string
	ns         topology.Namespace
	by         By
	life       string // incarnation of the collection, if rows are keys
	columns    []*column
	rows       *axis // rows of the newest column; nil by project
	chunks     *topology.ChunkMap
	chosenAt   time.Time // when the rows were chosen
	recentRows map[shardkey.Key]int64
	open       *openMinute
	nextID     int64
	version    int64          // version of columns
	kept       map[int64]bool // ids of stored axes
	until      time.Time      // another process has counted what was before
}

// openMinute is the minute that is being counted.
type openMinute struct {
	Column
	keys     map[shardkey.Key]int64
	projects map[bson.ObjectID]int64
}

// pictureName is the name in the store.
func pictureName(ns topology.Namespace, by By, life string) string {
	return string(by) + " " + life + " " + string(ns)
}

func parsePicture(name string) (ns topology.Namespace, by By, life string, ok bool) {
	parts := strings.SplitN(name, " ", 3)
	if len(parts) != 3 {
		return "", "", "", false
	}
	by = By(parts[0])
	return topology.Namespace(parts[2]), by, parts[1], by == ByKey || by == ByProject
}

// incarnationName distinguishes incarnations of a collection, whose keys differ.
func incarnationName(i topology.Incarnation) string {
	return fmt.Sprintf("%x.%s.%d.%d", i.UUID, i.Epoch.Hex(), i.Timestamp.T, i.Timestamp.I)
}

// take adds a slot; sampled rows are extrapolated.
func (p *picture) take(s heat.Slot) {
	d := p.open
	if d == nil {
		d = &openMinute{
			Column:   Column{From: s.From.Truncate(Finest).UTC(), Step: Finest},
			keys:     map[shardkey.Key]int64{},
			projects: map[bson.ObjectID]int64{},
		}
		p.open = d
	}
	d.Covered += s.To.Sub(s.From)
	d.Sampled = d.Sampled || s.Every > 1
	d.Capped = d.Capped || s.Capped
	d.Hottest = d.Hottest || s.Method == heat.ChangedRows
	if p.by == ByKey {
		d.Astray += s.Astray * s.Every
		for _, piece := range s.Pieces {
			d.keys[piece.In.Value().Min] += piece.Rows * s.Every
		}
		return
	}
	for _, c := range s.Counts {
		d.projects[c.Project] += c.Rows * s.Every
	}
}

// chooseInterval is how often the rows of a collection with more chunks than rows may change.
const chooseInterval = time.Hour

// choose adapts the rows to the chunks.
func (p *picture) choose(c *topology.Collection, now time.Time) {
	if c == nil || incarnationName(c.Incarnation) != p.life {
		return // the next slots are of the new incarnation
	}
	few := c.Chunks.Len() <= MaxRows
	if p.rows != nil && (few && c.Chunks == p.chunks || !few && now.Sub(p.chosenAt) < chooseInterval) {
		return
	}
	bounds := chooseRows(c.Chunks, p.rows, p.recentRows)
	p.chunks, p.chosenAt, p.recentRows = c.Chunks, now, nil
	if p.rows == nil || !sameBounds(bounds, p.rows.bounds) {
		p.nextID++
		p.rows = &axis{id: p.nextID, bounds: bounds}
	}
}

// close makes a column of the open minute and merges old columns.
func (p *picture) close(c *topology.Collection, changed func(put, gone *column)) {
	d := p.open
	p.open = nil
	if d == nil {
		return
	}
	col := &column{Column: d.Column}
	if p.by == ByProject {
		rest := int64(0)
		col.cells, rest = packProjects(d.projects)
		col.Astray += rest
	} else {
		p.remember(d.keys)
		p.choose(c, d.End())
		if p.rows == nil {
			return
		}
		sums := map[int]int64{}
		for k, rows := range d.keys {
			sums[p.rows.row(k)] += rows
		}
		col.axis, col.cells = p.rows, packCells(sums)
	}
	p.columns = append(p.columns, col)
	changed(col, nil)
	p.columns = compact(p.columns, p.by, col.End(), changed)
	p.version++
}

// maxRemembered is how many keys are remembered for choosing rows; beyond it only known keys are
// counted.
const maxRemembered = 20_000

func (p *picture) remember(keys map[shardkey.Key]int64) {
	if p.recentRows == nil {
		p.recentRows = map[shardkey.Key]int64{}
	}
	for k, rows := range keys {
		if _, known := p.recentRows[k]; known || len(p.recentRows) < maxRemembered {
			p.recentRows[k] += rows
		}
	}
}

// compact merges columns that are old enough for the next layer and removes those older than
// Reach. It changes nothing in place, because readers keep their list.
func compact(cols []*column, by By, now time.Time, changed func(put, gone *column)) []*column {
	for i := range len(layers) - 1 {
		step, next := layers[i].step, layers[i+1].step
		old := now.Add(-layers[i].reach)
		// Columns are in order: if the first of a layer stays, all do.
		if first := slices.IndexFunc(cols, func(c *column) bool { return c.Step == step }); first < 0 ||
			cols[first].From.Truncate(next).Add(next).After(old) {
			continue
		}
		out := make([]*column, 0, len(cols))
		for j := 0; j < len(cols); {
			c := cols[j]
			from := c.From.Truncate(next)
			end := from.Add(next)
			if c.Step != step || end.After(old) {
				out = append(out, c)
				j++
				continue
			}
			k := j + 1
			for k < len(cols) && cols[k].Step == step && cols[k].From.Before(end) {
				k++
			}
			m := mergeColumns(cols[j:k], by, from, next)
			for _, gone := range cols[j:k] {
				changed(nil, gone)
			}
			changed(m, nil)
			out = append(out, m)
			j = k
		}
		cols = out
	}
	for len(cols) > 0 && now.Sub(cols[0].End()) >= Reach {
		changed(nil, cols[0])
		cols = cols[1:]
	}
	return cols
}
