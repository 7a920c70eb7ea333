package activity

import (
	"strconv"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/web/templates"
)

// The picture's units: what has not failed stands on the line, what has failed hangs from it.
const (
	pictureWide = 1000
	aboveLine   = 44
	belowLine   = 22
)

// bar is a part of the picture; without address there is nothing in it.
type bar struct {
	api.ActivityBar
	x, wide        string
	other, failed  string // heights
	top            string // of other
	address, title string
	key            string
}

// histogram is the picture of the counts, and what it says in words.
type histogram struct {
	bars        []bar
	from, to    string
	begin, wide int64 // ms: of the first bar, and of each
	summary     string
	most        string // what the highest bar stands for
}

// shape is a rectangle of the bar from a height down, as path data.
func (b bar) shape(top, high string) string {
	return "M" + b.x + " " + top + "h" + b.wide + "v" + high + "h-" + b.wide + "z"
}

func (m page) histogram() histogram {
	list := m.counts.Bars
	if len(list) == 0 {
		return histogram{}
	}
	first, last := list[0], list[len(list)-1]
	out := histogram{from: answer.FullInstant(first.From), to: answer.FullInstant(last.To),
		begin: first.From.UnixMilli(), wide: first.To.Sub(first.From).Milliseconds()}
	mostOther, mostFailed := 1, 1
	for _, b := range list {
		mostOther, mostFailed = max(mostOther, b.Other), max(mostFailed, b.Failed)
	}
	unit := min(aboveLine/float64(mostOther), belowLine/float64(mostFailed))
	wide := pictureWide / float64(len(list))
	for i, b := range list {
		x := bar{ActivityBar: b, x: templates.Trim(float64(i) * wide), wide: templates.Trim(wide * 0.86),
			key: "bar-" + strconv.FormatInt(b.From.UnixMilli(), 10)}
		high, low := height(b.Other, unit), height(b.Failed, unit)
		x.other, x.top, x.failed = templates.Trim(high), templates.Trim(aboveLine-high), templates.Trim(low)
		if b.Other+b.Failed > 0 {
			x.address, x.title = m.within(b.From, b.To), barTitle(b)
		}
		out.bars = append(out.bars, x)
	}
	if !m.query.To.IsZero() && last.To.After(m.query.To) {
		out.to = answer.FullInstant(m.query.To)
	} else if last.To.After(m.view.Now) {
		out.to = answer.FullInstant(m.view.Now)
	}
	out.most = message.Plural(mostOther, "1 entry", format.Count(int64(mostOther))+" entries")
	out.summary = m.totals() + " from " + out.from + " to " + out.to
	return out
}

// height of a bar; what is there is seen.
func height(n int, unit float64) float64 {
	if n == 0 {
		return 0
	}
	return max(float64(n)*unit, 2)
}

// within is the page of a part of its time: a bar at the edge can reach beyond what is asked for.
func (m page) within(from, to time.Time) string {
	q := m.query
	if from.Before(q.From) {
		from = q.From
	}
	if !q.To.IsZero() && to.After(q.To) {
		to = q.To
	}
	q.LogTime = logbook.LogTime{From: from, To: to}
	return q.URL(0)
}

func barTitle(b api.ActivityBar) string {
	n := b.Other + b.Failed
	text := message.Plural(n, "1 entry", format.Count(int64(n))+" entries")
	if b.Failed > 0 {
		text += ", " + format.Count(int64(b.Failed)) + " failed"
	}
	layout := "2 Jan 15:04"
	return text + ", " + b.From.UTC().Format(layout) + " to " + b.To.UTC().Format(layout) + " UTC"
}

// totals is how many entries there are and have failed.
func (m page) totals() string {
	n := m.counts.Total
	text := message.Plural(n, "1 entry", format.Count(int64(n))+" entries")
	if !m.counts.Until.IsZero() {
		text = "At least " + text
	}
	if m.counts.Failed > 0 {
		return text + ", " + format.Count(int64(m.counts.Failed)) + " failed"
	}
	return text + ", none failed"
}

// limits say what is not listed or not known of the time that is asked for.
func (m page) limits() []string {
	var out []string
	c := m.counts
	switch {
	case !c.Until.IsZero():
		out = append(out, "Searched and counted back to "+answer.FullInstant(c.Until)+". Choose a shorter time to see what was before.")
	case c.Total > c.Listed:
		out = append(out, "The newest "+format.Count(int64(c.Listed))+" of "+format.Count(int64(c.Total))+
			" entries are listed. Choose a bar to list the others.")
	}
	if !c.Since.IsZero() {
		out = append(out, "Entries before "+answer.FullInstant(c.Since)+" are not known.")
	}
	return out
}

// presets are the spans of time that end now.
func (m page) presets() []templates.TimeSpan {
	q := m.query
	q.Page, q.LogTime = 0, logbook.LogTime{}
	out := []templates.TimeSpan{{Text: "Newest", URL: q.URL(0), Current: !m.query.Timed()}}
	for _, s := range logbook.LogSpans {
		q.Last = s.Code
		out = append(out, templates.TimeSpan{Text: s.Text, URL: q.URL(0), Current: m.query.Last == s.Code})
	}
	return out
}
