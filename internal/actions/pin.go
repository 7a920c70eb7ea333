package actions

import (
	"slices"
	"time"

	"shardboard/internal/fault"
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
	return d.finish(d.pinned("pin", p, held), Undo{Possible: true, Text: say(d.modal("pin"), "project", p.Name, "zone", placement.PinZone(p.ID.Hex()))})
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

func (d *draftBuilder) pinned(code string, p placement.Project, held []held) Say {
	args := []string{"project", p.Name, "id", p.ID.Hex(), "shard", d.a.Shard, "collections", count(len(held)), "owner", d.a.Owner}
	if d.a.Expires > 0 {
		args = append(args, "expires", moment(d.s.Now.Add(d.a.Expires)))
		code += ".until"
	}
	return say(code, args...)
}

// modal tells apart what an undo leaves: the cuts that the balancer makes at the
// edges of zones are its own and stay.
func (d *draftBuilder) modal(code string) string {
	if d.a.Mode == ModeBalancer {
		return code + ".cutsStay"
	}
	return code
}

// shortestPin is as long as a plan can be run: a shorter one could have expired
// before it is made.
const shortestPin = 15 * time.Minute

// pin makes the zone and its ranges, and brings the project's chunks there.
func (d *draftBuilder) pin(p placement.Project, held []held) {
	zone := placement.PinZone(p.ID.Hex())
	if len(held) == 0 {
		d.check(Check{ID: "pin", Verdict: Block, Text: say("pin.nothing", "project", p.Name), Source: d.fromTable(topology.PartRouting)})
		return
	}
	if others := slices.DeleteFunc(d.members(zone), func(s string) bool { return s == d.a.Shard }); len(others) > 0 {
		d.check(Check{ID: "pin", Verdict: Block, Text: say("pin.elsewhere", "project", p.Name, "shards", list(others)), Source: d.fromTable(topology.PartShards)})
		return
	}
	if s := d.shard(d.a.Shard); s.Draining { // nothing moves there: the check of recipients may have none to look at
		d.check(Check{ID: "recipient", Verdict: Block, Text: say("recipient.draining", "shard", s.Name), Source: d.fromTable(topology.PartShards)})
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
		d.check(Check{ID: "pin", Verdict: Block, Text: say("pin.already", "project", p.Name, "shard", d.a.Shard), Source: d.fromTable(topology.PartZones)})
	default:
		d.check(Check{ID: "zone-overlap", Verdict: Pass, Text: say("zone-overlap.none"), Source: d.fromTable(topology.PartZones)})
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
	d.check(Check{ID: "zone-overlap", Verdict: Block,
		Text:   say("zone-overlap.with", "ns", string(c.NS), "zone", z.Zone, "min", c.Key.Display(z.Min), "max", c.Key.Display(z.Max)),
		Source: d.fromTable(topology.PartZones)})
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
