package logbook

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/history"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// Bounds of the list of migrations under way on a page: the overview shows the
// oldest, the activity page all that a large cluster can have.
const (
	FlightsBrief  = 6
	FlightsListed = 100
)

// InFlight lists the migrations under way, the oldest first; an empty namespace
// or shard stands for all.
func InFlight(v answer.View, ns topology.Namespace, shard string) (api.List[api.InFlight], error) {
	var out api.List[api.InFlight]
	if err := answer.CheckRead(v, topology.PartMoves, "Migrations"); err != nil {
		return out, err
	}
	var list []topology.InFlight
	for _, x := range v.Table.Moves.List {
		if (ns == "" || x.NS == ns) && (shard == "" || x.From == shard || x.To == shard) {
			list = append(list, x)
		}
	}
	out.Items = InFlightOf(v, list)
	out.AsOf, out.Stale = answer.AsOf(v, topology.PartMoves)
	return out, nil
}

// InFlightOf are migrations under way; never nil. None are known of a past time:
// what moved then is in the changelog.
func InFlightOf(v answer.View, list []topology.InFlight) []api.InFlight {
	if v.Past != nil {
		return []api.InFlight{}
	}
	runs := requestingRuns(v, list)
	return answer.Map(list, func(x topology.InFlight) api.InFlight { return flightOf(v, x, runs) })
}

// MovingNow is such a list on a page, with at most so many items and why there are none.
func MovingNow(v answer.View, list []topology.InFlight, most int) api.MovingNow {
	var out api.MovingNow
	var notes []string
	if v.Past != nil {
		return out
	}
	h := v.Table.Health[topology.PartMoves]
	if !h.At.IsZero() || h.Err != nil {
		out.State = answer.PartState(v, topology.PartMoves)
	}
	switch {
	case len(list) == 0 && h.At.IsZero():
		out.None = "It is not known yet whether anything is moving."
	case len(list) == 0:
		out.None = "Nothing is moving."
	}
	if copied := copiedWhole(v.Table); len(copied) > 0 {
		if out.None != "" {
			out.None = "No chunk is moving."
		}
		notes = append(notes, format.JoinWords(copied)+message.Plural(len(copied), " is", " are")+
			" being resharded or moved as a whole: all the data is copied first, then it changes its place at once.")
	}
	if p := v.Table.Moves.ListPrivilege; p != "" && len(list) > 0 {
		notes = append(notes, "Found in the changelog, which never logs the end of a move whose donor failed over.",
			"Reading the list of moves is not permitted: it needs "+p+".")
	}
	out.Note = strings.Join(notes, " ")
	shown := min(len(list), most)
	out.Items, out.More = InFlightOf(v, list[:shown]), len(list)-shown
	return out
}

// copiedWhole are the collections that are resharded now, or moved or brought to one shard, which is done likewise.
func copiedWhole(t *topology.Table) (names []string) {
	for _, c := range t.Collections {
		if c.Resharding && !c.Temporary {
			names = append(names, string(c.NS))
		}
	}
	return names
}

func flightOf(v answer.View, x topology.InFlight, runs []history.OurRun) api.InFlight {
	m := v.Table.Moves
	out := api.InFlight{NS: string(x.NS), Min: v.DocumentOf(x.Min), Max: v.DocumentOf(x.Max), From: x.From, To: x.To,
		Since: x.Since.UTC(), AtLeast: x.AtLeast, Arrived: x.Arrived(v.Table), WaitForDelete: x.Wait, FromChangelog: m.FromLog,
		Step: x.Step, Steps: x.Steps, StepInferred: x.StepInferred, RecipientStep: x.RecipientStep, RecipientSteps: x.RecipientSteps,
		StepsReason: m.StepsReason, Privilege: m.StepsPrivilege,
		Copied: answer.FigureOf(x.Copied), Estimate: answer.FigureOf(x.Estimate),
		Key: fmt.Sprintf("f%s-%d", v.NameOf(x.Min), x.Since.UnixMilli())}
	out.By, out.App, out.Run = requesterOf(x, runs)
	out.Range = api.RangeShown{Min: answer.BoundDocumentText(v.Table, x.NS, x.Min), Max: answer.BoundDocumentText(v.Table, x.NS, x.Max)}
	out.Range.From, out.Range.Until = v.ProjectsOfRange(x.NS, x.Min, x.Max)
	out.KeyProject = out.Range.From
	if c := v.Table.Collection(x.NS); c != nil {
		if from, to := x.Positions(c); from < to {
			min := c.Chunks.At(from).Min
			out.Ref = answer.ChunkRef(c, min)
			out.Range.URL, out.Range.Chunk = cmp.Or(answer.ChunkURL(x.NS, out.Ref), answer.CollectionURL(x.NS)), answer.ChunkName(c, min)
		}
	}
	if x.Left.Known {
		seconds := int64(x.Left.For.Seconds())
		out.Left.Seconds = &seconds
	} else {
		out.Left.Reason = x.Left.Reason
	}
	describeFlight(&out, x)
	return out
}

// inFlight tells whether a migration of the changelog is among those under way.
func inFlight(v answer.View, m history.Migration) bool {
	if v.Past != nil {
		return false
	}
	for _, x := range v.Table.MovingOf(m.NS) {
		if x.To == m.To && bytes.Equal(x.Min, m.Min) {
			return true
		}
	}
	return false
}

// flightsKnown tells whether the list of migrations under way was read well.
func flightsKnown(v answer.View) bool {
	return v.Past == nil && !v.Table.Stale(topology.PartMoves, v.Now)
}

// endLogged is how long after a migration has left the list its end may still be
// missing in the entries that were read.
const endLogged = 15 * time.Second

// settleFlights corrects migrations that run by the changelog but have left the
// list of those under way: their donor never logged the end. The routing table
// proves one that succeeded.
func settleFlights(v answer.View, list []history.Migration) []history.Migration {
	if !flightsKnown(v) {
		return list
	}
	for i := range list {
		m := &list[i]
		if m.Outcome != history.Running || v.Now.Sub(m.Begin) < endLogged || inFlight(v, *m) {
			continue
		}
		m.Outcome, m.ETA = history.Unclear, nil
		if (topology.InFlight{NS: m.NS, Min: m.Min, Max: m.Max, To: m.To}).Arrived(v.Table) {
			m.Outcome = history.Done
		}
	}
	return list
}
