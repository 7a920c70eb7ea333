package actions

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/auth"
	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// The two ways of a pin: our own splits and moves, or zones alone and the
// balancer does the rest.
const (
	ModeMoves    = "moves"
	ModeBalancer = "balancer"
)

// draftBuilder collects what makes a draft: the steps planned so far, and what the
// cluster will be like after them.
type draftBuilder struct {
	s         Situation
	a         Args
	kind      Kind
	about     Description          // of the kind
	c         *topology.Collection // that the arguments name, where the kind takes one
	steps     []Step
	futures   map[topology.Namespace]*futureChunks
	shards    []topology.Shard // with the zones that they will have
	zones     map[topology.Namespace][]topology.ZoneRange
	moves     []transfer
	cuts      int // chunks that are split or merged
	stays     []message.Message
	checks    []Check
	ids       map[string][]bson.ObjectID // of projects, by database
	looked    []Span
	written   []Span
	writes    []WriteEffect
	measures  []Span
	undoing   bool
	receivers []string // shards that the goal may bring chunks to, beside those of the moves
	reached   bool     // what the plan is for is so already
	paused    bool     // balancing is switched off while the steps run
	// continuing: this is the rest of a confirmed plan, which may have few steps or none.
	continuing bool
	err        error
}

// transfer is a range that goes from one shard to another, as one or several chunks.
type transfer struct {
	k        *futureChunks
	lo, hi   shardkey.Key
	from, to string
	chunks   int
	jumbo    bool
	awaited  bool // the balancer moves it, not a command
}

// newDraft begins the draft of a change.
func newDraft(s Situation, about Description, a Args) *draftBuilder {
	d := &draftBuilder{s: s, a: a, kind: about.Kind, about: about, futures: map[topology.Namespace]*futureChunks{},
		zones: map[topology.Namespace][]topology.ZoneRange{}, ids: map[string][]bson.ObjectID{}}
	d.shards = slices.Clone(s.Table.Shards)
	for i := range d.shards {
		d.shards[i].Zones = slices.Clone(d.shards[i].Zones)
	}
	return d
}

// future is what the steps make of a collection's chunks.
func (d *draftBuilder) future(c *topology.Collection) *futureChunks {
	k := d.futures[c.NS]
	if k == nil {
		k = newFutureChunks(c)
		d.futures[c.NS] = k
	}
	return k
}

// touched are the collections whose chunks the steps change, by namespace.
func (d *draftBuilder) touched() []*futureChunks {
	chunks := func(s Step) bool {
		return s.NS != "" && s.Op != OpSetRange && s.Op != OpRemoveRange && s.Op != OpBalancing
	}
	var out []*futureChunks
	for _, k := range d.futures {
		if slices.ContainsFunc(d.steps, func(s Step) bool { return chunks(s) && s.NS == k.c.NS }) {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, func(a, b *futureChunks) int { return byName(a.c, b.c) })
	return out
}

// namespaces are those of the steps, sorted.
func (d *draftBuilder) namespaces() []topology.Namespace {
	var out []topology.Namespace
	for _, s := range d.steps {
		if s.NS != "" {
			out = append(out, s.NS)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (d *draftBuilder) shard(name string) *topology.Shard {
	for i := range d.shards {
		if d.shards[i].Name == name {
			return &d.shards[i]
		}
	}
	return nil
}

// ranges are the zone ranges of a namespace as the steps leave them.
func (d *draftBuilder) ranges(ns topology.Namespace) []topology.ZoneRange {
	if z, ok := d.zones[ns]; ok {
		return z
	}
	return d.s.Table.ZonesOf(ns)
}

// zonesRead tells whether zone ranges have ever been read: they may be forbidden.
func (d *draftBuilder) zonesRead() bool {
	return len(d.s.Table.Zones) > 0 || !d.s.Table.Health[topology.PartZones].At.IsZero()
}

// doc is a bound as commands take it. Every bound is the table's or made of
// complete values, so an error is a defect; finish returns it.
func (d *draftBuilder) doc(c *topology.Collection, k shardkey.Key) bson.Raw {
	raw, err := c.Key.Document(k)
	if err != nil && d.err == nil {
		d.err = err
	}
	return raw
}

func (d *draftBuilder) step(s Step) { d.steps = append(d.steps, s) }

func (d *draftBuilder) check(c ...Check) { d.checks = append(d.checks, c...) }

// patient is how many moves a plan may have to wait for the clean-up after each.
// Waiting makes the donor delete at once instead of 15 minutes later, so that
// everything can be undone at once; it also keeps the donor busy, and queries
// that still read there are cut off, so wide plans leave it to the server.
const patient = 20

// listed is how many moves a plan lists one by one. Only the balancer can be asked
// for more; one plan could not undo as many.
const listed = 2000

// finish makes the draft, with its effect, the checks that every plan has, and
// its risk.
func (d *draftBuilder) finish(summary message.Message, undo Undo) (Draft, Args, error) {
	if d.err != nil {
		return Draft{}, Args{}, d.err
	}
	sent := 0
	for i := range d.steps {
		if s := &d.steps[i]; s.Op == OpMove || s.Op == OpMoveRange {
			sent++
		}
	}
	waits := sent <= patient
	for i := range d.steps {
		if s := &d.steps[i]; s.Op == OpMove || s.Op == OpMoveRange {
			s.Wait = waits
		}
	}
	if d.about.Gathers && !d.undoing {
		sortPinSteps(d.steps)
	}
	d.pause()
	out := Draft{Summary: summary, Steps: d.steps, Effect: d.effect(), Undo: undo, Role: auth.Operator, Looked: d.looked, Written: d.written}
	if out.Undo.Possible && len(d.moves) > 0 && (!waits || sent == 0) {
		out.Undo.From = d.cleanFrom(out.Effect.Duration)
	}
	if len(out.Effect.Moves) > listed {
		out.Effect.Moves = out.Effect.Moves[:listed]
		out.Undo = Undo{Text: message.New("tooMany",
			"The balancer would move {moves} ranges, too many for one plan to move back. Without the zones it "+
				"distributes the data evenly by itself.",
			message.Count("moves", len(d.moves)))}
	}
	d.always()
	out.Checks, out.Measures = d.checks, d.measures
	out.Limits, out.Reached = d.limits(out), d.reached
	out.Risk, out.Confirm = d.risk(out.Effect, out.Undo)
	return out, d.a, nil
}
