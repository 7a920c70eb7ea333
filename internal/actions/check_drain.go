package actions

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// checkConfigRelease blocks changes of a config server that is a shard before 8.0, which has their command first.
func (d *draftBuilder) checkConfigRelease() (out findings) {
	if r := d.s.Release; d.a.Shard == configShard && r.Known() && !r.AtLeast(8, 0, 0) {
		out.block("config-shard", d.fromRule(), message.New("config-shard",
			"{shard} is the config server itself. This cluster runs {release}, which has no command that makes it a dedicated one.",
			message.Shard("shard", configShard), message.Text("release", r.String())))
	}
	return out
}

// checkStaying checks that the other shards can do without this one. The server refuses to
// drain the last shard, and the last one of a zone that has ranges.
func (d *draftBuilder) checkStaying() (out findings) {
	t, shard := d.s.Table, message.Shard("shard", d.a.Shard)
	switch stay := t.Staying(d.a.Shard); len(stay) {
	case 0:
		out.block("last-shard", d.fromTable(topology.PartShards), message.New("last-shard",
			"No other shard could take the data of {shard}: all others are draining, or there are none. Add a shard first.", shard))
	case 1:
		out.warn("last-shard", d.fromTable(topology.PartShards), message.New("last-shard.one",
			"Only {other} stays: all data will be on that shard.", shard, message.Shard("other", stay[0])))
	default:
		out.pass("last-shard", d.fromTable(topology.PartShards), message.New("last-shard.others",
			"Other shards that stay: {n}.", message.Count("n", len(stay))))
	}
	if !d.zonesRead() {
		out.warn("zones", d.fromTable(topology.PartZones), message.New("zones.unread",
			"It is not known whether {shard} is the only shard of a zone: the zones could not be read.", shard))
		return out
	}
	only := t.OnlyShardOf(d.a.Shard)
	if len(only) == 0 {
		out.pass("zones", d.fromTable(topology.PartZones), message.New("zones.others",
			"No zone with ranges has {shard} as its only shard.", shard))
	}
	for _, zone := range only {
		out.add(d.checkOnlyShard(zone))
	}
	return out
}

// checkOnlyShard blocks for a zone that only this shard has, and suggests how its ranges
// get another place.
func (d *draftBuilder) checkOnlyShard(zone string) (out findings) {
	t := d.s.Table
	ranges := d.rangesOf(zone)
	c := Check{ID: "zones", Verdict: Block, Source: d.fromTable(topology.PartZones), Text: message.New("zones.only",
		"{shard} is the only shard of the zone {zone}, which has "+message.Plural(len(ranges), "1 range", "{ranges} ranges")+
			": its chunks could go nowhere. Add another shard to the zone, or remove its ranges.",
		message.Shard("shard", d.a.Shard), message.Zone("zone", zone), message.Count("ranges", len(ranges)))}
	var plans []Suggestion
	for _, to := range t.Staying(d.a.Shard) {
		plans = append(plans, suggestion(ZoneAddShard, message.New("suggest.zoneAddShard", "Add {shard} to the zone",
			message.Shard("shard", to)), "shard", to, "zone", zone))
	}
	plans = plans[:min(len(plans), maxSuggestions/2)]
	for _, z := range ranges {
		plans = append(plans, suggestion(ZoneRemoveRange, message.New("suggest.zoneRemoveRange", "Remove its range of {ns}",
			message.Namespace("ns", z.NS)), "ns", string(z.NS), "zone", zone, "min", boundText(z.RawMin), "max", boundText(z.RawMax)))
	}
	out.suggest(c, plans...)
	return out
}

// boundText is a stored bound as Extended JSON.
func boundText(raw bson.Raw) string {
	return shardkey.ValueExtJSON(bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: raw})
}

// checkDrainObstacles says what keeps the balancer from emptying the shard, and what it
// leaves there.
func (d *draftBuilder) checkDrainObstacles(left topology.Remains) (out findings) {
	out.add(d.checkDrainBalancer())
	if !left.Known {
		out.warn("left", d.fromTable(topology.PartRouting), message.New("left.unread",
			"What is on {shard} is not known yet: not all chunks are loaded.", message.Shard("shard", d.a.Shard)))
	}
	out.add(d.checkBalancedCollections())
	out.add(d.checkDrainJumbo(left))
	out.add(d.checkUnsharded(left, Warn))
	out.add(d.checkDatabases(left, Warn))
	if stay := d.s.Table.Staying(d.a.Shard); len(stay) > 0 && left.Chunks > 0 {
		comes := left.Bytes
		comes.Exact = false
		out.add(d.checkDiskSpace(stay, incoming{bytes: comes, otherwise: "add a shard"}))
	}
	return out
}

// checkDrainBalancer checks that the balancer is on: nothing else moves the chunks.
func (d *draftBuilder) checkDrainBalancer() (out findings) {
	b, src := d.s.Table.Balancer, d.fromTable(topology.PartSettings)
	switch {
	case !b.Known:
		out.warn("balancer", src, message.New("balancer.unknown", "It is not known whether the balancer is on."))
	case b.Broken():
		out.block("balancer", src, b.RefusedText())
	case !b.Moves():
		out.suggest(Check{ID: "balancer", Verdict: Block, Source: src, Text: message.New("balancer.drains",
			"The balancer empties the shard, but it is off.")},
			suggestion(BalancerOn, message.New("suggest.balancerOn", "Turn the balancer on")))
	default:
		out.pass("balancer", src, message.New("balancer.works", "The balancer is on and will move the chunks."))
	}
	if b.Limited() {
		out.suggest(Check{ID: "window", Verdict: Warn, Source: src, Text: message.New("window.awaits",
			"The balancer moves chunks only {window}, by the config server’s clock.", message.Text("window", b.When()))},
			suggestion(BalancerWindow, message.New("suggest.noWindow", "Let the balancer run at any time")))
	}
	return out
}

// checkBalancedCollections warns about collections whose chunks the balancer may not move
// or cannot move.
func (d *draftBuilder) checkBalancedCollections() (out findings) {
	for _, c := range d.s.Table.Collections {
		if c.Chunks == nil || c.Chunks.CountByShard()[d.a.Shard] == 0 || c.Unsplittable {
			continue
		}
		n := c.Chunks.CountByShard()[d.a.Shard]
		facts := []message.Fact{message.Namespace("ns", c.NS), message.Count("chunks", n), message.Shard("shard", d.a.Shard)}
		if c.NoBalance {
			out.suggest(Check{ID: "collections", Verdict: Warn, Source: d.fromTable(topology.PartRouting), Text: message.New("collections.off",
				"Balancing of {ns} is off, so its chunks stay on {shard}: {chunks}.", facts...)},
				suggestion(BalanceCollection, message.New("suggest.balance", "Let the balancer move {ns}", message.Namespace("ns", c.NS)),
					"ns", string(c.NS), "on", "true"))
		}
		if c.MigrationsBlocked {
			out.suggest(Check{ID: "collections", Verdict: Warn, Source: d.fromTable(topology.PartRouting), Text: message.New("collections.blocked",
				"Moves of {ns} are blocked (allowMigrations: false), so its chunks stay on {shard}: {chunks}.", facts...)},
				suggestion("allow-migrations", message.New("suggest.allowMigrations", "Allow moves of {ns}", message.Namespace("ns", c.NS)),
					"ns", string(c.NS)))
		}
	}
	return out
}

// checkDrainJumbo warns about chunks that the balancer leaves because of their flag.
func (d *draftBuilder) checkDrainJumbo(left topology.Remains) (out findings) {
	if left.Jumbo == 0 {
		if left.Known {
			out.pass("jumbo", d.fromFlags(), message.New("jumbo.noneOn", "No chunk on {shard} is flagged as jumbo.",
				message.Shard("shard", d.a.Shard)))
		}
		return out
	}
	for _, c := range d.s.Table.Collections {
		if c.Chunks == nil || c.Chunks.JumboByShard()[d.a.Shard] == 0 {
			continue
		}
		var first topology.Chunk
		for _, ch := range c.Chunks.All() {
			if ch.Jumbo && ch.Shard == d.a.Shard {
				first = ch
				break
			}
		}
		n, bounds := c.Chunks.JumboByShard()[d.a.Shard], "["+c.Key.ExtJSON(first.Min)+","+c.Key.ExtJSON(first.Max)+"]"
		plans := []Suggestion{
			suggestion(Split, message.New("suggest.split", "Split it"), "ns", string(c.NS), "bounds", bounds, "parts", "2"),
			suggestion(ClearJumbo, message.New("suggest.clearJumbo", "Clear its flag"), "ns", string(c.NS), "bounds", bounds),
		}
		if stay := d.s.Table.Staying(d.a.Shard); len(stay) > 0 {
			plans = append(plans, suggestion(MoveChunk, message.New("suggest.force", "Move it by force"),
				"ns", string(c.NS), "bounds", bounds, "to", stay[0], "force", "true"))
		}
		out.suggest(Check{ID: "jumbo", Verdict: Warn, Source: d.fromFlags(), Text: message.New("jumbo.stays",
			message.Plural(n, "1 chunk of {ns} on {shard} is flagged as jumbo, which the balancer leaves there. It begins at {min}.",
				"{chunks} chunks of {ns} on {shard} are flagged as jumbo, which the balancer leaves there. The first begins at {min}."),
			message.Namespace("ns", c.NS), message.Shard("shard", d.a.Shard), message.Count("chunks", n),
			message.Key("min", c.Key.Display(first.Min)))}, plans...)
	}
	return out
}

// checkUnsharded says which unsharded collections of the routing table (8.0) are on the
// shard: the balancer does not move them.
func (d *draftBuilder) checkUnsharded(left topology.Remains, v Verdict) (out findings) {
	if len(left.Unsharded) == 0 {
		return out
	}
	var plans []Suggestion
	for _, ns := range left.Unsharded {
		plans = append(plans, suggestion("move-collection", message.New("suggest.moveCollection", "Move {ns}",
			message.Namespace("ns", ns)), "ns", string(ns)))
	}
	out.suggest(Check{ID: "unsharded", Verdict: v, Source: d.fromTable(topology.PartRouting), Text: message.New("unsharded",
		message.Plural(len(left.Unsharded), "1 unsharded collection is on {shard}, which the balancer does not move: {names}. "+
			"moveCollection moves it.", "{n} unsharded collections are on {shard}, which the balancer does not move: {names}. "+
			"moveCollection moves them."),
		message.Shard("shard", d.a.Shard), message.Count("n", len(left.Unsharded)), message.Text("names", someNames(left.Unsharded)))}, plans...)
	return out
}

// checkDatabases says which databases have the shard as their primary: draining does not
// change that.
func (d *draftBuilder) checkDatabases(left topology.Remains, v Verdict) (out findings) {
	if len(left.Databases) == 0 {
		if v == Warn && left.Known {
			out.pass("databases", d.fromTable(topology.PartDatabases), message.New("databases.none",
				"No database has {shard} as its primary shard.", message.Shard("shard", d.a.Shard)))
		}
		return out
	}
	var plans []Suggestion
	for _, db := range left.Databases {
		plans = append(plans, suggestion("move-primary", message.New("suggest.movePrimary", "Give {db} another primary shard",
			message.Text("db", db)), "db", db))
	}
	out.suggest(Check{ID: "databases", Verdict: v, Source: d.fromTable(topology.PartDatabases), Text: message.New("databases.primary",
		message.Plural(len(left.Databases), "1 database has {shard} as its primary shard, which draining does not change: {names}. ",
			"{n} databases have {shard} as their primary shard, which draining does not change: {names}. ")+
			"movePrimary moves the unsharded collections.",
		message.Shard("shard", d.a.Shard), message.Count("n", len(left.Databases)), message.Text("names", someNames(left.Databases)))}, plans...)
	return out
}

// namesListed bounds the names in a sentence.
const namesListed = 5

// someNames lists the first names, and says that there are more.
func someNames[S ~string](names []S) string {
	text := operation.Joined(names[:min(len(names), namesListed)])
	if len(names) > namesListed {
		text += ", …"
	}
	return text
}

// waitsForDrain reports whether the plan waits until a shard is empty.
func (d *plannedSteps) waitsForDrain() bool {
	return slices.ContainsFunc(d.steps, operation.Step.AwaitsDrain)
}
