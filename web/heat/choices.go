package heat

import (
	"fmt"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/message"
	"shardboard/web/templates"
)

// page is what the page shows, and how it names shards and links what it names.
type page struct {
	answer.HeatReport
	shards templates.Refs
	names  []string // of the shards
	say    templates.Sentences
}

// choice is one of a row of links.
type choice struct {
	text, url string
	current   bool
}

// collections are the links to the collections that are counted by one method; none
// where there is nothing to choose.
func (m page) collections(method heat.Method) (out []choice) {
	counted := 0
	for _, c := range m.Coverage {
		if c.Not != "" {
			continue
		}
		if counted++; c.Method == method {
			to := m.Query
			to.NS = c.NS
			out = append(out, choice{string(c.NS), to.URL(), c.NS == m.Query.NS})
		}
	}
	if counted < 2 {
		return nil
	}
	return out
}

// uncounted are the collections that are not counted, with the reason.
func (m page) uncounted() (list []uncounted, title string) {
	for _, c := range m.Coverage {
		if c.Not != "" {
			list = append(list, uncounted{string(c.NS), c.Not.Text()})
		}
	}
	n := len(list)
	list = answer.First(list, shownUncounted)
	if m.Query.Internal {
		n += len(m.Own)
		for _, ns := range m.Own {
			list = append(list, uncounted{string(ns), "writes of the server's own collections are not counted"})
		}
	}
	return list, format.Count(int64(n)) + message.Plural(n, " collection is not counted", " collections are not counted")
}

type uncounted struct{ ns, why string }

// shownUncounted limits the list: a cluster may have thousands of collections that no
// profile knows.
const shownUncounted = 100

func (m page) windows() (out []choice) {
	for _, d := range answer.HeatWindows() {
		to := m.Query
		to.Window = d
		out = append(out, choice{format.Span(d), to.URL(), d == m.Query.Window})
	}
	return out
}

func (m page) spans() (out []choice) {
	for _, d := range answer.HeatSpans() {
		to := m.Query
		to.Span = d
		out = append(out, choice{format.Span(d), to.URL() + "#heat-map", d == m.Query.Span})
	}
	return out
}

func (m page) rows() (out []choice) {
	for _, by := range []keyvis.By{keyvis.ByKey, keyvis.ByProject} {
		to := m.Query
		to.By = by
		out = append(out, choice{rowsName(by), to.URL() + "#heat-map", by == m.Query.By})
	}
	return out
}

func rowsName(by keyvis.By) string {
	if by == keyvis.ByProject {
		return "projects"
	}
	return "key ranges"
}

// spanStart is the begin of a span as the API takes it.
func spanStart(d time.Duration) string { return "-" + answer.ShortDuration(d) }

// rateUnit is the unit of a column of rates.
func (m page) rateUnit() string {
	if m.Changed {
		return "changed rows/s"
	}
	return "writes/s"
}

// about is how the picture writes a rate, which is known to a step of its scale only.
func (m page) about() string {
	if m.Changed {
		return "at least about {n} changed rows/s"
	}
	return "about {n} writes/s"
}

func (m page) caption() string {
	if m.Changed {
		return "changed rows/s, lower bounds, newest column first; – means not known"
	}
	return "writes/s, newest column first; – means not known"
}

const (
	newRowsTitle     = "every write adds a row: all rows are counted, by the time in their ids"
	changedRowsTitle = "rows are changed in place: those of the hottest projects are counted, by the date of their last change"
	changedPicture   = "Rows changed in place are counted once a minute, for the %d hottest projects only: a cell is a lower bound, " +
		"and an empty one is not known."
	pictureLabel = "Heat map of writes, %s by time. Arrow keys move the cell cursor, plus and minus zoom, Enter opens a row, " +
		"0 shows the whole picture."
	pictureHelp = "Drag to zoom in, Shift-drag to move; arrow keys move the cell, + and − zoom, Enter opens."
)

func chunkName(c api.Heat) string {
	return fmt.Sprintf("Chunk %s of %s", format.Count(int64(c.Number)), format.Count(int64(c.Of)))
}
