package writes

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/heat"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/natural"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// HeatMapQuery is one picture and a span of it.
type HeatMapQuery struct {
	NS       topology.Namespace
	By       keyvis.By
	From, To time.Time
	Shard    string // only rows that this shard owns; "": all
}

// Parameters are those of the address of a picture, of a view and its writes. Without a collection it is the first
// that has one.
func (q *HeatMapQuery) Parameters(v answer.View, h HeatSource) param.List {
	q.By = keyvis.ByKey
	var ago time.Duration
	return param.List{
		CountedCollection(&q.NS),
		param.Of("from", "RFC 3339 time, or how long before to, as -24h; default six hours before to", func(typed string) (err error) {
			if d, bad := time.ParseDuration(typed); bad == nil && d < 0 {
				ago = d
				return nil
			}
			q.From, err = param.ParseTime("from", typed)
			return err
		}),
		param.Time(&q.To, "to", "RFC 3339 time; default now"),
		pictureRows(&q.By),
		param.Text(&q.Shard, "shard", "only rows that this shard owns now; by=key alone"),
		param.Check(func() error {
			if q.To.IsZero() {
				q.To = v.Now
			}
			if q.From.IsZero() {
				q.From = q.To.Add(cmp.Or(ago, -DefaultSpan))
			}
			switch {
			case !q.From.Before(q.To):
				return fault.New(fault.Invalid, "from must be before to.")
			case q.Shard != "" && q.By == keyvis.ByProject:
				return fault.New(fault.Invalid, "shard= needs by=key: the row of a project belongs to no single shard.")
			case q.Shard != "" && v.Table.Shard(q.Shard) == nil:
				return fault.New(fault.NotFound, "There is no shard %q.", sanitize.Truncate(q.Shard, 100))
			case q.NS == "":
				q.NS = firstPicture(heat.Counted(v.Table, v.Profile), h.Pictures.Collections())
			}
			return nil
		}),
	}
}

func pictureRows(to *keyvis.By) param.Param {
	return param.OneOf(to, "by", "", keyvis.ByKey, keyvis.ByProject)
}

// firstPicture is the first collection whose new rows are counted that has one;
// else the first that has one.
func firstPicture(counted, pictures []topology.Namespace) topology.Namespace {
	for _, ns := range append(counted, pictures...) {
		if slices.Contains(pictures, ns) {
			return ns
		}
	}
	return ""
}

// HeatMap is the collection's writes over time.
func HeatMap(ctx context.Context, v answer.View, h HeatSource, q HeatMapQuery) (api.HeatMap, error) {
	c := v.Table.Collection(q.NS)
	if q.NS != "" && c == nil {
		return api.HeatMap{}, noCollection(q.NS)
	}
	picture, _ := h.Pictures.View(q.NS, q.By, q.From, q.To)
	out, rows := heatMapOf(v, c, picture, q)
	from, to, recorded := recordedTime(picture)
	if !recorded {
		return out, nil
	}
	log := ReadHeatLog(ctx, v, h.Events.Kept, q.NS, from)
	out.Marks = heatMarks(ctx, v, h.Events, log, q.NS, from, to)
	if c != nil && q.By == keyvis.ByKey {
		out.OwnersSince = api.Time(log.Since)
		addOwners(log.Events, c, picture, out.Rows, rows, from)
	}
	return out, nil
}

// recordedTime is from the first column to the end of the last one.
func recordedTime(p keyvis.View) (from, to time.Time, ok bool) {
	n := len(p.Columns)
	if n == 0 {
		return from, to, false
	}
	return p.Columns[0].From.UTC(), p.Columns[n-1].End().UTC(), true
}

// heatMapOf writes a picture without what happened in its time, and gives the rows of it that are shown.
func heatMapOf(v answer.View, c *topology.Collection, p keyvis.View, q HeatMapQuery) (api.HeatMap, []int) {
	out := api.HeatMap{
		NS: string(q.NS), By: string(q.By),
		From: q.From.UTC().Truncate(time.Millisecond), To: q.To.UTC().Truncate(time.Millisecond), Oldest: api.Time(p.Oldest),
		Columns: []api.HeatSpan{}, Rows: []api.HeatRow{}, Shards: []api.HeatShard{}, Marks: []api.HeatMark{}, Cells: []string{},
	}
	how, _ := heat.CoverageOf(v.Table, v.Profile, q.NS)
	out.Method = heatMethod(how.Method)
	out.AsOf, out.Stale = v.Now.UTC().Truncate(time.Millisecond), true
	for _, col := range p.Columns {
		out.Columns = append(out.Columns, heatColumn(v, col))
	}
	if n := len(p.Columns); n > 0 {
		out.AsOf = p.Columns[n-1].End().UTC()
		out.Stale = v.Now.Sub(out.AsOf) > heatStaleAfter(heat.ChangedRows) && q.To.After(out.AsOf.Add(2*keyvis.Finest))
	}
	rows := make([]int, 0, p.Rows()) // those shown
	for i, share := range sharesOfRows(p) {
		row := heatRow(v, c, p, i)
		row.Share = share
		if q.Shard != "" && row.Shard != q.Shard {
			continue
		}
		rows = append(rows, i)
		out.Rows = append(out.Rows, row)
	}
	if c != nil && p.By == keyvis.ByKey {
		out.Max = answer.KeyOf(c.Key, c.Key.Max())
	}
	out.Shards = shardsOfRows(out.Rows)
	out.Scale, out.Cells = ratesAsLetters(p, rows)
	return out, rows
}

func heatColumn(v answer.View, col keyvis.Column) api.HeatSpan {
	return api.HeatSpan{From: col.From.UTC(), Seconds: int(col.Step / time.Second), Covered: col.Covered.Seconds(),
		Sampled: col.Sampled, AtLeast: col.Capped, Hottest: col.Hottest, Shared: col.Shared, Astray: col.Astray,
		How: countedHow(v, col)}
}

// countedHow says what is unsure about the rates of a column.
func countedHow(v answer.View, col keyvis.Column) string {
	var out []string
	add := func(applies bool, text string) {
		if applies {
			out = append(out, text)
		}
	}
	part := 100 * col.Covered.Seconds() / col.Step.Seconds()
	add(col.Sampled, "from 1 s in 10")
	add(col.Capped, "at least")
	add(col.Hottest, v.Profile.Words("of the hottest projects only"))
	add(col.Shared, "rows covered wider ranges then")
	add(part < 95, fmt.Sprintf("%.0f %% of the time counted", part))
	return strings.Join(out, ", ")
}

// heatMethod says how a collection is counted.
func heatMethod(m heat.Method) api.HeatMethod {
	if m == heat.ChangedRows {
		return api.HeatMethod{
			Counts: m.String(), Of: "hottestProjects", Projects: heat.HottestProjects, LowerBound: true,
			EverySeconds: int(keyvis.Finest / time.Second),
		}
	}
	return api.HeatMethod{Counts: m.String(), Of: "allProjects", EverySeconds: int(heat.Tick / time.Second)}
}

// heatRow is a range of keys or a project.
func heatRow(v answer.View, c *topology.Collection, p keyvis.View, i int) api.HeatRow {
	if p.By == keyvis.ByKey {
		return heatKey(v, c, p, i)
	}
	id := p.IDs[i].Hex()
	name := v.ProjectName(p.NS.Database(), p.IDs[i])
	return api.HeatRow{Key: rowKey(c, p, i), Project: id, Name: name, Label: cmp.Or(name, id)}
}

func heatKey(v answer.View, c *topology.Collection, p keyvis.View, i int) api.HeatRow {
	r := rowRange(c, p, i)
	from, to := c.Chunks.Overlap(r)
	row := api.HeatRow{Key: rowKey(c, p, i), Min: answer.KeyOf(c.Key, r.Min), Number: from + 1, Chunks: to - from,
		Hashed: c.Key.Fields()[0].Hashed}
	if from < to {
		row.Ref = answer.WithinCollection(answer.ChunkRef(c, c.Chunks.At(from).Min))
	}
	owners := map[string]int{}
	for at := from; at < to; at++ {
		owner := c.Chunks.Owner(at)
		if owners[owner]++; owners[owner] > owners[row.Shard] || row.Shard == "" {
			row.Shard = owner
		}
	}
	row.Mixed = len(owners) > 1
	if id, ok := heat.ProjectOfBound(v.Table, v.Profile, c, r.Min); ok {
		row.Project, row.Name = id.Hex(), v.ProjectName(c.NS.Database(), id)
	}
	bound, chunks := answer.BoundText(c.Key, r.Min), ChunkNumbers(row.Number, row.Chunks)
	row.Label = cmp.Or(row.Name, row.Project, bound)
	if row.Project == "" && (row.Hashed || c.Key.Hiding() != nil) { // a hash names nothing
		row.Label = chunks
	}
	var details []string
	if row.Label != chunks {
		details = append(details, chunks)
	}
	if row.Hashed {
		details = append(details, bound)
	}
	row.Detail = strings.Join(details, " · ")
	return row
}

// sharesOfRows are the rows' parts of all writes of a picture, to a thousandth.
func sharesOfRows(p keyvis.View) []float64 {
	shares, all := make([]float64, p.Rows()), 0.0
	for row := range shares {
		for i := range p.Columns {
			if n := p.At(row, i); n != keyvis.Unknown {
				shares[row] += float64(n)
			}
		}
		all += shares[row]
	}
	for row, n := range shares {
		shares[row] = math.Round(1000*n/max(all, 1)) / 1000
	}
	return shares
}

// rowKey is a stable name of a row, which does not show its bound.
func rowKey(c *topology.Collection, p keyvis.View, i int) string {
	if p.By == keyvis.ByProject {
		return p.IDs[i].Hex()
	}
	return answer.ChunkKey(c.Key, p.Bounds[i])
}

func shardsOfRows(rows []api.HeatRow) []api.HeatShard {
	counts := map[string]int{}
	for _, r := range rows {
		if r.Shard != "" {
			counts[r.Shard]++
		}
	}
	out := []api.HeatShard{}
	for name, n := range counts {
		out = append(out, api.HeatShard{Name: name, Rows: n})
	}
	slices.SortFunc(out, func(a, b api.HeatShard) int { return natural.Compare(a.Name, b.Name) })
	return out
}
