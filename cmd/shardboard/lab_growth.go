package main

import (
	"bufio"
	"net/url"
	"strconv"
	"time"

	"shardboard/internal/answer/trying"

	"github.com/alecthomas/kong"

	"shardboard/internal/api"
	"shardboard/internal/app"
	"shardboard/internal/format"
)

// labGrowthCmd asks the growth planner. Its filters are the parameters of the API.
type labGrowthCmd struct {
	Asked  kong.Plugins `embed:""` // of askedFlags
	Output string       `short:"o" enum:"table,json,csv" default:"table" help:"table: shards, groups and the first moves; json: the answer with all moves; csv: all moves."`
	Moves  int          `default:"20" help:"How many moves and groups the table has, 0 to 1000."`

	sourceFlags `embed:""`
}

// growthResource is the list of moves.
var growthResource = resource{name: "growth", list: "/lab/growth",
	columns: []string{"move", "group", "ns", "min", "from", "to", "bytes", "startSeconds"}}

// Run shows the prediction.
func (c labGrowthCmd) Run(e *env) error {
	get := getResource{resource: growthResource, Asked: c.Asked, getFlags: getFlags{Output: c.Output, Interval: time.Second}}
	q, err := get.query(time.Now())
	if err != nil {
		return err
	}
	s, err := c.open(e, "")
	if err != nil {
		return err
	}
	defer s.close(e.ctx)
	if q, err = q.named(e.ctx, s.remote); err != nil {
		return err
	}
	if c.Output != "table" {
		return ended(q.show(e, s.remote))
	}
	return ended(c.table(e, q, s.remote))
}

// table writes the prediction for people.
func (c labGrowthCmd) table(e *env, q query, remote app.Remote) error {
	var a api.LabGrowth
	most := min(max(c.Moves, 0), api.MaxLimit)
	if err := remote.Get(e.ctx, q.address(url.Values{"limit": {strconv.Itoa(max(most, 1))}}), &a); err != nil {
		return err
	}
	w := bufio.NewWriter(e.stdout)
	line(w, "moves: %s, ≈%s, about %s; groups: %s", format.Count(int64(a.Moves)), growthBytes(a.Bytes), growthTime(a.Seconds),
		format.Count(int64(a.GroupCount)))
	line(w, "%s", a.Needed.Text)
	for _, text := range a.Notes {
		line(w, "%s", text)
	}
	if text := trying.DiskPerByteText(a.Inputs.DiskPerByte); text != "" {
		line(w, "%s", text)
	}
	for _, x := range a.Ways {
		line(w, "%s: ≈%s move, fullest %s %s", x.Name, format.Bytes(x.Bytes), growthShare(x.Share), x.Fullest)
	}
	var shards, groups, moves [][]string
	for _, s := range a.Shards {
		shards = append(shards, []string{s.Shard, growthBytes(s.Before), growthBytes(s.After), growthBytes(s.Grown), growthShare(s.GrownShare),
			growthBytes(s.Capacity), strconv.Itoa(s.Chunks), strconv.Itoa(s.ChunksAfter)})
	}
	for _, g := range a.Groups[:min(len(a.Groups), most)] {
		free := "unknown"
		if g.Free != nil {
			free = signedBytes(*g.Free)
		}
		groups = append(groups, []string{strconv.Itoa(g.Group), strconv.Itoa(g.Moves), format.Bytes(g.Bytes), growthTime(g.End),
			g.Fullest, free})
	}
	for _, m := range a.Items[:min(len(a.Items), most)] {
		moves = append(moves, []string{strconv.Itoa(m.Move), strconv.Itoa(m.Group), m.NS, string(m.Min), m.From, m.To, growthBytes(m.Bytes),
			growthTime(m.Start)})
	}
	for _, t := range []struct {
		title   string
		header  []string
		numbers []bool
		rows    [][]string
	}{
		{"Shards", []string{"SHARD", "BEFORE", "AFTER", "GROWN", "FULL", "CAPACITY", "CHUNKS", "CHUNKS AFTER"},
			[]bool{false, true, true, true, true, true, true, true}, shards},
		{"Groups", []string{"GROUP", "MOVES", "DATA", "ENDS AFTER", "FULLEST", "FREE THERE"},
			[]bool{true, true, true, true, false, true}, groups},
		{"Moves", []string{"MOVE", "GROUP", "NS", "MIN", "FROM", "TO", "DATA", "BEGINS AFTER"},
			[]bool{true, true, false, false, false, false, true, true}, moves},
	} {
		if len(t.rows) == 0 {
			continue
		}
		line(w, "")
		line(w, "%s", t.title)
		table := textTable{w: w, out: e.out, header: t.header, numbers: t.numbers}
		if err := table.write(t.rows); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if left := a.Moves - len(moves); left > 0 {
		e.note("Further moves: %s. --output csv has all of them.", format.Count(int64(left)))
	}
	return nil
}

func growthBytes(f api.Figure) string {
	if f.Value == nil {
		return "unknown"
	}
	return format.Bytes(*f.Value)
}

func growthShare(f *float64) string {
	if f == nil {
		return "unknown"
	}
	return format.Share(*f)
}

func growthTime(seconds float64) string {
	return format.Span(time.Duration(seconds * float64(time.Second)))
}

func signedBytes(n int64) string {
	if n < 0 {
		return "-" + format.Bytes(-n)
	}
	return format.Bytes(n)
}
