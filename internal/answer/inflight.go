package answer

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/engine"
	"shardboard/internal/api"
	"shardboard/internal/history"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// inFlightOf are migrations in the API's form; never nil. Of the past none are
// known: what moved then is in the changelog.
func InFlightOf(v View, list []topology.InFlight) []api.InFlight {
	out := []api.InFlight{}
	if v.Past != nil {
		return out
	}
	runs := FlightRuns(v, list)
	for _, x := range list {
		out = append(out, flightOf(v, x, runs))
	}
	return out
}

func flightOf(v View, x topology.InFlight, runs []history.OurRun) api.InFlight {
	m := v.Table.Moves
	out := api.InFlight{NS: string(x.NS), Min: v.document(x.Min), Max: v.document(x.Max), From: x.From, To: x.To,
		Since: x.Since.UTC(), AtLeast: x.AtLeast, Arrived: x.Arrived(v.Table), WaitForDelete: x.Wait, FromChangelog: m.FromLog,
		Step: x.Step, Steps: x.Steps, StepInferred: x.StepInferred, RecipientStep: x.RecipientStep, RecipientSteps: x.RecipientSteps,
		StepsReason: m.StepsReason, Privilege: m.StepsPrivilege,
		Copied: FigureOf(x.Copied), Estimate: FigureOf(x.Estimate)}
	out.By, out.App, out.Run = FlightAsker(x, runs)
	if c := v.Table.Collection(x.NS); c != nil {
		if from, to := x.Positions(c); from < to {
			out.Ref = ChunkRef(c, c.Chunks.At(from).Min)
		}
	}
	if x.Left.Known {
		seconds := int64(x.Left.For.Seconds())
		out.Left.Seconds = &seconds
	} else {
		out.Left.Reason = x.Left.Reason
	}
	return out
}

// placeRange is where a located thing is in its collection's key space: the key,
// with no upper bound, or the range of what is known of it. Zero where nothing
// is.
func PlaceRange(p placement.Place) shardkey.Range {
	if !p.Sharded || p.Exists == "absent" || p.Pattern.IsZero() {
		return shardkey.Range{}
	}
	if !p.Key.IsZero() {
		return shardkey.Range{Min: p.Key}
	}
	var values []bson.RawValue
	for _, f := range p.Pattern.Fields() {
		n := len(values)
		for _, m := range p.Match {
			if m.Field == f.Name {
				values = append(values, m.Value)
				break
			}
		}
		if len(values) == n {
			break
		}
	}
	if len(values) == 0 {
		return shardkey.Range{}
	}
	r, err := p.Pattern.PrefixRange(values...)
	if err != nil {
		return shardkey.Range{}
	}
	return r
}

// markMoving marks the places that a migration is moving.
func markMoving(v View, found []placement.Item, into []api.LocateItem) {
	if len(v.Table.Moves.List) == 0 {
		return
	}
	for i, it := range found {
		for n, p := range it.Places {
			if x := MovingIn(v, p.NS, PlaceRange(p)); x != nil && i < len(into) && n < len(into[i].Places) {
				into[i].Places[n].Moving = &api.MovingPlace{From: x.From, To: x.To, Since: x.Since.UTC(), Whole: !p.Key.IsZero()}
			}
		}
	}
}

// movingOfProject are the migrations of a project's own ranges: those of
// collections whose shard key begins with the project.
func MovingOfProject(v View, s placement.Spread) (out []topology.InFlight) {
	if v.Past != nil || len(v.Table.Moves.List) == 0 {
		return nil
	}
	for _, c := range s.Collections {
		coll := v.Table.Collection(c.NS)
		if c.Basis != placement.BasisKeyPrefix || coll == nil {
			continue
		}
		for _, x := range v.Table.MovingOf(c.NS) {
			from, to := x.Positions(coll)
			for _, ch := range c.Chunks {
				if i, _ := coll.Chunks.Find(ch.Min); from <= i && i < to {
					out = append(out, x)
					break
				}
			}
		}
	}
	return out
}

// Bounds of what moves on a page: the overview shows the oldest, the activity
// page all that a large cluster can have.
const (
	FlightsBrief  = 6
	FlightsListed = 100
	AppShown      = 60 // characters of the name that a program gave itself
)

// flightAsker is who asked for a migration: "run", "balancer", "client" or
// "unknown". A run of ours that fits counts more than what the donor shows: a
// program may give itself no name, as the balancer has none.
func FlightAsker(x topology.InFlight, runs []history.OurRun) (who, app, run string) {
	for _, r := range runs {
		if movesIt(r, x) {
			return "run", x.App, r.ID
		}
	}
	if x.By == "" {
		return "unknown", "", ""
	}
	return string(x.By), x.App, ""
}

// runSlack is how far the clocks of servers and ours may be apart.
const runSlack = 30 * time.Second

// movesIt tells whether a command of ours is what moves a range: its namespace,
// lower bound, recipient and time are the same.
func movesIt(r history.OurRun, x topology.InFlight) bool {
	return r.To != "" && r.NS == x.NS && r.To == x.To && bytes.Equal(r.Min, x.Min) &&
		!x.Since.Before(r.Start.Add(-runSlack)) && (r.End.IsZero() || !x.Since.After(r.End.Add(runSlack)))
}

// flightRuns are the commands of ours that migrations under way may be; none are
// looked up while nothing moves.
func FlightRuns(v View, list []topology.InFlight) []history.OurRun {
	if len(list) == 0 {
		return nil
	}
	if v.FlightRuns != nil {
		return v.FlightRuns()
	}
	return runsSince(v.OurRuns, list, v.Now)
}

func runsSince(runs func(from, to time.Time) []history.OurRun, list []topology.InFlight, now time.Time) []history.OurRun {
	oldest := now
	for _, x := range list {
		if x.Since.Before(oldest) {
			oldest = x.Since
		}
	}
	return runs(oldest.Add(-runSlack), now.Add(runSlack))
}

// flightMemo keeps the commands that were looked up for one table: each region
// that shows a migration is drawn from it, and the journal is read once.
type FlightMemo struct {
	mu    sync.Mutex
	table *topology.Table
	runs  []history.OurRun
}

func (m *FlightMemo) Of(v View) []history.OurRun {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.table != v.Table {
		m.table, m.runs = v.Table, runsSince(v.OurRuns, v.Table.Moves.List, v.Now)
	}
	return m.runs
}

// movingChunks are the chunks of a collection that a migration moves, by
// position, with where to. Those that have arrived are not on their way.
func MovingChunks(v View, c *topology.Collection) map[int]string {
	if v.Past != nil || c == nil {
		return nil
	}
	var out map[int]string
	for _, x := range v.Table.MovingOf(c.NS) {
		from, to := x.Positions(c)
		// A range is of one chunk; of more it can only be while the table is behind.
		for i := from; i < min(to, from+4); i++ {
			if c.Chunks.Owner(i) == x.To {
				continue
			}
			if out == nil {
				out = map[int]string{}
			}
			out[i] = x.To
		}
	}
	return out
}

// movingChunk are the migrations that concern the chunk at a position.
func MovingChunk(v View, c *topology.Collection, i int) (out []topology.InFlight) {
	if v.Past != nil {
		return nil
	}
	for _, x := range v.Table.MovingOf(c.NS) {
		if from, to := x.Positions(c); from <= i && i < to {
			out = append(out, x)
		}
	}
	return out
}

// movingIn is the migration that a range of a collection or a part of it is in,
// as long as it has not arrived; nil for none. A range of one key is empty and
// is in it where the key is.
func MovingIn(v View, ns topology.Namespace, r shardkey.Range) *topology.InFlight {
	c := v.Table.Collection(ns)
	if v.Past != nil || c == nil || r.Min.IsZero() {
		return nil
	}
	for _, x := range v.Table.MovingOf(ns) {
		lo, err := c.Key.Bound(x.Min)
		if err != nil || x.Arrived(v.Table) {
			continue
		}
		moves := shardkey.Range{Min: lo}
		if moves.Max, err = c.Key.Bound(x.Max); err != nil {
			_, ch := c.Chunks.Find(lo)
			moves.Max = ch.Max
		}
		if r.Max.IsZero() && moves.Contains(r.Min) || !r.Max.IsZero() && moves.Overlaps(r) {
			return &x
		}
	}
	return nil
}

// inFlight tells whether a migration of the changelog is among those under way.
func InFlight(v View, x history.Migration) bool {
	if v.Past != nil {
		return false
	}
	for _, m := range v.Table.MovingOf(x.NS) {
		if m.To == x.To && bytes.Equal(m.Min, x.Min) {
			return true
		}
	}
	return false
}

// movingStep is the migration that a step of a run has begun.
func MovingStep(v View, s engine.Step) (out []topology.InFlight) {
	if !s.State.Open() || s.Sent.IsZero() || !s.Migrates() {
		return nil
	}
	for _, x := range v.Table.MovingOf(s.NS) {
		if x.To == s.Shard && bytes.Equal(x.Min, s.Min) {
			out = append(out, x)
		}
	}
	return out
}

// describeMoving writes what a collection's page shows of migrations, for
// comparing: times of reads are left out, as nobody needs a page for them.
func DescribeMoving(w io.Writer, v View, ns topology.Namespace) {
	for _, x := range v.Table.MovingOf(ns) {
		fmt.Fprintf(w, " %x %q %q %d %v %d %d %q %q %v", x.Min, x.From, x.To, x.Since.UnixMilli(), x.Arrived(v.Table), x.Step, x.RecipientStep, x.By, x.App, x.Left)
		for _, f := range []topology.Figure{x.Copied, x.Estimate} {
			fmt.Fprintf(w, " %v %d %q", f.Known, f.Value, f.Reason)
		}
	}
	if len(v.Table.MovingOf(ns)) > 0 {
		fmt.Fprintf(w, " %q %v", v.Table.Moves.StepsReason, v.Table.Stale(topology.PartMoves, v.Now))
	}
}

// flightsKnown tells whether the list of migrations under way was read well.
func FlightsKnown(v View) bool {
	return v.Past == nil && !v.Table.Stale(topology.PartMoves, v.Now)
}

// endLogged is how long after a migration has gone from the list its end may
// still be missing in the entries that were read.
const endLogged = 15 * time.Second

// settleFlights takes from migrations of the changelog that they run, where the
// list of those under way has them no more: their donor never logged the end.
// The routing table proves one that went through.
func settleFlights(v View, list []history.Migration) []history.Migration {
	if !FlightsKnown(v) {
		return list
	}
	for i := range list {
		m := &list[i]
		if m.Outcome != history.Running || v.Now.Sub(m.Begin) < endLogged || InFlight(v, *m) {
			continue
		}
		m.Outcome, m.ETA = history.Unclear, nil
		if (topology.InFlight{NS: m.NS, Min: m.Min, Max: m.Max, To: m.To}).Arrived(v.Table) {
			m.Outcome = history.Done
		}
	}
	return list
}
