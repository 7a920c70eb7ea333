package answer

import (
	"compress/gzip"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/profile"
	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/words"
)

// mapSpan is what a map shows when it is not told.
const MapSpan = 6 * time.Hour

// mapQuery is one picture and a span of it.
type MapQuery struct {
	Ns       topology.Namespace
	By       keyvis.By
	From, To time.Time
	Shard    string
}

// firstPicture is the first collection whose new rows are counted that has one;
// else the first that has one.
func FirstPicture(counted, pictures []topology.Namespace) topology.Namespace {
	for _, ns := range append(counted, pictures...) {
		if slices.Contains(pictures, ns) {
			return ns
		}
	}
	return ""
}

// momentOf reads an RFC 3339 time; absent is the default.
func MomentOf(q url.Values, name string, otherwise time.Time) (time.Time, error) {
	text := q.Get(name)
	if text == "" {
		return otherwise, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fault.New(fault.Invalid, "%s is a time such as 2026-03-01T12:00:00Z; %q is not.", name, sanitize.Truncate(text, 40))
	}
	return t, nil
}

func HeatMap(v View, c *topology.Collection, p keyvis.View, q MapQuery, prof *profile.Profile) api.HeatMap {
	out := api.HeatMap{NS: string(q.Ns), By: string(q.By), From: q.From.UTC().Truncate(time.Millisecond), To: q.To.UTC().Truncate(time.Millisecond), Oldest: api.Time(p.Oldest),
		Columns: []api.HeatSpan{}, Rows: []api.HeatRow{}, Shards: []api.HeatShard{}, Cells: []string{}}
	how, _ := heat.CoverageOf(v.Table, prof, q.Ns)
	out.Method = MethodOf(how.Method)
	out.AsOf, out.Stale = v.Now.UTC().Truncate(time.Millisecond), true
	for _, col := range p.Columns {
		out.Columns = append(out.Columns, api.HeatSpan{From: col.From.UTC(), Seconds: int(col.Step / time.Second), Covered: col.Covered.Seconds(),
			Sampled: col.Sampled, AtLeast: col.Capped, Hottest: col.Hottest, Shared: col.Shared, Astray: col.Astray})
	}
	if n := len(p.Columns); n > 0 {
		out.AsOf = p.Columns[n-1].End().UTC()
		out.Stale = v.Now.Sub(out.AsOf) > 2*keyvis.Finest+3*heat.Tick && q.To.After(out.AsOf.Add(2*keyvis.Finest))
	}
	rows := make([]int, 0, p.Rows()) // those shown
	for i := range p.Rows() {
		row := api.HeatRow{}
		if p.By == keyvis.ByProject {
			row = heatProject(v, q.Ns, p, i)
		} else {
			row = heatKey(v, c, p, i, prof)
		}
		if q.Shard != "" && row.Shard != q.Shard {
			continue
		}
		rows = append(rows, i)
		out.Rows = append(out.Rows, row)
	}
	if c != nil && p.By == keyvis.ByKey {
		out.Max = KeyOf(c.Key, c.Key.Max())
	}
	out.Shards = shardsOfRows(out.Rows)
	out.Scale, out.Cells = lettered(p, rows)
	return out
}

func heatKey(v View, c *topology.Collection, p keyvis.View, i int, prof *profile.Profile) api.HeatRow {
	r := shardkey.Range{Min: p.Bounds[i], Max: c.Key.Max()}
	if i+1 < len(p.Bounds) {
		r.Max = p.Bounds[i+1]
	}
	from, to := c.Chunks.Overlap(r)
	row := api.HeatRow{Min: KeyOf(c.Key, r.Min), Chunks: to - from}
	if from < to {
		row.Ref = WithinCollection(ChunkRef(c, c.Chunks.At(from).Min))
	}
	owners := map[string]int{}
	for at := from; at < to; at++ {
		owner := c.Chunks.Owner(at)
		if owners[owner]++; owners[owner] > owners[row.Shard] || row.Shard == "" {
			row.Shard = owner
		}
	}
	if id, ok := heat.ProjectOfBound(v.Table, prof, c, r.Min); ok {
		row.Project = id.Hex()
		if known, ok := v.Dir.In(c.NS.Database(), id); ok {
			row.Name = known.Name
		}
	}
	return row
}

// withinCollection is the part of a reference that names the chunk within its collection.
func WithinCollection(ref string) string {
	_, bound, _ := strings.Cut(ref, ".")
	return bound
}

func heatProject(v View, ns topology.Namespace, p keyvis.View, i int) api.HeatRow {
	row := api.HeatRow{Project: p.IDs[i].Hex()}
	if known, ok := v.Dir.In(ns.Database(), p.IDs[i]); ok {
		row.Name = known.Name
	}
	return row
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
	slices.SortFunc(out, func(a, b api.HeatShard) int { return strings.Compare(a.Name, b.Name) })
	return out
}

const (
	// mapBytes is how large the letters may be when they are compressed.
	mapBytes = 265 << 10
	// surelySmall is how many cells need no look at their size.
	surelySmall = 200_000
)

// lettered writes rates as letters, as finely as stays small: first cells of
// few writes get fewer letters, whose differences are chance; then all do.
func lettered(p keyvis.View, rows []int) (scale api.HeatScale, cells []string) {
	for _, fine := range []struct {
		octaves float64
		few     bool // fewer letters for few writes
	}{{0.5, false}, {0.5, true}, {1, true}, {2, true}} {
		scale = api.NewHeatScale(fine.octaves)
		cells = make([]string, 0, len(rows))
		line := make([]byte, len(p.Columns))
		for _, row := range rows {
			for i := range line {
				line[i] = api.HeatUnknown
				if rate, ok := p.PerSecond(row, i); ok {
					line[i] = scale.Letter(rate)
					if fine.few {
						line[i] = scale.Coarse(line[i], p.At(row, i))
					}
				}
			}
			cells = append(cells, string(line))
		}
		if len(rows)*len(line) < surelySmall || squeezed(cells) <= mapBytes {
			break
		}
	}
	return scale, cells
}

func squeezed(cells []string) int {
	n := counter(0)
	z := gzip.NewWriter(&n)
	for _, line := range cells {
		_, _ = io.WriteString(z, line) // a counter does not fail
	}
	_ = z.Close()
	return int(n)
}

type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// The table that stands for the picture: its hottest rows, its newest columns.
const (
	TableRows    = 20
	TableColumns = 8
)

// astrayText says what the picture's rows do not have.
func AstrayText(p keyvis.View) string {
	var n int64
	for _, c := range p.Columns {
		n += c.Astray
	}
	if n == 0 {
		return ""
	}
	return words.T("heat.map.astray."+string(p.By), "n", format.Count(n))
}
