package spread

import (
	"fmt"
	"strings"

	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// Bounds of the columns: up to matrixEach shards, each has a column of its own unless the page asks
// for groups. A group without zones has about matrixGroups to a table. No table has more columns
// than matrixMost, however many groups are open.
const (
	matrixEach   = 16
	matrixGroups = 10
	matrixMost   = 240
)

// MatrixColumn is a column of the matrix: one shard, or the sum of a group of shards.
type MatrixColumn struct {
	Shard string // "" for a sum
	Name  string // of a sum
	Group int    // position of its group; -1 without groups
	URL   string // sorts by it
	Sort  string // value of aria-sort; "" if rows are not sorted by it

	key    string
	shards []int // positions in the table
}

// MatrixGroup is a group of neighbouring columns that can be closed to their sum.
type MatrixGroup struct {
	Name string
	Span int // columns
	Open bool
	URL  string // opens or closes it

	From, To string // the first and last shard of neighbours; "" for the shards of a zone

	shards []int
}

// matrixColumns are the columns of a query, with their groups; without groups, one for each shard.
func matrixColumns(t *topology.Table, q MatrixQuery) (columns []MatrixColumn, groups []MatrixGroup) {
	if n := len(t.Shards); q.Columns == MatrixEach && n <= matrixMost || q.Columns == MatrixAuto && n <= matrixEach {
		for i := range t.Shards {
			columns = append(columns, shardColumn(t, q, i, -1))
		}
		return columns, nil
	}
	for _, g := range shardGroups(t) {
		key := "col:" + g.Name
		g.Open = q.isOpen(key, false) && len(columns)+len(g.shards) < matrixMost
		g.URL = q.toggled(key, false).URL()
		at := len(groups)
		if g.Open {
			for _, i := range g.shards {
				columns = append(columns, shardColumn(t, q, i, at))
			}
			g.Span = len(g.shards)
		}
		name := g.Name
		if g.Open {
			name = "Sum"
		}
		g.Span++
		columns = append(columns, sumColumn(q, name, g, at))
		groups = append(groups, g)
	}
	return columns, groups
}

func shardColumn(t *topology.Table, q MatrixQuery, i, group int) MatrixColumn {
	name := t.Shards[i].Name
	key := matrixOn + name
	return MatrixColumn{Shard: name, Group: group, URL: q.sorted(key).URL(), Sort: q.direction(key), key: key, shards: []int{i}}
}

func sumColumn(q MatrixQuery, name string, g MatrixGroup, group int) MatrixColumn {
	key := matrixIn + g.Name
	return MatrixColumn{Name: name, Group: group, URL: q.sorted(key).URL(), Sort: q.direction(key), key: key, shards: g.shards}
}

// shardGroups are the shards by their zones; where fewer than two groups follow from zones, runs of
// neighbours of the same length.
func shardGroups(t *topology.Table) []MatrixGroup {
	var zones []string
	of := map[string][]int{}
	for i, s := range t.Shards {
		name := zoneSet(s)
		if of[name] == nil {
			zones = append(zones, name)
		}
		of[name] = append(of[name], i)
	}
	var out []MatrixGroup
	if len(zones) > 1 && len(zones) <= len(t.Shards)/2+1 {
		for _, z := range zones {
			name := z
			if z == "" {
				name = "no zone"
			}
			out = append(out, MatrixGroup{Name: name, shards: of[z]})
		}
		return out
	}
	length := max(2, (len(t.Shards)+matrixGroups-1)/matrixGroups)
	for from := 0; from < len(t.Shards); from += length {
		to := min(from+length, len(t.Shards))
		g := MatrixGroup{Name: t.Shards[from].Name, From: t.Shards[from].Name, To: t.Shards[to-1].Name}
		if to-from > 1 {
			g.Name += " to " + t.Shards[to-1].Name
		}
		for i := from; i < to; i++ {
			g.shards = append(g.shards, i)
		}
		out = append(out, g)
	}
	return out
}

// zoneSet is the zones of a shard, without those that pin single projects.
func zoneSet(s topology.Shard) string {
	var names []string
	for _, z := range s.Zones {
		if _, _, pin := placement.ZoneProject(z); !pin {
			names = append(names, z)
		}
	}
	natural.Sort(names)
	return strings.Join(names, " + ")
}

// Shards says how many shards a group has.
func (g MatrixGroup) Shards() string {
	return message.Plural(len(g.shards), "1 shard", format.Count(int64(len(g.shards)))+" shards")
}

// sumOf is the amount of a column of a row that has one for each shard.
func (c MatrixColumn) sumOf(shards []amount) amount {
	var sum amount
	for _, i := range c.shards {
		sum = sum.plus(shards[i])
	}
	return sum
}

// sumOfLine is the amount of a column of a line.
func (c MatrixColumn) sumOfLine(l *matrixLine) (sum amount) {
	if l.shards != nil {
		return c.sumOf(l.shards)
	}
	for _, i := range c.shards {
		sum = sum.plus(l.spread.at(i))
	}
	return sum
}

// fullest names the shard that has most of a sum, for its title; "" for one shard.
func (c MatrixColumn) fullest(t *topology.Table, shards []amount) string {
	if len(c.shards) < 2 {
		return ""
	}
	top, all := c.shards[0], c.sumOf(shards)
	for _, i := range c.shards {
		if shards[i].order() > shards[top].order() {
			top = i
		}
	}
	if share := shards[top].of(all); share > 0 {
		return fmt.Sprintf("most on %s (%s)", t.Shards[top].Name, format.Share(share))
	}
	return ""
}
