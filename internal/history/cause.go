package history

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// By is who caused something.
type By string

// Possible causes. ByBalancer is inferred unless the server says so; ByOther is somebody else's
// command, where the balancer can be excluded.
const (
	ByUnknown  By = "unknown"
	ByUs       By = "ours"
	ByBalancer By = "balancer"
	ByOther    By = "notOurs"
)

// Cause is who caused something and how that is known.
type Cause struct {
	By       By     // "" for items without a cause
	Run      string // id of our run
	Inferred bool
	Basis    string // catalogue code of the evidence
}

// OurRun is a command of one of shardboard's runs.
type OurRun struct {
	ID         string
	NS         topology.Namespace
	Min, Max   bson.Raw // bounds; nil: any
	From, To   string   // shards; "": any
	Start, End time.Time
	Error      string // the cluster's error answer; untrusted text
}

// maxClockSkew is the largest assumed difference between the clocks of servers and ours.
const maxClockSkew = 30 * time.Second

// state is the part of the settings at a time that decides who can have caused a change.
type state struct {
	balancer  topology.Balancer
	balances  bool // the collection may be balanced
	knownColl bool
	rounds    topology.Rounds
}

// causeOf decides who caused an item. what is its kind: "move", "split", "merge".
func causeOf(i Item, what string, runs []OurRun, s state) Cause {
	for _, r := range runs {
		if r.covers(i) {
			return Cause{By: ByUs, Run: r.ID, Basis: "run"}
		}
	}
	switch {
	case i.Event != nil && i.Event.What == "autoMerge":
		return Cause{By: ByBalancer, Basis: "automerge"}
	case what == "split", what == "merge":
		// Up to 5.0 writers split the chunks that they fill; the balancer splits at zone bounds,
		// and people split too. The entry does not distinguish them.
		return Cause{By: ByUnknown, Basis: "anybody"}
	case !s.balancer.Known:
		return Cause{By: ByUnknown, Basis: "settings"}
	case !s.balancer.Moves():
		return Cause{By: ByOther, Inferred: true, Basis: "balancerOff"}
	case s.knownColl && !s.balances:
		return Cause{By: ByOther, Inferred: true, Basis: "collectionOff"}
	}
	return byRounds(i, s.rounds)
}

func (r OurRun) covers(i Item) bool {
	if r.NS != i.NS || i.At.Before(r.Start.Add(-maxClockSkew)) || !r.End.IsZero() && i.At.After(r.End.Add(maxClockSkew)) {
		return false
	}
	if r.From != "" && i.From != "" && r.From != i.From || r.To != "" && i.To != "" && r.To != i.To {
		return false
	}
	lo, hi := i.RawMin, i.RawMax
	if lo == nil && !i.Key.IsZero() && !i.Min.IsZero() {
		lo, _ = i.Key.Document(i.Min)
		hi, _ = i.Key.Document(i.Max)
	}
	return (r.Min == nil || bytes.Equal(r.Min, lo)) && (r.Max == nil || bytes.Equal(r.Max, hi))
}

// causeKind is the kind of item that can have a cause; "" for the rest.
func causeKind(i Item) string {
	switch {
	case i.Kind == Moved:
		return "move"
	case i.Kind == Split:
		return "split"
	case i.Kind == Merged:
		return "merge"
	case i.Kind != Logged || i.Event == nil:
		return ""
	case strings.HasPrefix(i.Event.What, "moveChunk"):
		return "move"
	case i.Event.What == "split", i.Event.What == "multi-split":
		return "split"
	case i.Event.What == "merge", i.Event.What == "autoMerge":
		return "merge"
	}
	return ""
}

// Eras are the settings over a time span, oldest first. Each is in force until the next; the first
// one is in force at the begin.
type Eras []era

type era struct {
	at    time.Time
	frame pastFrame
}

// Eras returns the settings of [from, to].
func (p *Past) Eras(ctx context.Context, cluster string, from, to time.Time) (Eras, error) {
	entries, err := p.kept.HistoryOf(ctx, cluster, frameStream, from)
	if err != nil {
		return nil, err
	}
	more, _, err := p.entries(ctx, cluster, frameStream, from.Add(time.Millisecond), to.Add(time.Millisecond))
	if err != nil {
		return nil, err
	}
	var eras Eras
	for _, e := range slices.Concat(entries, more) {
		f, err := readFrame(e.Body)
		if err != nil {
			return nil, err
		}
		eras = append(eras, era{e.At, f})
	}
	return eras, nil
}

// NowEras are a table's current settings, assumed to have been in force all the time; for clusters
// without history.
func NowEras(t *topology.Table) Eras {
	f := pastFrame{table: t}
	for _, c := range t.Collections {
		f.metas = append(f.metas, c.Meta)
	}
	return Eras{{frame: f}}
}

func (e Eras) state(at time.Time, ns topology.Namespace) state {
	var s state
	for _, x := range e {
		if x.at.After(at) {
			break
		}
		s = x.frame.state(ns)
	}
	return s
}

// causes sets the cause of each item, by the settings at its time.
func (p *Past) causes(ctx context.Context, cluster string, items []Item, runs []OurRun, rounds topology.Rounds) error {
	if len(items) == 0 {
		return nil
	}
	eras, err := p.Eras(ctx, cluster, items[0].At, items[len(items)-1].At)
	if err != nil {
		return err
	}
	for n := range items {
		if what := causeKind(items[n]); what != "" {
			s := eras.state(items[n].At, items[n].NS)
			s.rounds = rounds
			items[n].Cause = causeOf(items[n], what, runs, s)
		}
	}
	return nil
}

func (f pastFrame) state(ns topology.Namespace) state {
	s := state{balancer: f.table.Balancer}
	m, ok := f.meta(ns)
	s.knownColl, s.balances = ok, !m.NoBalance && !m.MigrationsBlocked
	return s
}
