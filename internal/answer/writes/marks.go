package writes

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/alert"
	"shardboard/internal/answer"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/history"
	"shardboard/internal/topology"
)

// HeatEvents is where the marks of a picture come from, beside the changelog of the table.
type HeatEvents struct {
	Runs   engine.Service      // nil: nothing can be changed, so there are no runs
	Alerts func() alert.Status // nil: there are no alert receivers
	Kept   *history.Past       // nil: nothing older than the changelog of the table is known
}

// Version changes with the runs and alerts; the changelog changes with the table.
func (s HeatEvents) Version(ctx context.Context) string {
	var runs, alerts uint64
	if s.Runs != nil {
		newest, _, _ := s.Runs.Runs(ctx, "", 20)
		for _, r := range newest {
			runs += r.Seq
		}
	}
	if s.Alerts != nil {
		for _, a := range s.Alerts().Alerts {
			alerts += uint64(a.Fired.Unix())
		}
	}
	return strconv.FormatUint(runs, 36) + "." + strconv.FormatUint(alerts, 36)
}

const (
	// markSpans is into how many parts of its time a picture is divided for its marks: those of a kind in
	// one part are one mark.
	markSpans = 30
	// partsOfMark and partsOfMarks are how many single things one mark and all marks of a picture have at most.
	partsOfMark, partsOfMarks = 100, 600
	// runsMarked is how many of the newest runs are looked through.
	runsMarked = 200
)

// heatMarks are what happened to a collection in [from, to), oldest first. Runs that cannot be read are left
// out: the picture is worth showing without them.
func heatMarks(
	ctx context.Context, v answer.View, source HeatEvents, log HeatLog, ns topology.Namespace, from, to time.Time,
) []api.HeatMark {
	all := changelogMarks(v, log.Events, ns, from, to)
	all = append(all, runMarks(ctx, v, source.Runs, ns, from, to)...)
	if source.Alerts != nil {
		all = append(all, alertMarks(source.Alerts(), from, to)...)
	}
	return groupMarks(all, ns, from, to)
}

// changelogMarks are the moves, splits and merges in the changelog. Each leads to the chunk that has the lower bound
// of its range now; where that is not known or not shown, to its entry.
func changelogMarks(v answer.View, events []topology.Event, ns topology.Namespace, from, to time.Time) (out []api.HeatMark) {
	for _, e := range events { // newest first
		if e.Time.Before(from) {
			continue
		}
		if !e.Time.Before(to) {
			continue
		}
		x := logbook.ReadEvent(e)
		kind := x.Kind()
		if !x.Outcome() || kind != "move" && kind != "split" && kind != "merge" {
			continue
		}
		m := api.HeatMark{At: e.Time.UTC(), Kind: kind, Count: 1, Text: x.Line(), Failed: x.Failed}
		if m.URL = api.Address(markedChunk(v, ns, x)); m.URL == "" {
			m.URL = api.Address(MarkedEntries(ns, m))
		}
		out = append(out, m)
	}
	return out
}

// markedChunk is the page of the chunk that has the lower bound of an entry's range; "" if there is none.
func markedChunk(v answer.View, ns topology.Namespace, x logbook.Event) string {
	c := v.Table.Collection(ns)
	if c == nil || answer.MayNameChunks(v) != nil || v.Table.Hiding() != nil {
		return ""
	}
	lower := x.Min
	if before, ok := x.Details.Lookup("before").DocumentOK(); ok && len(lower) == 0 {
		lower = topology.DocumentField(before, "min") // of a split
	}
	_, url := answer.ChunkOfBound(c, lower)
	return url
}

// MarkedEntries is the part of the changelog that a mark stands for, in whole minutes.
func MarkedEntries(ns topology.Namespace, m api.HeatMark) string {
	end := m.At
	if m.To != nil {
		end = *m.To
	}
	return logbook.ActivityQuery{Kind: m.Kind, NS: string(ns),
		LogTime: logbook.LogTime{From: m.At.UTC().Truncate(time.Minute), To: logbook.WholeMinute(end.UTC().Add(1))}}.URL(1)
}

// runMarks are the runs that sent commands about a collection.
func runMarks(ctx context.Context, v answer.View, kept engine.Service, ns topology.Namespace, from, to time.Time) (out []api.HeatMark) {
	if kept == nil {
		return nil
	}
	runs, _, err := kept.Runs(ctx, "", runsMarked)
	if err != nil {
		return nil
	}
	for _, r := range runs {
		if r.Started.IsZero() || !r.Started.Before(to) || !r.Ended.IsZero() && r.Ended.Before(from) || !runTouches(r, ns) {
			continue
		}
		r = v.Run(r)
		out = append(out, api.HeatMark{At: LaterOf(r.Started.UTC(), from), To: api.Time(r.Ended), Kind: "run", Count: 1,
			Text: "Run: " + r.Summary.String() + " (" + r.State.Label() + ")", Failed: r.State == engine.Failed, URL: api.Address("/runs/" + r.ID)})
	}
	return out
}

// runTouches tells that a step of a run is about a collection.
func runTouches(r engine.Run, ns topology.Namespace) bool {
	return r.Args.NS == ns || slices.ContainsFunc(r.Steps, func(s engine.Step) bool { return s.NS == ns })
}

// LaterOf is the later of two times.
func LaterOf(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// alertMarks are the alerts of the cluster that were sent.
func alertMarks(st alert.Status, from, to time.Time) (out []api.HeatMark) {
	for _, a := range st.Alerts {
		if a.Fired.IsZero() || a.Fired.Before(from) || !a.Fired.Before(to) {
			continue
		}
		out = append(out, api.HeatMark{At: a.Fired.UTC(), Kind: "alert", Count: 1, Text: "Alert: " + a.Title, URL: "/alerts"})
	}
	return out
}

// groupMarks makes one mark of those of a kind in the same part of the time. One mark leads to one thing, so a
// group leads to the list of them.
func groupMarks(all []api.HeatMark, ns topology.Namespace, from, to time.Time) []api.HeatMark {
	out := []api.HeatMark{}
	slices.SortStableFunc(all, func(a, b api.HeatMark) int { return a.At.Compare(b.At) })
	width := max(to.Sub(from)/markSpans, time.Second)
	open := map[string]int{} // kind → its newest mark
	for _, m := range all {
		i, known := open[m.Kind]
		if !known || m.At.Sub(from)/width != out[i].At.Sub(from)/width {
			open[m.Kind] = len(out)
			out = append(out, m)
			continue
		}
		g := &out[i]
		if g.Count++; g.Count == 2 {
			g.Parts = []api.HeatMarkPart{partOfMark(*g)}
		}
		g.Parts = append(g.Parts, partOfMark(m))
		g.Failed = g.Failed || m.Failed
		end := m.At
		if m.To != nil {
			end = *m.To
		}
		g.To = &end
		switch m.Kind {
		case "run":
			g.URL = "/runs"
		case "alert":
			g.URL = "/alerts"
		default:
			g.URL = api.Address(MarkedEntries(ns, *g))
		}
		g.Text = markGroupText(*g)
	}
	dropParts(out)
	return out
}

func partOfMark(m api.HeatMark) api.HeatMarkPart {
	return api.HeatMarkPart{At: m.At, To: m.To, Text: m.Text, URL: m.URL, Failed: m.Failed}
}

// dropParts leaves out what is too much: of marks with too many parts, and of the oldest marks.
func dropParts(marks []api.HeatMark) {
	left := partsOfMarks
	for i := range slices.Backward(marks) {
		m := &marks[i]
		if len(m.Parts) > min(partsOfMark, left) {
			m.Parts = nil
		}
		left -= len(m.Parts)
	}
}

func markGroupText(m api.HeatMark) string {
	words := map[string]string{"move": "moves", "split": "splits", "merge": "merges", "run": "runs", "alert": "alerts"}
	text := format.Count(int64(m.Count)) + " " + words[m.Kind]
	if m.Failed {
		text += ", some failed"
	}
	return text
}

// MarkTime is a mark's time with what it marks, as a line of a list.
func MarkTime(m api.HeatMark) string {
	text := format.Clock(m.At)
	if m.To != nil && m.To.Sub(m.At) >= time.Second {
		text += "–" + strings.TrimSuffix(format.Clock(*m.To), "\u202fUTC")
	}
	return text
}
