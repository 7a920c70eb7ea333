package templates

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/mapped"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/topology"
)

// MapView is the cluster map on a page.
type MapView struct {
	mapped.MapPicture
	Shards []ShardRef
	Refs   Refs
	At     string // of a page of the past, as its address has it
	All    bool   // with internal collections
	Whole  string // address of the map's own page; "" on that page
}

// MapOf is a picture with the shards of its table.
func MapOf(v answer.View, p mapped.MapPicture) MapView {
	m := MapView{MapPicture: p, Shards: ShardRefs(v.Table), Refs: RefsOf(v.Table), All: v.Internal}
	if v.Past != nil {
		m.At = answer.AtText(v.Past.At)
	}
	return m
}

// one tells whether the map shows one collection.
func (m MapView) one() bool { return m.Query.NS != "" }

// mapLink is one of the measures to choose from.
type mapLink struct {
	text, url string
	current   bool
}

func (m MapView) measures() (out []mapLink) {
	for _, c := range mapMeasures {
		to := m.Query
		to.By = c.code
		out = append(out, mapLink{c.text, to.URL(), c.code == m.Query.By})
	}
	return out
}

// scale says what the height of a mark means.
func (m MapView) scale() string {
	s := m.Map.Scale
	switch {
	case m.Query.By == mapped.MapBySize && s.Bytes.High != nil:
		return "Height: data of a chunk, up to ≈ " + format.Bytes(int64(*s.Bytes.High)) + "."
	case m.Query.By == mapped.MapByHeat && s.Heat.High != nil && *s.Heat.High > 0:
		return "Height: writes to the hottest chunk in the " + m.lastWrites() + ", up to " + format.PerSecond(*s.Heat.High) +
			"/s, on a logarithmic scale."
	case m.Query.By == mapped.MapByHeat && s.Heat.High != nil:
		return "No chunk took writes in the " + m.lastWrites() + "."
	case m.Query.By == mapped.MapByAge && s.Age.Low != nil:
		return "Height: how lately a chunk came to its shard; the latest " +
			format.Ago(time.Duration(*s.Age.Low)*time.Second) + ", on a logarithmic scale."
	case m.Query.By == mapped.MapByShard:
		return "Colour: the shard that has the chunks. Left is MinKey, right MaxKey; all chunks are drawn equally wide."
	}
	return ""
}

// lastWrites is the time that writes are of: "last 5 min".
func (m MapView) lastWrites() string { return "last " + format.Span(m.Window) }

// Units of a strip's picture: zones above, the band, signs below. It is as high as on the page,
// so that the patterns of shards keep their form.
const (
	mapWide   = 1000.0
	zoneTop   = 0.5
	zoneFoot  = 2.5
	bandTop   = 3.5
	bandFoot  = 30.0
	signTop   = 31.5
	mapHigh   = 34.0
	leastMark = 1.6 // of a band's height: what is little stays visible
)

// mapShape is a shape of one colour.
type mapShape struct {
	Class, D string
}

// shapes are a strip's marks: one shape for each shard, so that the page is as small for a
// million chunks as for a thousand.
func (m MapView) shapes(s mapped.MapStrip) (out []mapShape) {
	all := map[string]*strings.Builder{}
	var unknown strings.Builder
	for _, c := range s.Cells {
		x0, x1 := mapX(s, float64(c.From)), mapX(s, float64(c.To))
		level, known := m.level(c)
		if !known {
			mapBlock(&unknown, x0, x1, bandTop, bandFoot)
			continue
		}
		high := level * (bandFoot - bandTop)
		foot, done := bandFoot, 0
		for _, part := range c.Shards {
			if all[part.Shard] == nil {
				all[part.Shard] = &strings.Builder{}
			}
			done += part.Chunks
			top := bandFoot - high*float64(done)/float64(c.To-c.From)
			if top < foot {
				mapBlock(all[part.Shard], x0, x1, top, foot)
			}
			foot = top
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, mapShape{Class: m.Refs.Of(name).Swatch.Class(), D: all[name].String()})
	}
	if unknown.Len() > 0 {
		out = append(out, mapShape{Class: "unknown", D: unknown.String()})
	}
	return append(out, signs(s)...)
}

// level is how high a cell is filled, 0 to 1; false if it is not known.
func (m MapView) level(c mapped.MapCell) (float64, bool) {
	s := m.Map.Scale
	switch m.Query.By {
	case mapped.MapBySize:
		if c.Bytes == nil || s.Bytes.High == nil || *s.Bytes.High <= 0 {
			return 0, c.Bytes != nil
		}
		return atLeast(float64(*c.Bytes) / *s.Bytes.High), true
	case mapped.MapByHeat:
		if c.Peak == nil {
			return 0, false
		}
		return logLevel(*c.Peak, s.Heat.MapSpan), true
	case mapped.MapByAge:
		if c.Age == nil {
			return 0, false
		}
		return max(1.02-logLevel(float64(max(*c.Age, 1)), s.Age), 0.06), true
	}
	return 1, true
}

// logLevel is a place on a logarithmic scale of at most four powers of ten.
func logLevel(value float64, s api.MapSpan) float64 {
	if value <= 0 || s.High == nil {
		return 0
	}
	high := max(*s.High, 1e-3)
	low := min(max(*s.Low, high/1e4), high/10)
	return atLeast(math.Log(value/low) / math.Log(high/low))
}

func atLeast(level float64) float64 { return min(max(level, leastMark/(bandFoot-bandTop)), 1) }

// signs are the zones above a band, and what is unusual below it.
func signs(s mapped.MapStrip) (out []mapShape) {
	var zones, odd, moving strings.Builder
	for _, z := range s.Zones {
		x0, x1 := max(mapX(s, z.From), 0), min(mapX(s, z.To), mapWide)
		mapBlock(&zones, x0, max(x1-1, x0+2), zoneTop, zoneFoot)
		mapBlock(&zones, x0, x0+1, zoneTop, bandFoot)
	}
	for _, c := range s.Cells {
		x0 := mapX(s, float64(c.From))
		x1 := max(mapX(s, float64(c.To)), x0+3)
		if c.Flags&(api.MapJumbo|api.MapOutside) != 0 {
			mapBlock(&odd, x0, x1, signTop, mapHigh)
		}
		if c.Flags&api.MapMoving != 0 {
			mapBlock(&moving, x0, x1, signTop, mapHigh)
		}
	}
	for _, shape := range []mapShape{{"zones", zones.String()}, {"odd", odd.String()}, {"moving", moving.String()}} {
		if shape.D != "" {
			out = append(out, shape)
		}
	}
	return out
}

// mapX is where a position is drawn.
func mapX(s mapped.MapStrip, position float64) float64 {
	return (position - float64(s.From)) / float64(max(s.To-s.From, 1)) * mapWide
}

// mapBlock adds a rectangle to path data.
func mapBlock(b *strings.Builder, x0, x1, y0, y1 float64) {
	b.WriteString("M" + mapUnit(x0) + " " + mapUnit(y0) + "H" + mapUnit(x1) + "V" + mapUnit(y1) + "H" + mapUnit(x0))
}

// mapUnit is a coordinate to a tenth: a band is 1000 wide.
func mapUnit(f float64) string { return Trim(math.Round(f*10) / 10) }

// mapName is the collection's link on the map: closer, or on the map of one collection its
// page; "" for one that is not sharded, which has neither.
func (m MapView) mapName(s mapped.MapStrip) string {
	ns := topology.Namespace(s.NS)
	switch {
	case !s.Sharded:
		return ""
	case m.one():
		return answer.CollectionURL(ns)
	}
	return mapped.MapQuery{By: m.Query.By, NS: ns, To: 1}.URL()
}

// facts are a strip's chunks and data in a few words.
func (m MapView) facts(s mapped.MapStrip) string {
	var out []string
	switch {
	case s.Sharded && s.To-s.From < s.Total:
		out = append(out, fmt.Sprintf("chunks %s to %s of %s",
			format.Count(int64(s.From+1)), format.Count(int64(s.To)), format.Count(int64(s.Total))))
	case s.Sharded:
		out = append(out, answer.Counted(s.Total, "chunk", "chunks"))
	default:
		out = append(out, "not sharded")
	}
	if s.Bytes.Value != nil {
		out = append(out, format.Bytes(*s.Bytes.Value))
	}
	return strings.Join(out, " · ")
}

// label says for screen readers what the picture of a strip shows.
func (m MapView) label(s mapped.MapStrip) string {
	if !s.Sharded {
		if s.Unsharded == "" {
			return s.NS + " is not sharded; its shard is not known."
		}
		return s.NS + " is not sharded: all of it is on " + s.Unsharded + "."
	}
	out := s.NS + ", " + m.facts(s) + ": " + shardsText(s)
	for _, x := range m.unusual(s) {
		out += "; " + x
	}
	return out + "."
}

// shardsText are the shards with most chunks of a collection.
func shardsText(s mapped.MapStrip) string {
	list, more := mostShards(s)
	var out []string
	for _, x := range list {
		out = append(out, x.Shard+" "+format.Count(int64(x.Chunks)))
	}
	if more > 0 {
		out = append(out, format.Count(int64(more))+message.Plural(more, " more shard", " more shards"))
	}
	return strings.Join(out, ", ")
}

// mapShards is how many shards of a collection are told by name.
const mapShards = 6

func mostShards(s mapped.MapStrip) (list []mapped.ShardChunks, more int) {
	for name, n := range s.Shards {
		list = append(list, mapped.ShardChunks{Shard: name, Chunks: n})
	}
	slices.SortFunc(list, func(a, b mapped.ShardChunks) int {
		return cmp.Or(cmp.Compare(b.Chunks, a.Chunks), natural.Compare(a.Shard, b.Shard))
	})
	if len(list) > mapShards {
		list, more = list[:mapShards], len(list)-mapShards
	}
	return list, more
}

// unusual is what a band's signs mean.
func (m MapView) unusual(s mapped.MapStrip) (out []string) {
	for _, x := range []struct {
		n         int
		one, many string
	}{{s.Jumbo, " jumbo chunk", " jumbo chunks"}, {s.Outside, " chunk outside its zone", " chunks outside their zone"}} {
		if x.n > 0 {
			out = append(out, format.Count(int64(x.n))+message.Plural(x.n, x.one, x.many))
		}
	}
	return out
}

// mapBox is the viewBox of a strip; the others are shapes in it.
var (
	mapBox   = "0 0 " + Trim(mapWide) + " " + Trim(mapHigh)
	mapWhole = bandShape(bandTop, bandFoot)
	mapThin  = bandShape(bandTop+9, bandFoot-9) // of a collection that is not sharded
)

func bandShape(top, foot float64) string {
	var b strings.Builder
	mapBlock(&b, 0, mapWide, top, foot)
	return b.String()
}

// mapRole says whether a strip has parts that a screen reader may visit.
func mapRole(s mapped.MapStrip) string {
	if len(s.Closer) > 0 {
		return "group"
	}
	return "img"
}

// closerSpan are the chunks behind the i-th link of a strip.
func closerSpan(s mapped.MapStrip, i int) (from, to int) {
	n := s.To - s.From
	return s.From + n*i/len(s.Closer), s.From + n*(i+1)/len(s.Closer)
}

func closerText(s mapped.MapStrip, i int) string {
	from, to := closerSpan(s, i)
	if to-from == 1 {
		out := "Chunk " + format.Count(int64(to))
		if len(s.Cells[i].Shards) == 1 {
			out += " on " + s.Cells[i].Shards[0].Shard
		}
		return out
	}
	return "Closer: chunks " + format.Count(int64(from+1)) + " to " + format.Count(int64(to))
}

func closerShape(s mapped.MapStrip, i int) string {
	from, to := closerSpan(s, i)
	var b strings.Builder
	mapBlock(&b, mapX(s, float64(from)), mapX(s, float64(to)), 0, mapHigh)
	return b.String()
}
