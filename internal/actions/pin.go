package actions

import (
	"slices"
	"strconv"
	"time"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// Pin keeps the data of a project on one shard, in every collection whose shard key
// begins with the project.
const Pin Kind = "pin"

func describePin() Description {
	return Description{
		Kind:      Pin,
		Title:     "Pin a project to a shard",
		Lead:      "A zone keeps the project’s data on one shard, in all collections whose shard key begins with the project.",
		Proof:     "The zone has the project’s ranges, and all their chunks are on the shard.",
		Undo:      "Removes the zone, moves the chunks back and merges what was split.",
		Arguments: pinArguments(),
		Adapts:    true,
		KeepsGoal: true,
		Gathers:   true,
		rewrite:   useToAsShard,
		InBatches: true,
		Sends:     []operation.Op{operation.OpSetRange},
		plan:      planPin,
	}
}

// pinArguments are the arguments of pin and isolate.
func pinArguments() []Argument {
	return []Argument{argProject.needed(), argDB, argShard.needed().help("The shard that keeps the project."),
		argTo.unasked().help("The same as shard."), argMode, argExpires, argOwner, argPause}
}

// useToAsShard accepts "to" as another name of "shard".
func useToAsShard(a *Args) error {
	if a.Shard != "" && a.To != "" && a.Shard != a.To {
		return fault.New(fault.Invalid, "The arguments \"shard\" and \"to\" name two different shards; give one.")
	}
	if a.Shard == "" {
		a.Shard = a.To
	}
	a.To = ""
	return nil
}

func planPin(d *draftBuilder) (Draft, Args, error) {
	p, err := d.projectToPin()
	if err != nil {
		return Draft{}, d.a, err
	}
	ranges := d.projectRanges(p)
	d.pinProject(p, ranges)
	d.add(d.checkAlreadyPinned(p))
	undo := message.New("pin",
		"Removes the zone {zone}, moves the chunks of {project} back and merges what was split.",
		projectFact(p), message.Zone("zone", placement.PinZone(p.ID.Hex())))
	if d.a.Mode == ModeBalancer { // the balancer's splits at the ends of zone ranges are not ours to merge
		undo.Code = "pin.cutsStay"
		undo.Pattern = "Removes the zone {zone} and moves the data of {project} back. " +
			"The balancer’s splits at its bounds stay; they do no harm."
	}
	summary := d.pinSummary("pin", "Pin the project {project} ({id}) to {shard}, in {collections}", p, ranges)
	return d.finish(summary, Undo{Possible: true, Text: undo})
}

// projectToPin checks that the arguments of pin or isolate fit together, and finds
// the project.
func (d *draftBuilder) projectToPin() (placement.Project, error) {
	a := d.a
	if a.Pause != "" && a.Mode == ModeBalancer {
		return placement.Project{}, fault.New(fault.Invalid,
			"The arguments \"mode\" %q and \"pause\" do not go together: %s would wait for a balancer that is paused.", ModeBalancer,
			d.description.Kind)
	}
	if a.Expires != 0 && a.Expires < minPinTime {
		return placement.Project{}, fault.New(fault.Invalid,
			"The argument \"expires\" is %s; at least %s, or leave it out for a pin that does not expire.", a.Expires, minPinTime)
	}
	return d.s.project(&d.a)
}

// pinSummary is the summary of a pin or an isolation.
func (d *draftBuilder) pinSummary(code, pattern string, p placement.Project, ranges []projectRange) message.Message {
	count := strconv.Itoa(len(ranges))
	out := message.New(code, pattern+".", projectFact(p), message.Key("id", p.IDText()), message.Shard("shard", d.a.Shard),
		message.Coded("collections", count, message.Plural(len(ranges), "1 collection", count+" collections")), message.Text("owner", d.a.Owner))
	if d.a.Expires > 0 {
		out = out.With(message.Time("expires", d.s.Now.Add(d.a.Expires)))
		out.Code, out.Pattern = code+".until", pattern+", until {expires}."
	}
	return out
}

// projectFact names a project in a sentence.
func projectFact(p placement.Project) message.Fact {
	return message.Project("project", p.ID.Hex(), p.Name)
}

// minPinTime is how long a plan can be run: a shorter pin could expire before it is
// made.
const minPinTime = 15 * time.Minute

// pinProject plans the zone, its ranges, and the moves of the project's chunks.
func (d *draftBuilder) pinProject(p placement.Project, ranges []projectRange) {
	zone := placement.PinZone(p.ID.Hex())
	if len(ranges) == 0 {
		d.block("pin", d.fromTable(topology.PartRouting), message.New("pin.nothing",
			"No sharded collection has a shard key that begins with the project, so {project} cannot be pinned.",
			projectFact(p)))
		return
	}
	if others := slices.DeleteFunc(d.members(zone), func(s string) bool { return s == d.a.Shard }); len(others) > 0 {
		d.block("pin", d.fromTable(topology.PartShards), message.New("pin.elsewhere",
			"{project} is already pinned to {shards}. Unpin it first.",
			projectFact(p), message.Text("shards", operation.Joined(others))))
		return
	}
	if d.shard(d.a.Shard).Draining { // checkRecipients sees only shards that a move goes to; there may be none
		d.add(d.checkDraining(Block, d.a.Shard))
	}
	d.receivers = append(d.receivers, d.a.Shard)
	d.addZone(d.a.Shard, zone)
	for _, r := range ranges {
		d.assignRange(r.c, r.lo, r.hi, zone)
	}
	for _, r := range ranges {
		d.moveToPinnedShard(r)
	}
}

// checkAlreadyPinned blocks when there is nothing to do. With steps to run and nothing
// that blocks, no other zone range overlaps.
func (d *draftBuilder) checkAlreadyPinned(p placement.Project) (out findings) {
	switch {
	case d.blocked():
	case len(d.steps) == 0:
		out.reached = true
		out.block("pin", d.fromTable(topology.PartZones), message.New("pin.already",
			"{project} is already pinned to {shard}, and all of its data is there.",
			projectFact(p), message.Shard("shard", d.a.Shard)))
	default:
		out.pass("zone-overlap", d.fromTable(topology.PartZones), message.New("zone-overlap.none",
			"No other zone range overlaps these."))
	}
	return out
}

// assignRange assigns a range to a zone unless it is assigned already. Any other range
// that overlaps it blocks.
func (d *draftBuilder) assignRange(c *topology.Collection, lo, hi key, zone string) {
	switch found := operation.OverlappingRanges(d.ranges(c.NS), lo, hi); {
	case len(found) == 0:
		d.setRange(c, lo, hi, zone)
	case len(found) > 1 || found[0].Zone != zone || found[0].Min.Compare(lo) != 0 || found[0].Max.Compare(hi) != 0:
		d.add(d.blockOverlap(c, found[0]))
	}
}

func (d *draftBuilder) blockOverlap(c *topology.Collection, z topology.ZoneRange) (out findings) {
	out.block("zone-overlap", d.fromTable(topology.PartZones), message.New("zone-overlap.with",
		"In {ns}, the range {min} → {max} of the zone {zone} overlaps. Remove or change it first.",
		message.Namespace("ns", c.NS), message.Zone("zone", z.Zone), message.Key("min", c.Key.Display(z.Min)),
		message.Key("max", c.Key.Display(z.Max))))
	return out
}

// moveToPinnedShard moves the chunks of a project's range to the pinned shard. They are
// split at the ends of the range first, so that no chunk straddles the zone's bounds.
func (d *draftBuilder) moveToPinnedShard(r projectRange) {
	k := d.future(r.c)
	if d.a.Mode == ModeBalancer {
		if !allOn(k, r.lo, r.hi, d.a.Shard) {
			d.awaitAllOn(k, r.lo, r.hi, d.a.Shard)
		}
		return
	}
	d.splitAtEnds(k, r.lo, r.hi)
	for _, p := range k.within(r.lo, r.hi) {
		d.move(k, p.Min, p.Max, d.a.Shard)
	}
}

// allOn reports whether chunks begin and end at the ends of a range, and all of them
// are on the shard.
func allOn(k *futureChunks, lo, hi key, shard string) bool {
	parts := k.within(lo, hi)
	return parts[0].Min.Compare(lo) == 0 && parts[len(parts)-1].Max.Compare(hi) == 0 &&
		!slices.ContainsFunc(parts, func(p futureChunk) bool { return p.Shard != shard })
}
