package actions

import (
	"slices"
	"strings"

	"shardboard/internal/actions/operation"
	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// Description is everything that is specific to one kind of change. The texts are for
// people; docs/change-kinds.md shows Lead, Proof and Undo.
type Description struct {
	Kind      Kind
	Title     string // what it does, as the label of a button
	Lead      string // what to know before filling in the form
	Proof     string // what is read from the cluster to prove it
	Undo      string // what its undo does
	Arguments []Argument

	// Adapts: the rest of a run is planned again when the cluster has changed. This is
	// for kinds whose goal is where data is, not the change of one named chunk.
	Adapts bool
	// KeepsGoal: the goal is checked again after the last step, because something may
	// have changed the effect of an early step while a later one ran.
	KeepsGoal bool
	// Gathers: brings a project's data together on one shard, by zones.
	Gathers bool
	// AnyTime: maintenance windows do not count for a plan of this kind, unless one of its commands moves
	// data or changes what the balancer moves. They count for every plan of all other kinds.
	AnyTime bool
	// InBatches: changes of this kind may be items of a batch.
	InBatches bool
	// LeastRisk is the lowest risk that a plan of this kind can have; "" is Low. It does
	// not apply to undos, whose risk depends on what the undo does.
	LeastRisk Risk
	// TypesShard: the name of the shard is typed to confirm.
	TypesShard bool
	// Since is the first release that has its command; zero: every supported release.
	Since balance.Release

	// Sends are the operations whose commands this kind is, whatever plan sends them: pinning is setting a zone
	// range. None for a kind that is made of several commands, such as isolate.
	Sends []operation.Op

	// rewrite replaces alternative arguments by the usual ones, before they are checked;
	// nil for none.
	rewrite func(*Args) error
	// plan adds the steps and the checks of this kind. Each argument has been checked by
	// itself, and the collection has been looked up.
	plan func(*draftBuilder) (Draft, Args, error)
}

// Descriptions returns all kinds, in the order of the documentation. Add a new kind
// here.
func Descriptions() []Description {
	return []Description{
		describeSplit(),
		describeSplitProject(),
		describeSplitHot(),
		describeMerge(),
		describeMove(),
		describePin(),
		describeIsolate(),
		describeUnpin(),
		describeSpread(),
		describeDrainShard(),
		describeStopDraining(),
		describeRemoveShard(),
		describeZoneAddShard(),
		describeZoneRemoveShard(),
		describeZoneSetRange(),
		describeZoneRemoveRange(),
		describeBalancerOn(),
		describeBalancerOff(),
		describeBalancerWindow(),
		describeBalanceCollection(),
		describeDefragment(),
		describeAutoMerge(),
		describeChunkSize(),
		describeAllowMigrations(),
		describeClearJumbo(),
		describeRefineKey(),
		describeMovePrimary(),
		describeMoveCollection(),
		describeMoveCollectionAbort(),
		describeUnshard(),
		describeUnshardAbort(),
		describeReshard(),
		describeReshardCommit(),
		describeReshardAbort(),
		describeBatch(),
	}
}

// Kinds returns all kinds, in the order of the documentation.
func Kinds() []Kind {
	var out []Kind
	for _, k := range Descriptions() {
		out = append(out, k.Kind)
	}
	return out
}

// Describe returns the description of a kind. An unknown kind, as the record of a newer
// release may have, is described by its name alone.
func Describe(k Kind) Description {
	for _, d := range Descriptions() {
		if d.Kind == k {
			return d
		}
	}
	return Description{Kind: k, Title: string(k)}
}

// Known reports whether the kind exists.
func Known(k Kind) bool { return slices.Contains(Kinds(), k) }

// KindNamed is the kind with a name that somebody has given.
func KindNamed(name string) (Kind, error) {
	if !Known(Kind(name)) {
		return "", fault.New(fault.Invalid, "There is no kind of plan called %q.", sanitize.Truncate(name, 60))
	}
	return Kind(name), nil
}

// PlanChange drafts a change. It returns the arguments resolved: names replaced by ids, references by bounds. A wrong
// argument is a fault.Error of kind Invalid or NotFound whose text names the argument.
func PlanChange(s Situation, kind Kind, a Args) (Draft, Args, error) {
	if _, err := KindNamed(string(kind)); err != nil {
		return Draft{}, a, err
	}
	return newDraft(s, Describe(kind), a).draft()
}

// draft checks the arguments and plans the change.
func (d *draftBuilder) draft() (Draft, Args, error) {
	if err := d.readArguments(); err != nil {
		return Draft{}, d.a, err
	}
	return d.description.plan(d)
}

// readArguments checks the arguments one by one and looks up what they name.
func (d *draftBuilder) readArguments() error {
	if err := d.description.refuseForeign(d.a); err != nil {
		return err
	}
	if d.description.rewrite != nil {
		if err := d.description.rewrite(&d.a); err != nil {
			return err
		}
	}
	for _, x := range d.description.Arguments {
		switch {
		case x.Given(d.a):
			if err := x.checkValue(&d.a); err != nil {
				return err
			}
		case x.Required && !d.description.anyGiven(x.Or, d.a):
			x.Help = d.s.Profile.Words(x.Help)
			return x.missing(d.description.Kind)
		case x.Default != "":
			*x.field(&d.a).(*string) = x.Default
		}
	}
	for _, x := range d.description.Arguments {
		if !x.Given(d.a) {
			continue
		}
		var err error
		switch x.Type {
		case TypeCollection:
			if d.c, err = collectionOf(d.s.Table, d.description.Kind, d.a.NS); err == nil {
				d.a.NS = d.c.NS // of a time series that was named as its users do
			}
		case TypeShard:
			err = checkShard(d.s.Table, d.description.Kind, x.Name, *x.field(&d.a).(*string))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// refuseForeign refuses arguments that the kind does not take, so that a mistyped request
// does not become another change.
func (k Description) refuseForeign(a Args) error {
	var names []string
	for _, x := range k.Arguments {
		names = append(names, x.Name)
	}
	for _, x := range Arguments() {
		if !x.Given(a) || slices.Contains(names, x.Name) {
			continue
		}
		takes := "it takes none"
		if len(names) > 0 {
			takes = "it takes " + strings.Join(names, ", ")
		}
		return fault.New(fault.Invalid, "%s does not take the argument %q; %s.", k.Kind, x.Name, takes)
	}
	return nil
}

// anyGiven reports whether one of the named arguments is given.
func (k Description) anyGiven(names []string, a Args) bool {
	return slices.ContainsFunc(k.Arguments, func(x Argument) bool { return slices.Contains(names, x.Name) && x.Given(a) })
}
