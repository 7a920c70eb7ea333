package actions

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/auth"
	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// The modes of a pin: the run splits and moves the chunks itself, or it only sets the
// zones and the balancer moves the chunks.
const (
	ModeMoves    = "moves"
	ModeBalancer = "balancer"
)

// draftBuilder makes a draft of a change: it plans steps on the cluster as it will be after those before, and
// checks what is planned.
type draftBuilder struct {
	s           Situation
	a           Args
	description Description                // of the kind
	c           *topology.Collection       // named by the argument ns, if the kind takes one
	ids         map[string][]bson.RawValue // of projects, by database; a cache
	isUndo      bool
	continuing  bool // this is the rest of a confirmed plan, which may have no steps
	inBatch     bool // an item of a batch, which makes the checks that every plan has for all items together

	plannedCluster
	plannedSteps
	findings
}

// plannedCluster is the cluster as it will be after the steps planned so far.
type plannedCluster struct {
	now        *topology.Table  // as it is
	shards     []topology.Shard // with their zones after the steps
	zones      map[topology.Namespace][]topology.ZoneRange
	futures    map[topology.Namespace]*futureChunks
	moves      []transfer
	wholes     []wholeMove            // collections that move as a whole
	unsharding []*topology.Collection // of them, those that are sharded now
	resharded  *topology.Collection   // gets another shard key; nil for none
	receivers  []string               // shards that may receive chunks, beside those of the moves
	cuts       int                    // number of splits and merged chunks
}

// plannedSteps are the steps of a draft.
type plannedSteps struct {
	steps           []operation.Step
	pausesBalancing bool
	err             error // of a bound that cannot be encoded, which is a programming error
}

// findings are what checks have found, and what they need to have read.
type findings struct {
	checks    []Check
	needs     Needs
	stays     []message.Message
	writes    []WriteEffect
	leastRisk Risk // the lowest risk of this plan, also of an undo; "" is Low
	reached   bool // the goal is reached already
}

// transfer is a range that moves from one shard to another, as one or several chunks.
type transfer struct {
	k        *futureChunks
	lo, hi   shardkey.Key
	from, to string
	chunks   int
	jumbo    bool
	awaited  bool // moved by the balancer, not by a command

	step   int      // its index among the steps, before they are sorted
	others []string // that it may go to when to is blocked
}

// newDraft starts the draft of a change.
func newDraft(s Situation, about Description, a Args) *draftBuilder {
	d := &draftBuilder{s: s, a: a, description: about, ids: map[string][]bson.RawValue{}, plannedCluster: plannedCluster{now: s.Table,
		futures: map[topology.Namespace]*futureChunks{}, zones: map[topology.Namespace][]topology.ZoneRange{}}}
	d.shards = slices.Clone(s.Table.Shards)
	for i := range d.shards {
		d.shards[i].Zones = slices.Clone(d.shards[i].Zones)
	}
	return d
}

// future returns a collection's chunks as they will be after the steps.
func (d *plannedCluster) future(c *topology.Collection) *futureChunks {
	k := d.futures[c.NS]
	if k == nil {
		k = newFutureChunks(c)
		d.futures[c.NS] = k
	}
	return k
}

// changedCollections returns the collections whose chunks the steps change, by namespace.
func (d *draftBuilder) changedCollections() []*futureChunks {
	chunks := func(s operation.Step) bool {
		return s.NS != "" && !s.Effects().LeavesChunks
	}
	var out []*futureChunks
	for _, k := range d.futures {
		if d.description.Kind == Batch {
			out = append(out, k) // it has those of its items
			continue
		}
		if slices.ContainsFunc(d.steps, func(s operation.Step) bool { return chunks(s) && s.NS == k.c.NS }) {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, func(a, b *futureChunks) int { return byName(a.c, b.c) })
	return out
}

// namespaces returns the namespaces of the steps, sorted.
func (d *plannedSteps) namespaces() []topology.Namespace {
	var out []topology.Namespace
	for _, s := range d.steps {
		if s.NS != "" {
			out = append(out, s.NS)
		}
		if s.Item != nil {
			out = append(out, s.Item.Limits.Collections...)
		}
	}
	return natural.Unique(out)
}

func (d *plannedCluster) shard(name string) *topology.Shard {
	for i := range d.shards {
		if d.shards[i].Name == name {
			return &d.shards[i]
		}
	}
	return nil
}

// ranges returns the zone ranges of a namespace as they will be after the steps.
func (d *plannedCluster) ranges(ns topology.Namespace) []topology.ZoneRange {
	if z, ok := d.zones[ns]; ok {
		return z
	}
	return d.now.ZonesOf(ns)
}

// zonesRead reports whether zone ranges could be read: the cluster user may not be
// permitted to.
func (d *plannedCluster) zonesRead() bool {
	return len(d.now.Zones) > 0 || !d.now.Health[topology.PartZones].At.IsZero()
}

// doc encodes a bound as commands take it. All bounds come from the table or are made of
// complete values, so an error is a programming error. It is kept, and finish returns
// it.
func (d *plannedSteps) doc(c *topology.Collection, k shardkey.Key) bson.Raw {
	raw, err := c.Key.Document(k)
	if err != nil && d.err == nil {
		d.err = err
	}
	return raw
}

func (d *plannedSteps) step(s operation.Step) { d.steps = append(d.steps, s) }

func (d *findings) check(c ...Check) { d.checks = append(d.checks, c...) }

// maxWaitingMoves is the number of moves up to which a plan waits for the donor's
// clean-up after each. A donor that is waited for deletes at once instead of 15 minutes
// later, so the plan can be undone at once. But deleting keeps the donor busy and ends
// queries that still read the range there, so larger plans do not wait.
const maxWaitingMoves = 20

// maxListedMoves is how many moves a plan lists. Only the mode “balancer” can cause more,
// and one plan could not undo so many.
const maxListedMoves = 2000

// finish makes the draft: with its effect, the checks that every plan has, and its
// risk.
func (d *draftBuilder) finish(summary message.Message, undo Undo) (Draft, Args, error) {
	if d.err != nil {
		return Draft{}, Args{}, d.err
	}
	sent := operation.Moves(d.steps)
	waits := sent <= maxWaitingMoves
	for i := range d.steps {
		d.steps[i].Wait = waits && d.steps[i].Migrates()
	}
	d.keepOthersWithRoom()
	if d.description.Gathers && !d.isUndo {
		sortPinSteps(d.steps)
	}
	d.addPauseSteps()
	out := Draft{Summary: summary, Steps: d.steps, Effect: d.effect(), Undo: undo, Role: auth.Operator}
	if d.description.Kind != Batch { // those of its items
		out.Effect.ByBalancer = d.byBalancer()
	}
	if out.Undo.Possible && len(d.moves) > 0 && (!waits || sent == 0) {
		out.Undo.From = d.cleanFrom(out.Effect.Duration)
	}
	if len(out.Effect.Moves) > maxListedMoves {
		out.Effect.Moves = out.Effect.Moves[:maxListedMoves]
		out.Undo = Undo{Text: message.New("tooMany",
			"The balancer would move {moves} ranges, too many for one plan to move back. Once the zones are "+
				"removed, it distributes the data evenly by itself.",
			message.Count("moves", len(d.moves)))}
	}
	d.addCommonChecks()
	out.Checks, out.Needs = d.checks, d.needs
	out.Limits, out.Reached = d.limits(out), d.reached
	out.Risk, out.Confirm = d.risk(out.Effect, out.Undo)
	return out, d.a, nil
}
