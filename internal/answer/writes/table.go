package writes

import (
	"cmp"
	"context"
	"slices"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/heat"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/message"
	"shardboard/internal/shardkey"
)

// HeatTable is the picture as a table: its hottest rows and newest columns.
type HeatTable struct {
	State   api.State // instead of the table; zero: there is one
	Pattern shardkey.Pattern
	Columns []api.HeatSpan // newest first
	Rows    []HeatTableRow // hottest first
	Astray  message.Message
	Fit     message.Message // how much of the wanted time is recorded
	Marks   []api.HeatMark
	Small   HeatThumbnail
}

// HeatTableRow is a row of the picture with its exact rates.
type HeatTableRow struct {
	api.HeatRow
	Bound shardkey.Key // by key: the lower bound
	Rates []*float64   // by column; nil: unknown
}

const (
	tableRows    = 20
	tableColumns = 8
)

func heatTable(ctx context.Context, v answer.View, h HeatSource, q HeatQuery, health heat.Health) HeatTable {
	if h.Pictures == nil {
		return HeatTable{State: noCollector()}
	}
	p, ok := h.Pictures.View(q.NS, q.By, v.Now.Add(-q.Span), v.Now)
	switch empty := !ok || len(p.Columns) == 0; {
	case empty && health.Err != nil:
		return HeatTable{State: stateOf("empty", "No picture yet", "It gets a column every minute once writes can be counted.")}
	case empty:
		return HeatTable{State: stateOf("loading", "No picture yet", "It gets a column every minute while shardboard runs; "+
			"the first one appears within two minutes. Earlier times are not known.")}
	}
	c := v.Table.Collection(q.NS)
	begin, end, _ := recordedTime(p)
	out := HeatTable{Pattern: c.Key, Astray: v.Own(astray(p)), Fit: recordedText(q.Span, begin, end), Small: thumbnail(v, c, p),
		Marks: heatMarks(ctx, v, h.Events, ReadHeatLog(ctx, v, h.Events.Kept, q.NS, begin), q.NS, begin, end)}
	from := max(0, len(p.Columns)-tableColumns)
	newest := slices.Clone(p.Columns[from:])
	slices.Reverse(newest)
	for _, col := range newest {
		out.Columns = append(out.Columns, heatColumn(v, col))
	}
	for _, i := range First(hottestRows(p, from), tableRows) {
		row := HeatTableRow{HeatRow: heatRow(v, c, p, i)}
		if p.By == keyvis.ByKey {
			row.Bound = p.Bounds[i]
		}
		for at := len(p.Columns) - 1; at >= from; at-- {
			var rate *float64
			if r, ok := p.PerSecond(i, at); ok {
				rate = &r
			}
			row.Rates = append(row.Rates, rate)
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// hottestRows orders the rows of a picture by what its columns from one on have.
func hottestRows(p keyvis.View, from int) []int {
	sums, rows := make([]float64, p.Rows()), make([]int, p.Rows())
	for row := range rows {
		rows[row] = row
		for i := from; i < len(p.Columns); i++ {
			if rate, ok := p.PerSecond(row, i); ok {
				sums[row] += rate
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(sums[b], sums[a]) })
	return rows
}

// astray says what the picture's rows do not have.
func astray(p keyvis.View) message.Message {
	var n int64
	for _, c := range p.Columns {
		n += c.Astray
	}
	if n == 0 {
		return message.Message{}
	}
	pattern := "Rows of this time that the picture leaves out: {n}. Their chunk is not known, for example " +
		"because their project is in several chunks."
	if p.By == keyvis.ByProject {
		pattern = "Rows of this time that the picture leaves out: {n}. Their projects are not recorded one by one."
	}
	return message.New("astray", pattern, message.Count("n", n))
}

// recordedText says how much of a wanted span was recorded.
func recordedText(wanted time.Duration, first, last time.Time) message.Message {
	known := last.Sub(first)
	if known >= wanted-wanted/20 {
		return message.New("whole", "The last {wanted}.", message.Duration("wanted", wanted))
	}
	return message.New("fitted", "The last {known}: earlier writes are not recorded.", message.Duration("known", known))
}
