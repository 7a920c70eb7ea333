package writes

import (
	"cmp"
	"slices"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// HeatSelection is what a part of the picture holds: rows of it for a time.
type HeatSelection struct {
	State    api.State // instead of the rest; zero: there is something selected
	From, To time.Time
	Title    message.Message // what is selected
	Writes   message.Message // what was written there then
	Doubts   []string        // what is unsure about the figure
	Rows     []HeatSelectedRow
	MoreRows int // beyond those listed
	Shards   []HeatSelectedShard
	Projects []api.Heat
	// Documents is empty where they are not counted.
	Documents   []api.Heat
	WritersNote string // why nobody is named, or of which time the writers are
	Help        HeatHelp
}

// HeatSelectedRow is a selected row with its part of the selection's writes.
type HeatSelectedRow struct {
	api.HeatRow
	Bound shardkey.Key // by key: the lower bound
	Rate  *float64     // nil: unknown
	Share float64      // of the selection
}

// HeatSelectedShard owns chunks of the selection now.
type HeatSelectedShard struct {
	Shard  string
	Chunks int
}

// shownRows is how many rows of a selection are listed.
const shownRows = 6

// heatSelection describes the selected part of a picture; nil when nothing is selected.
func heatSelection(v answer.View, h HeatSource, q HeatQuery) *HeatSelection {
	if q.Selected.None() || h.Pictures == nil {
		return nil
	}
	out := &HeatSelection{From: q.Selected.From, To: q.Selected.To}
	c := v.Table.Collection(q.NS)
	p, ok := h.Pictures.View(q.NS, q.By, q.Selected.From, q.Selected.To)
	if !ok || len(p.Columns) == 0 {
		out.State = stateOf("empty", "Nothing is recorded for this time", "Select another part of the picture.")
		return out
	}
	rows := selectedRows(c, p, q.Selected.Rows)
	if len(rows) == 0 {
		out.State = stateOf("empty", "These rows are not in the picture any more",
			v.Profile.Words("Chunks were split or merged, or the projects wrote nothing lately. Select again."))
		return out
	}
	out.From, out.To, _ = recordedTime(p)
	out.measure(v, c, p, rows)
	if q.By == keyvis.ByProject {
		out.Title = message.New("projects", message.Plural(len(rows), "{name}", v.Profile.Words("{n} projects")),
			message.Count("n", len(rows)), message.Text("name", cmp.Or(out.Rows[0].Name, out.Rows[0].Project)))
		out.Help = projectHelp(v, h, c, q, p, rows)
		return out
	}
	span := shardkey.Range{Min: rowRange(c, p, rows[0]).Min, Max: rowRange(c, p, rows[len(rows)-1]).Max}
	from, to := c.Chunks.Overlap(span)
	out.Title = rangeTitle(c, from, to)
	out.owners(v, c, from, to)
	out.writers(v, h, q, span)
	out.Help = rangeHelp(v, h, c, q, from, to, out.Projects)
	return out
}

// selectedRows are the positions of rows in a picture: from the first to the last named one by key, exactly the named
// ones by project. None if one of a range is gone.
func selectedRows(c *topology.Collection, p keyvis.View, names []string) (out []int) {
	at := map[string]int{}
	for i := range p.Rows() {
		at[rowKey(c, p, i)] = i
	}
	for _, name := range names {
		if i, ok := at[name]; ok {
			out = append(out, i)
		} else if p.By == keyvis.ByKey {
			return nil
		}
	}
	slices.Sort(out)
	if p.By == keyvis.ByProject || len(out) == 0 {
		return slices.Compact(out)
	}
	first, last := out[0], out[len(out)-1]
	out = out[:0]
	for i := first; i <= last; i++ {
		out = append(out, i)
	}
	return out
}

func rangeTitle(c *topology.Collection, from, to int) message.Message {
	facts := []message.Fact{message.Count("first", from+1), message.Count("last", to), message.Count("n", to-from),
		message.Count("of", c.Chunks.Len())}
	return message.New("range", message.Plural(to-from, "Chunk {first} of {of}", "Chunks {first}–{last} of {of}"), facts...)
}

// measure sums the selected cells and lists the rows with most writes.
func (s *HeatSelection) measure(v answer.View, c *topology.Collection, p keyvis.View, rows []int) {
	var in, all, seconds float64
	unknown, known := 0, 0
	sums := make([]float64, p.Rows())
	seen := make([]bool, p.Rows())
	for at, col := range p.Columns {
		seconds += col.Covered.Seconds()
		all += float64(col.Astray)
		for i := range p.Rows() {
			if n := p.At(i, at); n != keyvis.Unknown {
				sums[i] += float64(n)
				seen[i] = true
				all += float64(n)
			}
		}
		for _, i := range rows {
			if p.At(i, at) == keyvis.Unknown {
				unknown++
			} else {
				known++
			}
		}
	}
	for _, i := range rows {
		in += sums[i]
	}
	changed := slices.ContainsFunc(p.Columns, func(c keyvis.Column) bool { return c.Hottest })
	s.Writes = selectionWrites(changed, known, in, all, seconds)
	s.Doubts = answer.Map(selectionDoubts(p.Columns, unknown), v.Profile.Words)
	order := slices.Clone(rows)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sums[b], sums[a]) })
	s.MoreRows = max(len(order)-shownRows, 0)
	for _, i := range First(order, shownRows) {
		row := HeatSelectedRow{HeatRow: heatRow(v, c, p, i)}
		if p.By == keyvis.ByKey {
			row.Bound = p.Bounds[i]
		}
		if seen[i] && seconds > 0 {
			rate := sums[i] / seconds
			row.Rate = &rate
		}
		if in > 0 {
			row.Share = sums[i] / in
		}
		s.Rows = append(s.Rows, row)
	}
}

func selectionWrites(changed bool, known int, in, all, seconds float64) message.Message {
	what, least := "writes", ""
	if changed {
		what, least = "changed rows", "At least "
	}
	switch {
	case known == 0 || seconds <= 0:
		return message.New("unknown", "The writes here in this time are not known.")
	case in == 0:
		return message.New("none", "No "+what+" were counted here in this time.")
	}
	return message.New("some", least+"{n} "+what+", {rate}/s, {share} of all counted in the collection in this time.",
		message.Words("n", format.Count(int64(in))), message.Words("rate", format.PerSecond(in/seconds)), message.Share("share", in/all))
}

// selectionDoubts say what is unsure about the figures of columns.
func selectionDoubts(cols []keyvis.Column, unknown int) (out []string) {
	has := func(f func(keyvis.Column) bool) bool { return slices.ContainsFunc(cols, f) }
	add := func(applies bool, text string) {
		if applies {
			out = append(out, text)
		}
	}
	add(has(func(c keyvis.Column) bool { return c.Sampled }), "partly counted one second in ten")
	add(has(func(c keyvis.Column) bool { return c.Capped && !c.Hottest }), "at least: not everything could be counted")
	add(has(func(c keyvis.Column) bool { return c.Hottest }), "of the hottest projects only")
	add(has(func(c keyvis.Column) bool { return c.Shared }), "rows covered wider ranges then, and their writes are divided evenly")
	add(has(func(c keyvis.Column) bool { return c.Covered < c.Step-c.Step/20 }), "a part of the time was not counted")
	add(unknown > 0, format.Count(int64(unknown))+message.Plural(unknown, " cell is", " cells are")+" not known")
	return out
}

// owners are the shards that own the selected chunks now, those with most first.
func (s *HeatSelection) owners(v answer.View, c *topology.Collection, from, to int) {
	counts := map[string]int{}
	for i := from; i < to; i++ {
		counts[c.Chunks.Owner(i)]++
	}
	for name, n := range counts {
		s.Shards = append(s.Shards, HeatSelectedShard{name, n})
	}
	slices.SortFunc(s.Shards, func(a, b HeatSelectedShard) int {
		return cmp.Or(cmp.Compare(b.Chunks, a.Chunks), natural.Compare(a.Shard, b.Shard))
	})
}

// writers are those of the selected range and time. Who wrote is known for a day; the picture is kept longer.
func (s *HeatSelection) writers(v answer.View, h HeatSource, q HeatQuery, span shardkey.Range) {
	if v.Now.Sub(s.From) > heat.Longest {
		s.WritersNote = "The writers are kept for a day, and this time began earlier."
		return
	}
	w := h.Counts.Between(q.NS, s.From, s.To)
	if w.Seconds == 0 {
		s.WritersNote = "The writers are not known for this time: they are not kept over a restart."
		return
	}
	part := w.Within(v.Table, v.Profile, span)
	if w.From.Before(s.From) || w.To.After(s.To) {
		s.WritersNote = "From " + format.Clock(w.From) + " to " + format.Clock(w.To) + ": the writers of single minutes are kept for an hour."
	}
	s.Projects, s.Documents = rangeWriters(v, w, part, "")
	if len(s.Projects) > 0 {
		return
	}
	if rate := part.Range(); rate.Rows > 0 {
		s.WritersNote = v.Profile.Words("The writers are not known: the projects that wrote are in several chunks.")
	}
}
