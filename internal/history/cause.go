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

// By is who made something happen.
type By string

// Who it can be. ByBalancer is inferred unless the server says so; ByOther is
// somebody else's command, as far as the balancer could not have done it.
const (
	ByUnknown  By = "unknown"
	ByUs       By = "ours"
	ByBalancer By = "balancer"
	ByOther    By = "notOurs"
)

// Cause is who made something happen, and how that is known.
type Cause struct {
	By       By     // "" for what has no author
	Run      string // ours: the run's id
	Inferred bool
	Basis    string // catalogue code of how it is known
}

// OurRun is a command of one of our runs.
type OurRun struct {
	ID         string
	NS         topology.Namespace
	Min, Max   bson.Raw // bounds; nil: any
	From, To   string   // shards; "": any
	Start, End time.Time
	Error      string // what the command was answered when it failed; hostile
}

// slack is how far the clocks of servers and ours may be apart.
const slack = 30 * time.Second

// state is what of a time decides who it can have been.
type state struct {
	balancer  topology.Balancer
	balances  bool // the collection may be balanced
	knownColl bool
	rounds    topology.Rounds
}

// causeOf tells who it was. what is the kind of thing: "move", "split", "merge".
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
		// Writers split what they fill up to 5.0, zones are cut by the balancer, and
		// people split: the entry does not tell them apart.
		return Cause{By: ByUnknown, Basis: "anybody"}
	case !s.balancer.Known:
		return Cause{By: ByUnknown, Basis: "settings"}
	case !s.balancer.Enabled() || s.balancer.Mode == "autoSplitOnly":
		return Cause{By: ByOther, Inferred: true, Basis: "balancerOff"}
	case s.knownColl && !s.balances:
		return Cause{By: ByOther, Inferred: true, Basis: "collectionOff"}
	}
	return byRounds(i, s.rounds)
}

func (r OurRun) covers(i Item) bool {
	if r.NS != i.NS || i.At.Before(r.Start.Add(-slack)) || !r.End.IsZero() && i.At.After(r.End.Add(slack)) {
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

// kindOf is what a cause can be told of; "" for the rest.
func kindOf(i Item) string {
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

// Eras are the balancer's settings over a time, oldest first: each holds until
// the next one. The first is the one in which the time begins.
type Eras []era

type era struct {
	at    time.Time
	frame pastFrame
}

// Eras gives the settings of [from, to].
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

// NowEras are the settings of a table, for one who has no history: they are
// taken to have been so all the time.
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

// causes tells of each item who it was, by the settings of its time.
func (p *Past) causes(ctx context.Context, cluster string, items []Item, runs []OurRun, rounds topology.Rounds) error {
	if len(items) == 0 {
		return nil
	}
	eras, err := p.Eras(ctx, cluster, items[0].At, items[len(items)-1].At)
	if err != nil {
		return err
	}
	for n := range items {
		if what := kindOf(items[n]); what != "" {
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
