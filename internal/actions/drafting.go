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

// drafting is a draft in the making: the steps so far and what the cluster
// will be like after them.
type drafting struct {
	s         Situation
	a         Args
	kind      Kind
	steps     []Step
	sketches  map[topology.Namespace]*sketch
	shards    []topology.Shard // with the zones that they will have
	zones     map[topology.Namespace][]topology.ZoneRange
	moves     []transfer
	cuts      int // chunks that are cut or joined
	stays     []message.Message
	checks    []Check
	ids       map[string][]bson.ObjectID // of projects, by database
	looked    []Span
	written   []Span
	writes    []WriteEffect
	measures  []Span
	undoing   bool
	receivers []string // shards that the goal may bring chunks to, beside those of the moves
	reached   bool     // what is asked for is so already
	paused    bool     // balancing is switched off while the steps run
	// continuing: the rest of a plan that was confirmed. That little or nothing is
	// left is no objection.
	continuing bool
	err        error
}

// transfer is a range that goes from one shard to another, as one or several chunks.
type transfer struct {
	k        *sketch
	lo, hi   shardkey.Key
	from, to string
	chunks   int
	jumbo    bool
	awaited  bool // the balancer moves it, not a command
}

func draft(s Situation, kind Kind, a Args) *drafting {
	d := &drafting{s: s, a: a, kind: kind, sketches: map[topology.Namespace]*sketch{}, zones: map[topology.Namespace][]topology.ZoneRange{}, ids: map[string][]bson.ObjectID{}}
	d.shards = slices.Clone(s.Table.Shards)
	for i := range d.shards {
		d.shards[i].Zones = slices.Clone(d.shards[i].Zones)
	}
	return d
}

func (d *drafting) sketch(c *topology.Collection) *sketch {
	k := d.sketches[c.NS]
	if k == nil {
		k = sketchOf(c)
		d.sketches[c.NS] = k
	}
	return k
}

// touched are the sketches of the collections whose chunks the steps are about,
// by namespace.
func (d *drafting) touched() []*sketch {
	chunks := func(s Step) bool {
		return s.NS != "" && s.Op != OpSetRange && s.Op != OpRemoveRange && s.Op != OpBalancing
	}
	var out []*sketch
	for _, k := range d.sketches {
		if slices.ContainsFunc(d.steps, func(s Step) bool { return chunks(s) && s.NS == k.c.NS }) {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, func(a, b *sketch) int { return byName(a.c, b.c) })
	return out
}

// namespaces are those of the steps, sorted.
func (d *drafting) namespaces() []topology.Namespace {
	var out []topology.Namespace
	for _, s := range d.steps {
		if s.NS != "" {
			out = append(out, s.NS)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (d *drafting) shard(name string) *topology.Shard {
	for i := range d.shards {
		if d.shards[i].Name == name {
			return &d.shards[i]
		}
	}
	return nil
}

// ranges are the zone ranges of a namespace as the steps leave them.
func (d *drafting) ranges(ns topology.Namespace) []topology.ZoneRange {
	if z, ok := d.zones[ns]; ok {
		return z
	}
	return d.s.Table.ZonesOf(ns)
}

// zonesRead tells whether zone ranges have ever been read: they may be forbidden.
func (d *drafting) zonesRead() bool {
	return len(d.s.Table.Zones) > 0 || !d.s.Table.Health[topology.PartZones].At.IsZero()
}

// doc is a bound as commands take it. Every bound here is of the table or made
// of complete values, so that an error is a defect; the draft ends with it.
func (d *drafting) doc(c *topology.Collection, k shardkey.Key) bson.Raw {
	raw, err := c.Key.Document(k)
	if err != nil && d.err == nil {
		d.err = err
	}
	return raw
}

func (d *drafting) step(s Step) { d.steps = append(d.steps, s) }

func (d *drafting) check(c ...Check) { d.checks = append(d.checks, c...) }

// patient is how many moves a plan may have to wait for the clean-up after each.
// Waiting makes the donor delete at once instead of 15 minutes later, so that
// everything can be undone at once; it also keeps the donor busy, and queries
// that still read there are cut off, so wide plans leave it to the server.
const patient = 20

// listed is how many moves a plan tells one by one. Only what the balancer is
// awaited to do can be more; that is then too much to be taken back by a plan.
const listed = 2000

// finish makes the draft: effect, checks that every plan has, and how risky it is.
func (d *drafting) finish(summary message.Message, undo Undo) (Draft, Args, error) {
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
	if (d.kind == Pin || d.kind == Isolate) && !d.undoing {
		ordered(d.steps)
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
