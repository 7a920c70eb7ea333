package actions

import (
	"slices"
	"strings"

	"shardboard/internal/fault"
)

// Description is everything that is particular to one kind of change. The fields
// of text are for people; Proof and Undo are in docs/actions.md.
type Description struct {
	Kind      Kind
	Title     string // what it does, as a button says it
	Lead      string // what to know before filling in its form
	Proof     string // what is read from the cluster to prove it
	Undo      string // what takes it back
	Arguments []Argument

	// Adapts: a run is planned again when the cluster has changed meanwhile. It is
	// for kinds whose goal is where data lies, not what becomes of one named chunk.
	Adapts bool
	// KeepsGoal: the goal is checked once more after the last step, because what an
	// early step did may have been changed during a late one.
	KeepsGoal bool
	// Gathers: it brings a project's data together on one shard, by zones.
	Gathers bool
	// LeastRisk is the risk that no plan of this kind is below; "" is Low. Undoing a
	// change of high risk is judged by what the undo does.
	LeastRisk Risk

	// rewrite turns other spellings of arguments into the usual one, before they are
	// checked; nil for none.
	rewrite func(*Args) error
	// plan adds the steps and the checks of this kind. The arguments have been checked
	// one by one, and the collection is resolved.
	plan func(*draftBuilder) (Draft, Args, error)
}

// Descriptions are all kinds, in the order of the documentation. A new kind is
// added here.
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
		describeZoneAddShard(),
		describeZoneRemoveShard(),
		describeZoneSetRange(),
		describeZoneRemoveRange(),
		describeBalancerOn(),
		describeBalancerOff(),
		describeBalancerWindow(),
		describeBalanceCollection(),
		describeClearJumbo(),
	}
}

// Kind names what can be done, as the API and the command line name it.
type Kind string

// Kinds are all kinds in the order of the documentation.
func Kinds() []Kind {
	var out []Kind
	for _, k := range Descriptions() {
		out = append(out, k.Kind)
	}
	return out
}

// Planners are how each kind is planned. The map is the caller's.
func Planners() map[Kind]Planner {
	out := map[Kind]Planner{}
	for _, k := range Descriptions() {
		out[k.Kind] = k.Draft
	}
	return out
}

// Describe is the description of a kind. One that is not known, as a record of a
// newer release may have, is described by its name alone.
func (k Kind) Describe() Description {
	for _, d := range Descriptions() {
		if d.Kind == k {
			return d
		}
	}
	return Description{Kind: k, Title: string(k)}
}

// Adapts tells whether a run of this kind is planned again when the cluster has
// changed meanwhile.
func (k Kind) Adapts() bool { return k.Describe().Adapts }

// KeepsGoal tells whether the goal is checked once more after the last step.
func (k Kind) KeepsGoal() bool { return k.Describe().KeepsGoal }

// Known tells whether there is such a kind.
func (k Kind) Known() bool { return slices.Contains(Kinds(), k) }

// Draft checks the arguments and plans the change. It is the Planner of the kind.
func (k Description) Draft(s Situation, a Args) (Draft, Args, error) {
	d := newDraft(s, k, a)
	if err := d.readArguments(); err != nil {
		return Draft{}, a, err
	}
	return k.plan(d)
}

// readArguments checks the arguments one by one and looks up what they name.
func (d *draftBuilder) readArguments() error {
	if err := d.about.refuseForeign(d.a); err != nil {
		return err
	}
	if d.about.rewrite != nil {
		if err := d.about.rewrite(&d.a); err != nil {
			return err
		}
	}
	for _, x := range d.about.Arguments {
		switch {
		case x.Given(d.a):
			if err := x.checkValue(&d.a); err != nil {
				return err
			}
		case x.Required && !d.about.anyGiven(x.Or, d.a):
			return x.missing(d.kind)
		case x.Default != "":
			*x.field(&d.a).(*string) = x.Default
		}
	}
	for _, x := range d.about.Arguments {
		if !x.Given(d.a) {
			continue
		}
		var err error
		switch x.Type {
		case TypeCollection:
			d.c, err = collectionOf(d.s.Table, d.kind, d.a.NS)
		case TypeShard:
			_, err = shardOf(d.s.Table, d.kind, x.Name, *x.field(&d.a).(*string))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// refuseForeign refuses arguments that the kind does not take: a mistyped plan
// must not become another one.
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

// anyGiven tells whether one of the named arguments is given.
func (k Description) anyGiven(names []string, a Args) bool {
	return slices.ContainsFunc(k.Arguments, func(x Argument) bool { return slices.Contains(names, x.Name) && x.Given(a) })
}
