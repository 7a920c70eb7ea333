package shards

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/answer/param"
	"shardboard/internal/answer/shares"
	"shardboard/internal/answer/writes"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// partsListed is how many parts the pages list one by one; the CSV has more.
const partsListed = 12

// why is why a shard has more or less than its even share.
func why(s *site.Site, r *http.Request) (a api.ShardWhy, err error) {
	v, err := s.LoadedAt(r)
	if err != nil {
		return a, err
	}
	q, err := whyQuery(r)
	if err != nil {
		return a, err
	}
	return shares.ShardWhy(v, whySource(s, r, v), q)
}

func whyQuery(r *http.Request) (shares.ShardWhyQuery, error) {
	name, err := site.PathText(r, "name")
	if err != nil {
		return shares.ShardWhyQuery{}, err
	}
	q, err := param.Read[shares.ShardWhyQuery](r.URL.Query())
	q.Shard = name
	return q, err
}

// whySource is what counts writes, and which plans the reader may make.
func whySource(s *site.Site, r *http.Request, v answer.View) writes.HeatSource {
	h := writes.HeatSource{Counts: s.Deps.Measured.Heat, Plans: s.Offers(r, v.Table) != nil}
	if v.Past == nil {
		h.Try = s.Tries(v)
	}
	return h
}

// WhyPage answers "why is this shard fuller, or hotter?", level by level.
func WhyPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.LoadedAt(r)
	if err != nil {
		return err
	}
	q, err := whyQuery(r)
	if err != nil {
		return err
	}
	if !r.URL.Query().Has("limit") {
		q.Limit = partsListed
	}
	h := whySource(s, r, v)
	a, err := shares.ShardWhy(v, h, q)
	if err != nil {
		return err
	}
	m := whyView{ShardWhy: a, query: q, url: r.URL.RequestURI(), view: v, refs: templates.RefsOf(v.Table),
		fall: waterfallOf(a), plans: h.Plans}
	return site.WritePage(w, r, http.StatusOK, whyPage(s.Shell(r, v, "shards", "Why "+q.Shard, "shard:"+q.Shard), m))
}

// whyView is the answer as its page lays it out.
type whyView struct {
	api.ShardWhy
	query shares.ShardWhyQuery
	url   string
	view  answer.View
	refs  templates.Refs
	fall  waterfall
	plans bool
}

// choices lead to the same question of something else.
func (m whyView) choices() []templates.Option {
	names := []string{"Data", "Documents", "Writes"}
	var out []templates.Option
	for i, by := range []string{data.OfBytes, data.OfDocuments, data.OfWrites} {
		q := m.query.Of(by, m.query.NS, m.query.Project)
		out = append(out, templates.Option{Text: names[i], Value: q.URL(), Selected: by == m.query.By})
	}
	return out
}

// levelTitle heads the table.
func levelTitle(level string) string {
	switch level {
	case "projects":
		return "Project"
	case "chunks":
		return "Chunk"
	}
	return "Collection"
}

// waterfall is the way from the even share to what is on the shard, a step for each part.
type waterfall struct {
	by     string
	from   float64 // where the axis begins
	to     float64 // where it ends
	even   float64
	here   float64
	starts []float64 // of each part of which something is known
}

// waterfallOf places the steps on an axis that begins at 0 unless the steps were then too small to see.
func waterfallOf(a api.ShardWhy) waterfall {
	w := waterfall{by: a.By}
	if a.Here == nil || a.Even == nil {
		return w
	}
	w.even, w.here = *a.Even, *a.Here
	low, high, at := math.Min(w.even, w.here), math.Max(w.even, w.here), w.even
	for _, p := range a.Items {
		w.starts = append(w.starts, at)
		if p.Difference != nil {
			at += *p.Difference
		}
		low, high = math.Min(low, at), math.Max(high, at)
	}
	w.to = high
	if high > 0 && low > 0.5*high {
		w.from = math.Max(low-(high-low)*0.4, 0)
	}
	if w.to <= w.from {
		w.to = w.from + 1
	}
	return w
}

// place is where a value stands on the axis, 0 to 1.
func (w waterfall) place(x float64) float64 {
	return math.Max(0, math.Min(1, (x-w.from)/(w.to-w.from)))
}

// step is the bar of a part: where it begins and how long it is, on the axis.
func (w waterfall) step(i int, p api.ShardWhyPart) (from, width float64) {
	if p.Difference == nil {
		return 0, 0
	}
	a, b := w.place(w.starts[i]), w.place(w.starts[i]+*p.Difference)
	return math.Min(a, b), math.Max(math.Abs(b-a), 0.002)
}

// axis says where the axis begins; "" at 0.
func (w waterfall) axis() string {
	if w.from <= 0 {
		return ""
	}
	return "The bars begin at " + shares.AmountText(w.by, w.from) + ", not at 0."
}

// amount is a figure of a part; exact tells whether it is no estimate.
func amount(by string, x *float64, exact, atLeast bool) templates.Figure {
	if x == nil {
		return templates.Figure{Text: "unknown"}
	}
	out := templates.Figure{Known: true, Text: shares.AmountText(by, *x), Approx: !exact}
	if atLeast {
		out.Text, out.Approx = "≥ "+out.Text, false
	}
	return out
}

// hereOf is what a shard has of a part, with the range of an estimate.
func hereOf(by string, p api.ShardWhyPart) templates.Figure {
	out := amount(by, p.Here, p.Exact, p.AtLeast)
	if p.Low != nil && p.High != nil {
		out.Title = shares.AmountText(by, *p.Low) + " to " + shares.AmountText(by, *p.High)
		if p.ReadAt != nil {
			out.Title += ", rows read until " + format.Clock(*p.ReadAt)
		}
	}
	return out
}

// plusMinus is how far an estimate can be off; "" if it is none.
func plusMinus(by string, p api.ShardWhyPart) string {
	if p.Here == nil || p.Low == nil || p.High == nil {
		return ""
	}
	return "± " + shares.AmountText(by, math.Max(*p.High-*p.Here, *p.Here-*p.Low))
}

// signed is a difference with its sign.
func signed(by string, p api.ShardWhyPart) templates.Figure {
	if p.Difference == nil {
		return templates.Figure{Text: "unknown"}
	}
	x := *p.Difference
	sign := "+"
	switch {
	case x == 0:
		sign = "±"
	case x < 0:
		sign = "−"
	}
	out := templates.Figure{Known: true, Text: sign + shares.AmountText(by, math.Abs(x)), Approx: !p.Exact}
	if p.AtLeast {
		out.Title = "Not all writes were counted: the reading budget ended before the rows did."
	}
	return out
}

// stepTitle is a bar in words.
func stepTitle(by string, p api.ShardWhyPart) string {
	d := signed(by, p)
	if !d.Known {
		return p.Text
	}
	return p.Text + ": " + d.Text
}

// window says of which time writes are.
func (m whyView) window() string {
	if m.By != data.OfWrites || m.CoveredSeconds == 0 {
		return ""
	}
	return "Counted until " + format.Clock(m.AsOf) + ", over up to " + windowText(m.Window) + "."
}

// windowText is a window of the API for people.
func windowText(window string) string {
	d, err := time.ParseDuration(window)
	if err != nil {
		return window
	}
	return format.Span(d)
}

// asEven is the part of an even share that makes no difference.
const asEven = 0.02

// whyTitle is the question of the page. It claims a difference only where there is one and
// nothing is missing in it.
func whyTitle(m whyView) string {
	more, less, even := "Why is "+m.Shard+" fuller?", "Why is "+m.Shard+" emptier?", "What is on "+m.Shard+"?"
	switch {
	case m.NS != "":
		more, less, even = "Why does "+m.Shard+" have more of "+m.NS+"?", "Why does "+m.Shard+" have less of "+m.NS+"?",
			"What does "+m.Shard+" have of "+m.NS+"?"
	case m.By == data.OfWrites:
		more, less, even = "Why is "+m.Shard+" hotter?", "Why is "+m.Shard+" less busy?", "What is written on "+m.Shard+"?"
	}
	switch {
	case m.Difference == nil || m.Even != nil && math.Abs(*m.Difference) <= asEven*math.Abs(*m.Even): // not known, or its share
		return even
	case m.By != data.OfWrites && slices.ContainsFunc(m.Items, func(p api.ShardWhyPart) bool { return p.Kind == "unknown" }):
		return even
	case *m.Difference < 0:
		return less
	}
	return more
}

// several is what the answer is about where that is no project of its own.
func several(project string) string {
	switch project {
	case shares.SeveralProjects:
		return "chunks of several projects"
	case shares.AllProjects:
		return "by project"
	}
	return ""
}

// partKey is a part's row within the page. Bounds are in no key: they may be hidden.
func partKey(p api.ShardWhyPart) string {
	return p.Kind + ":" + p.NS + ":" + p.Project + ":" + strconv.Itoa(p.Number)
}
