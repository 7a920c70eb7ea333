package actions

import (
	"slices"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// Pin keeps a project's rows on one shard, in every collection whose key begins
// with the project.
const Pin Kind = "pin"

func describePin() Description {
	return Description{
		Kind:      Pin,
		Title:     "Pin a project to a shard",
		Lead:      "A zone keeps the project’s rows on one shard, wherever the shard key begins with the project.",
		Proof:     "The zone has the project’s ranges, and all of them are on the shard.",
		Undo:      "Removing the zone, moving back and merging.",
		Arguments: pinArguments(),
		Adapts:    true,
		KeepsGoal: true,
		Gathers:   true,
		rewrite:   pinShard,
		plan:      planPin,
	}
}

// pinArguments are those of pin and isolate.
func pinArguments() []Argument {
	return []Argument{argProject.needed(), argDB, argShard.needed().help("The shard that keeps the project."),
		argTo.unasked().help("The same as shard."), argMode, argExpires, argOwner, argPause}
}

// pinShard takes "to" for "shard".
func pinShard(a *Args) error {
	if a.Shard != "" && a.To != "" && a.Shard != a.To {
		return fault.New(fault.Invalid, "The arguments \"shard\" and \"to\" name two different shards; a project is kept on one.")
	}
	if a.Shard == "" {
		a.Shard = a.To
	}
	a.To = ""
	return nil
}

func planPin(d *draftBuilder) (Draft, Args, error) {
	p, err := d.pinnedProject()
	if err != nil {
		return Draft{}, d.a, err
	}
	held := d.heldBy(p)
	d.pin(p, held)
	d.already(p)
	undo := message.New("pin",
		"The zone {zone} is removed, and the chunks that were moved and split for {project} are moved back and merged.",
		projectFact(p), message.Zone("zone", placement.PinZone(p.ID.Hex())))
	if d.a.Mode == ModeBalancer { // its cuts at the edges of zones stay
		undo.Code = "pin.cutsStay"
		undo.Pattern = "The zone {zone} is removed, and the data that the balancer moved for {project} is moved back. " +
			"The splits at its edges stay; they do no harm."
	}
	summary := d.pinned("pin", "Pin the project {project} ({id}) to {shard}, in {collections} collections", p, held)
	return d.finish(summary, Undo{Possible: true, Text: undo})
}

// pinnedProject is the project of pin and isolate, once their arguments fit
// together.
func (d *draftBuilder) pinnedProject() (placement.Project, error) {
	a := d.a
	if a.Pause != "" && a.Mode == ModeBalancer {
		return placement.Project{}, fault.New(fault.Invalid,
			"The arguments \"mode\" %q and \"pause\" do not go together: %s would wait for a balancer that is paused.", ModeBalancer, d.kind)
	}
	if a.Expires != 0 && a.Expires < shortestPin {
		return placement.Project{}, fault.New(fault.Invalid,
			"The argument \"expires\" is %s; at least %s, or leave it out for a pin that does not expire.", a.Expires, shortestPin)
	}
	return d.s.project(d.kind, &d.a)
}

// pinned is the summary of a pin, which may expire.
func (d *draftBuilder) pinned(code, pattern string, p placement.Project, held []held) message.Message {
	out := message.New(code, pattern+".", projectFact(p), message.Key("id", p.ID.Hex()), message.Shard("shard", d.a.Shard),
		message.Count("collections", len(held)), message.Text("owner", d.a.Owner))
	if d.a.Expires > 0 {
		out = out.With(message.Time("expires", d.s.Now.Add(d.a.Expires)))
		out.Code, out.Pattern = code+".until", pattern+", until {expires}."
	}
	return out
}

// projectFact is a project by its name.
func projectFact(p placement.Project) message.Fact {
	return message.Project("project", p.ID.Hex(), p.Name)
}

// shortestPin is as long as a plan can be run: a shorter one could have expired
// before it is made.
const shortestPin = 15 * time.Minute

// pin makes the zone and its ranges, and brings the project's chunks there.
func (d *draftBuilder) pin(p placement.Project, held []held) {
	zone := placement.PinZone(p.ID.Hex())
	if len(held) == 0 {
		d.block("pin", d.fromTable(topology.PartRouting), message.New("pin.nothing",
			"No sharded collection has a key that begins with the project, so nothing of {project} can be pinned.",
			message.Project("project", p.ID.Hex(), p.Name)))
		return
	}
	if others := slices.DeleteFunc(d.members(zone), func(s string) bool { return s == d.a.Shard }); len(others) > 0 {
		d.block("pin", d.fromTable(topology.PartShards), message.New("pin.elsewhere",
			"{project} is already pinned to {shards}. Unpin it first.",
			message.Project("project", p.ID.Hex(), p.Name), message.Text("shards", list(others))))
		return
	}
	if s := d.shard(d.a.Shard); s.Draining { // nothing moves there: the check of recipients may have none to look at
		d.block("recipient", d.fromTable(topology.PartShards), message.New("recipient.draining",
			"{shard} is draining and takes no chunks.", message.Shard("shard", s.Name)))
	}
	d.receivers = append(d.receivers, d.a.Shard)
	d.addZone(d.a.Shard, zone)
	for _, h := range held {
		d.zoneOff(h.c, h.lo, h.hi, zone)
	}
	for _, h := range held {
		d.bring(h)
	}
}

// already says that there is nothing to do, or that nothing is in the way.
func (d *draftBuilder) already(p placement.Project) {
	switch {
	case d.blocked():
	case len(d.steps) == 0:
		d.reached = true
		d.block("pin", d.fromTable(topology.PartZones), message.New("pin.already",
			"{project} is already pinned to {shard}, and all of its data is there.",
			message.Project("project", p.ID.Hex(), p.Name), message.Shard("shard", d.a.Shard)))
	default:
		d.pass("zone-overlap", d.fromTable(topology.PartZones), message.New("zone-overlap.none",
			"No other zone range overlaps these."))
	}
}

// zoneOff sets a range unless it is there; ranges that overlap it otherwise block.
func (d *draftBuilder) zoneOff(c *topology.Collection, lo, hi key, zone string) {
	met := meeting(d.ranges(c.NS), lo, hi)
	if len(met) == 1 && met[0].Zone == zone && met[0].Min.Compare(lo) == 0 && met[0].Max.Compare(hi) == 0 {
		return
	}
	if len(met) > 0 {
		d.overlaps(c, met[0])
		return
	}
	d.setRange(c, lo, hi, zone)
}

func (d *draftBuilder) overlaps(c *topology.Collection, z topology.ZoneRange) {
	d.block("zone-overlap", d.fromTable(topology.PartZones), message.New("zone-overlap.with",
		"{ns} already has a range of the zone {zone} there: {min} → {max}. Remove or change it first.",
		message.Namespace("ns", c.NS), message.Zone("zone", z.Zone), message.Key("min", c.Key.Display(z.Min)),
		message.Key("max", c.Key.Display(z.Max))))
}

// bring moves a project's part of a collection to its shard: cut out first, so
// that no chunk straddles the zone's edges.
func (d *draftBuilder) bring(h held) {
	k := d.future(h.c)
	if d.a.Mode == ModeBalancer {
		if !d.there(k, h.lo, h.hi, d.a.Shard) {
			d.awaitOn(k, h.lo, h.hi, d.a.Shard)
		}
		return
	}
	d.cutOut(k, h.lo, h.hi)
	for _, p := range k.within(h.lo, h.hi) {
		d.move(k, p.Min, p.Max, d.a.Shard)
	}
}

// there tells whether a range has chunks of its own, all on the shard.
func (d *draftBuilder) there(k *futureChunks, lo, hi key, shard string) bool {
	parts := k.within(lo, hi)
	return parts[0].Min.Compare(lo) == 0 && parts[len(parts)-1].Max.Compare(hi) == 0 &&
		!slices.ContainsFunc(parts, func(p futureChunk) bool { return p.Shard != shard })
}
