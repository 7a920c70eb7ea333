// Package writes answers where reads and writes go: by chunk, project, document and shard, and the pictures of them.
package writes

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/offering"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/heat"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/message"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// WindowParam is the parameter that chooses the time that figures of writes are of.
const WindowParam = "window"

// HeatSource is what counts writes, and which plans its answers may offer.
type HeatSource struct {
	Counts   *heat.Collector  // nil: writes are not counted
	Pictures *keyvis.Recorder // nil: no pictures are kept
	Plans    bool             // the reader may make plans
	Try      offering.TryPlan // nil: plans are listed without being tried
	Events   HeatEvents
}

// HeatListQuery is which writes a list is of; without a collection, those of all
// collections whose new rows are counted.
type HeatListQuery struct {
	NS     topology.Namespace
	Window time.Duration
	Begin  int // place of the first line, from 0
	Limit  int
}

// Parameters are those of the address of a list.
func (q *HeatListQuery) Parameters() param.List {
	return param.List{
		Window(&q.Window),
		param.Text(&q.NS, "ns", "one collection; without it the sum of those whose new rows are counted, or their chunks"),
		answer.Place(&q.Begin), param.Limit(&q.Limit),
	}
}

// WritesWindows are the times that the header of a page offers for the figures of writes.
func WritesWindows() []time.Duration {
	return []time.Duration{time.Minute, answer.DefaultWindow, 15 * time.Minute, time.Hour}
}

// ParseWindow reads ?window= alone.
func ParseWindow(q url.Values) (over time.Duration, err error) {
	err = param.List{Window(&over)}.Read(q)
	return over, err
}

// Window is the time before the newest count that figures of writes are of.
func Window(to *time.Duration) param.Param {
	*to = answer.DefaultWindow
	return param.Duration(to, WindowParam, heat.Shortest, heat.Longest, "the time before the newest count that figures of writes are of: "+
		"a Go duration from 10s to 24h; default 5m")
}

// HeatKind is what a list is of.
type HeatKind struct {
	lines func(v answer.View, h HeatSource, q HeatListQuery, windows []heat.Window) []api.Heat
	paged bool // the lines are those from the begin of the page on; others are all
}

// What there are lists of.
var (
	HotProjects  = HeatKind{lines: HeatProjects}
	HotDocuments = HeatKind{lines: HeatDocuments}
	HotChunks    = HeatKind{lines: HeatChunks, paged: true}
	HotShards    = HeatKind{lines: HeatShards}

	HotProjectShards = HeatKind{lines: HeatProjectShards}
)

// HeatList lists what is hot, hottest first.
func HeatList(v answer.View, h HeatSource, q HeatListQuery, of HeatKind) (api.HeatList, error) {
	if h.Counts == nil {
		return api.HeatList{}, fault.New(fault.Unavailable, "Writes are not counted here.")
	}
	windows, err := heatWindows(v, h, q)
	if err != nil {
		return api.HeatList{}, err
	}
	out := heatListTime(v, h, windows)
	out.Window = q.Window.String()
	out.Items = of.lines(v, h, q, windows)
	slices.SortStableFunc(out.Items, func(a, b api.Heat) int { return cmp.Compare(b.WritesPerSecond, a.WritesPerSecond) })
	if !of.paged {
		out.Items = out.Items[min(q.Begin, len(out.Items)):]
	}
	if len(out.Items) > q.Limit {
		out.Items, out.Next = out.Items[:q.Limit], answer.CursorOf(answer.ByPlace+strconv.Itoa(q.Begin+q.Limit))
	}
	for i := range out.Items {
		out.Items[i].Window = out.Window
	}
	return out, nil
}

// heatWindows are the window of one collection, or of all whose new rows are counted.
// Changed rows are counted for few projects only, so they are part of no sum.
func heatWindows(v answer.View, h HeatSource, q HeatListQuery) ([]heat.Window, error) {
	all, method := h.Counts.Counted(v.Table), heat.NewRows
	if q.NS != "" {
		c, known := heat.CoverageOf(v.Table, v.Profile, q.NS)
		if !known || c.Not != "" {
			return nil, writesNotCounted(v, c, known)
		}
		all, method = []topology.Namespace{q.NS}, c.Method
	}
	out := make([]heat.Window, 0, len(all))
	for _, ns := range all {
		w := h.Counts.Window(ns, q.Window)
		if w.Seconds == 0 {
			w.Method = method // an empty window has none
		}
		out = append(out, w)
	}
	return out, nil
}

// heatListTime says which time a list covers, or why none: an empty list alone does
// not tell whether nothing was written or nothing was counted.
func heatListTime(v answer.View, h HeatSource, windows []heat.Window) (out api.HeatList) {
	var from, to, asOf time.Time
	for i, w := range windows {
		health, _ := h.Counts.Health(w.NS)
		out.Stale = out.Stale || health.Err != nil || w.Seconds == 0 || v.Now.Sub(w.To) > heatStaleAfter(w.Method)
		if i == 0 || w.Seconds < out.CoveredSeconds {
			out.CoveredSeconds = w.Seconds
		}
		if w.Seconds == 0 {
			if out.Reason == "" {
				why := notCountedYet(w, health)
				out.Reason, out.Why = why.Code, why.String()
			}
			continue
		}
		if from.IsZero() || w.From.Before(from) {
			from = w.From
		}
		if w.To.After(to) {
			to = w.To
		}
		if asOf.IsZero() || w.To.Before(asOf) {
			asOf = w.To
		}
	}
	if len(windows) == 0 {
		out.Stale, out.Reason, out.Why = true, "noCollection", NoCountableTitle+". "+noCountableDetail
	}
	out.From, out.To, out.AsOf = api.Time(from), api.Time(to), api.Time(asOf)
	return out
}

const (
	// NoCountableTitle stands above a heat page without a picture.
	NoCountableTitle  = "No collection whose writes can be counted"
	noCountableDetail = "Writes can be counted where every write adds a row with a new ObjectID, " +
		"such as Yorkie's changes. A profile file can name others (writes: appended)."
)

// heatStaleAfter is the age at which a newer count is overdue.
func heatStaleAfter(m heat.Method) time.Duration {
	if m == heat.ChangedRows {
		return 2*keyvis.Finest + 3*heat.Tick
	}
	return 3 * heat.Tick
}

// notCountedYet is why nothing was counted of a collection.
func notCountedYet(w heat.Window, h heat.Health) message.Message {
	ns := message.Namespace("ns", w.NS)
	if h.Err == nil {
		return message.New("begun", "No writes to {ns} have been counted yet. {detail}", ns, message.Words("detail", firstCount(w.Method)))
	}
	pattern := "The writes to {ns} could not be counted. {error}"
	code := failedCountCode(h)
	if code == "denied" {
		pattern = "Counting the writes to {ns} is not permitted. {error}"
	}
	return message.New(code, pattern, ns, message.Words("error", fault.Text(h.Err)))
}

func failedCountCode(h heat.Health) string {
	if fault.Of(h.Err) == fault.Forbidden {
		return "denied"
	}
	return "failed"
}

// firstCount says when the first rates appear.
func firstCount(m heat.Method) string {
	if m == heat.ChangedRows {
		return "Changed rows are counted at the end of each minute; rates appear within two minutes."
	}
	return "The first 10 s are counted in a moment; rates appear then."
}

// writesNotCounted is why a collection that was asked for has no answer.
func writesNotCounted(v answer.View, c heat.Coverage, known bool) error {
	if !known {
		return noCollection(c.NS)
	}
	return fault.New(fault.NotFound, "The writes of %q are not counted: %s", sanitize.Truncate(string(c.NS), 200),
		v.Profile.Words(c.Not.Text()))
}

func noCollection(ns topology.Namespace) error {
	return fault.New(fault.NotFound, "There is no sharded collection %q. Names are database.collection.", sanitize.Truncate(string(ns), 200))
}

// First is at most n of a list.
func First[T any](all []T, n int) []T { return all[:min(len(all), n)] }
