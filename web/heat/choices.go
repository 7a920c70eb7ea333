package heat

import (
	"context"
	"fmt"
	"time"

	"shardboard/internal/answer/logbook"
	"shardboard/internal/answer/writes"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/message"
	"shardboard/web/templates"
)

// page is what the page shows, and how it names shards and links what it names.
type page struct {
	writes.HeatReport
	shards templates.Refs
	names  []string // of the shards
	say    templates.Sentences
	// incidents are the open problems of writes, of all collections.
	incidents []api.Incident
	mayPlan   bool
	// allShards leads to all shards where only the hottest are listed.
	allShards string
}

// collections are the choices of those that are counted by one method.
func (m page) collections(method heat.Method) (out []templates.Option) {
	for _, c := range m.Coverage {
		if c.Not == "" && c.Method == method {
			out = append(out, templates.Option{Value: string(c.NS), Text: string(c.NS), Selected: c.NS == m.Query.NS})
		}
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
	list = writes.First(list, shownUncounted)
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

func (m page) windows() []templates.Option { return lasting(writes.HeatWindows(), m.Query.Window) }

func (m page) spans() (out []templates.Option) {
	for _, s := range logbook.LogSpans {
		out = append(out, templates.Option{Value: s.Code, Text: "last " + format.Span(s.Long), Selected: s.Long == m.Query.Span})
	}
	return out
}

// lasting are the choices of a duration.
func lasting(all []time.Duration, chosen time.Duration) (out []templates.Option) {
	for _, d := range all {
		out = append(out, templates.Option{Value: writes.ShortDuration(d), Text: "last " + format.Span(d), Selected: d == chosen})
	}
	return out
}

func (m page) rows(ctx context.Context) (out []templates.Option) {
	for _, by := range []keyvis.By{keyvis.ByKey, keyvis.ByProject} {
		out = append(out, templates.Option{Value: string(by), Text: templates.Words(ctx, rowsName(by)), Selected: by == m.Query.By})
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
func spanStart(d time.Duration) string { return "-" + writes.ShortDuration(d) }

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
	changedPicture = "Rows changed in place are counted once a minute, for the %d hottest projects only: a cell is a lower bound, " +
		"and an empty one is not known."
	pictureLabel = "Heat map of writes, %s by time. Arrow keys move the cell cursor, with Shift they select a part, Enter shows " +
		"what is in it, plus and minus zoom, 0 shows the whole picture."
	pictureHelp = "Drag to select a part and see what helps; arrow keys move the cell, with Shift they select, Enter shows what is in it, " +
		"+ and − zoom."
	touchHelp  = "Tap a cell, or drag sideways over several, to see what is in it and what helps."
	legendText = "Left edge: the shard then. Right edge: the shard now. Then is the oldest changelog entry, if that is later."
)

func chunkName(c api.Heat) string {
	return fmt.Sprintf("Chunk %s of %s", format.Count(int64(c.Number)), format.Count(int64(c.Of)))
}
