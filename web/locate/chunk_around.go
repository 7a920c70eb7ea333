package locate

import (
	"fmt"
	"math"
	"net/http"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/answer/causes"
	"shardboard/internal/answer/data"
	"shardboard/internal/answer/writes"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/history"
	"shardboard/internal/message"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// chunkAround answers what a chunk was, what is beside it and who writes to it.
func chunkAround(s *site.Site, r *http.Request) (a api.ChunkAround, err error) {
	v, err := s.LoadedAt(r)
	if err != nil {
		return a, err
	}
	c, i, err := s.ChunkAt(r, v)
	if err != nil {
		return a, err
	}
	return around(s, r, v, c, i), nil
}

func around(s *site.Site, r *http.Request, v answer.View, c *topology.Collection, i int) api.ChunkAround {
	source := writes.HeatSource{Counts: s.Deps.Measured.Heat, Pictures: s.Deps.Measured.Pictures}
	return causes.ChunkAround(r.Context(), v, source, keptHistory(s, v), c, i)
}

// keptHistory is the recorded history; nil where there is none.
func keptHistory(s *site.Site, v answer.View) *history.Past {
	if s.KeepsHistory(v) != nil {
		return nil
	}
	return s.Deps.Past.History
}

// chunkGone shows what became of a chunk that is not there, with the same status as an answer about it.
func chunkGone(s *site.Site, w http.ResponseWriter, r *http.Request, v answer.View, gone error) error {
	if fault.Of(gone) != fault.NotFound {
		return gone
	}
	c, ref, err := s.ChunkRef(r, v)
	if err != nil {
		return gone
	}
	former := data.FormerChunkOf(r.Context(), v, keptHistory(s, v), c, ref)
	p := gonePage{FormerChunk: former, refs: templates.RefsOf(v.Table), past: v.Past != nil}
	return site.WritePage(w, r, http.StatusNotFound, chunkGonePage(s.Shell(r, v, "collections", "No such chunk"), p))
}

// gonePage says what became of a chunk.
type gonePage struct {
	data.FormerChunk
	refs templates.Refs
	past bool
}

// beside are the chunks before and after; nil at an end of the key space.
func beside(a api.ChunkAround) (before, after *api.ChunkNeighbour) {
	for i := range a.Neighbours {
		if !a.Neighbours[i].Self {
			continue
		}
		if i > 0 {
			before = &a.Neighbours[i-1]
		}
		if i+1 < len(a.Neighbours) {
			after = &a.Neighbours[i+1]
		}
	}
	return before, after
}

// ownerAt is the place and the length of a span on the strip, 0 to 1.
func ownerAt(o api.ChunkOwners, x api.ChunkOwner) (from, width float64) {
	all := o.To.Sub(o.From).Seconds()
	return x.From.Sub(o.From).Seconds() / all, x.To.Sub(x.From).Seconds() / all
}

// ownerText is a span in words.
func ownerText(x api.ChunkOwner) string {
	who := x.Shard
	if who == "" {
		who = "not known"
	}
	return who + ", from " + format.Clock(x.From) + " to " + format.Clock(x.To) + " (" + format.Span(x.To.Sub(x.From)) + ")"
}

// ownerTime is when a shard had the chunk.
func ownerTime(o api.ChunkOwners, x api.ChunkOwner) string {
	switch {
	case x.Shard == "":
		return "before " + answer.FullInstant(x.To)
	case x.To.Equal(o.To):
		return "for " + format.Span(x.To.Sub(x.From)) + ", known since " + answer.FullInstant(x.From)
	}
	return "for " + format.Span(x.To.Sub(x.From)) + ", until " + answer.FullInstant(x.To)
}

// marksText says what the lines on the strip are.
func marksText(o api.ChunkOwners) string {
	n := len(o.Marks)
	return format.Count(int64(n)) + message.Plural(n, " split or merge of its range is drawn as a line.",
		" splits and merges of its range are drawn as lines.") + " The strip shows the shard that had the first key of this chunk."
}

func ownersLabel(o api.ChunkOwners) string {
	parts := make([]string, len(o.Spans))
	for i, x := range o.Spans {
		parts[i] = ownerText(x)
	}
	return "Owners: " + strings.Join(parts, "; ")
}

// rankText is the chunk's place by size among those around it.
func rankText(a api.ChunkAround) string {
	n := len(a.Neighbours)
	switch {
	case a.Rank == 0:
		return "Its size is not known."
	case n == 1:
		return "It is the only chunk."
	}
	same := 0
	for _, x := range a.Neighbours {
		if own := self(a); x.Bytes.Value != nil && own != nil && *x.Bytes.Value == *own {
			same++
		}
	}
	text := fmt.Sprintf("By data it is number %d of the %d chunks around it", a.Rank, n)
	if same > 1 {
		text += fmt.Sprintf("; %d of them have the same estimate", same)
	}
	return text + "."
}

func self(a api.ChunkAround) *int64 {
	for _, x := range a.Neighbours {
		if x.Self {
			return x.Bytes.Value
		}
	}
	return nil
}

// height is how tall a neighbour's bar is, 0 to 1; negative if its size is not known.
func height(a api.ChunkAround, x api.ChunkNeighbour) float64 {
	var most int64 = 1
	for _, n := range a.Neighbours {
		if n.Bytes.Value != nil {
			most = max(most, *n.Bytes.Value)
		}
	}
	if x.Bytes.Value == nil {
		return -1
	}
	return math.Max(float64(*x.Bytes.Value)/float64(most), 0.02)
}

// curve is the rates as SVG path data in a box of curveWidth by curveHigh; gaps where nothing was counted.
const (
	curveWidth = 600.0
	curveHigh  = 60.0
)

func curve(rates []*float64) (path string, top float64) {
	for _, x := range rates {
		if x != nil {
			top = math.Max(top, *x)
		}
	}
	scale := top
	if scale <= 0 {
		scale = 1
	}
	var b strings.Builder
	pen := false
	for i, x := range rates {
		if x == nil {
			pen = false
			continue
		}
		at, y := float64(i)/float64(len(rates)), templates.Units(1-*x/scale*0.94, curveHigh-1)
		if pen {
			b.WriteString("V" + y)
		} else {
			b.WriteString("M" + templates.Units(at, curveWidth) + " " + y)
		}
		b.WriteString("H" + templates.Units(float64(i+1)/float64(len(rates)), curveWidth))
		pen = true
	}
	return b.String(), top
}

func curveLabel(w api.ChunkWriteCurve) string {
	_, top := curve(w.Rates)
	text := "Writes per second from " + format.Clock(*w.From) + " to " + format.Clock(*w.To) + ": at most " + format.PerSecond(top)
	if last := w.Rates[len(w.Rates)-1]; last != nil {
		text += ", last " + format.PerSecond(*last)
	}
	return text
}

// curveNote says what the curve is of.
func curveNote(w api.ChunkWriteCurve) string {
	var parts []string
	if w.Chunks > 1 {
		parts = append(parts, "The recorded picture holds "+format.Count(int64(w.Chunks))+
			" neighbouring chunks in one row, so this is what they took together.")
	}
	if w.AtLeast {
		parts = append(parts, "Only rows of the hottest projects are counted.")
	}
	return strings.Join(parts, " ")
}

// projectsTitle heads the list of projects.
func projectsTitle(a api.ChunkAround) string {
	n := len(a.Projects) + a.MoreProjects
	count := format.Count(int64(n)) + message.Plural(n, " project", " projects")
	if a.ProjectsBy == "writes" {
		return count + " wrote to it in " + a.Last
	}
	return "Keys of " + count
}

func chunkProjectName(p api.ChunkProject) string {
	if p.Name == "" {
		return p.ID
	}
	return p.Name
}

// neighbourTitle is a chunk beside it in words: number, shard, size and writes.
func neighbourTitle(x api.ChunkNeighbour) string {
	text := "Chunk " + format.Count(int64(x.Number)) + " on " + x.Shard + ", " + answer.ApproxText(x.Bytes, format.Bytes)
	if x.WritesPerSecond != nil {
		text += ", " + format.PerSecond(*x.WritesPerSecond) + " writes/s"
	}
	return text
}
