package actions

import (
	"slices"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// Unshard moves all of a sharded collection to one shard and makes it unsharded.
const Unshard Kind = "unshard-collection"

func describeUnshard() Description {
	return Description{
		Kind:  Unshard,
		Title: "Unshard a collection",
		Lead: "Brings all data of a sharded collection to one shard and forgets its shard key (MongoDB 8.0 and later). " +
			"The server copies it as in a resharding, which takes at least 5 minutes. This cannot be undone.",
		Proof:     "The collection is not sharded, and on the shard.",
		Undo:      "Cannot be undone: shardboard does not shard collections.",
		Arguments: []Argument{argNS.needed(), argTo.help("The shard that receives all data. Omitted: the one with the least data.")},
		LeastRisk: High,
		Sends:     []operation.Op{operation.OpUnshard},
		plan:      planUnshard,
	}
}

func planUnshard(d *draftBuilder) (Draft, Args, error) {
	if err := d.needsRelease(8); err != nil {
		return Draft{}, d.a, err
	}
	c := d.c
	if topology.IsServerDatabase(c.NS.Database()) {
		return Draft{}, d.a, fault.New(fault.Invalid,
			"The argument \"ns\" names %q, which belongs to the server and stays sharded.", string(c.NS))
	}
	if d.a.To == "" {
		to, ok := d.leastLoaded()
		if !ok {
			return Draft{}, d.a, fault.New(fault.Invalid,
				"unshard-collection needs the argument \"to\" now: the sizes are not known, so no shard can be chosen.")
		}
		d.a.To = to
	}
	to, ns := d.a.To, message.Namespace("ns", c.NS)
	needs := []operation.Fact{sameCollection(c), shardTakesChunks(to)}
	d.step(operation.Step{Op: operation.OpUnshard, NS: c.NS, Shard: to, Needs: append(needs, d.noneResharding()...),
		Proof: []operation.Fact{unshardedOn(c.NS, to)}})
	d.receivers = append(d.receivers, to)
	d.unsharding = append(d.unsharding, c)
	d.wholes = append(d.wholes, wholeMove{ns: c.NS, to: to, bytes: d.sizeOf(c, bytesOf), documents: d.sizeOf(c, documentsOf)})
	d.add(d.checkWholeRecipient(to))
	d.add(d.checkWholeDisk(to))
	d.add(d.checkOtherResharding())
	d.add(d.checkIndexBuilds(c))
	d.add(d.checkZonesOfUnsharded(c))
	d.add(d.checkKeyLost(c))
	d.add(d.checkReshardWrites(c))
	key := message.Text("key", c.Key.String())
	return d.finish(message.New("unshard-collection", "Unshard {ns}: bring all of it to {shard}.", ns, message.Shard("shard", to)),
		Undo{Text: message.New("unshard-collection", "Cannot be undone: shardboard does not shard collections. "+
			"To go back, shard {ns} by {key} with shardCollection, which distributes it anew.", ns, key)})
}

// leastLoaded returns the shard with the least data, as the server would choose it.
func (d *plannedCluster) leastLoaded() (best string, ok bool) {
	least := int64(0)
	for _, s := range d.shards {
		if s.Draining {
			continue
		}
		var bytes int64
		for _, c := range d.now.Collections {
			f := d.now.SizeOn(c.NS, s.Name).Bytes
			if !f.Known && c.NS.Database() != "config" {
				return "", false
			}
			bytes += f.Value
		}
		for _, ns := range d.now.Unsharded {
			if d.now.Primary(ns.Database()) == s.Name {
				bytes += d.now.SizeOn(ns, s.Name).Bytes.Value
			}
		}
		if best == "" || bytes < least {
			best, least = s.Name, bytes
		}
	}
	return best, best != ""
}

// checkZonesOfUnsharded: 8.0 refuses to unshard a collection with zone ranges; later
// releases remove the ranges (SERVER-97212).
func (d *draftBuilder) checkZonesOfUnsharded(c *topology.Collection) (out findings) {
	n, ns, source := len(d.ranges(c.NS)), message.Namespace("ns", c.NS), d.fromTable(topology.PartZones)
	switch {
	case !d.zonesRead():
		out.warn("zones", source, message.New("zones.unsharding.unread",
			"It is not known whether {ns} has zone ranges. MongoDB 8.0 refuses to unshard a collection that has some.", ns))
	case n == 0:
		out.pass("zones", source, message.New("zones.unsharding.none", "{ns} has no zone range.", ns))
	case d.s.Release.AtLeast(8, 1, 0):
		out.warn("zones", source, message.New("zones.unsharding.removed",
			"The zone ranges of {ns} ({n}) are removed: an unsharded collection has none.", ns, message.Count("n", n)))
	default:
		out.block("zones", source, message.New("zones.unsharding.first",
			"{ns} has zone ranges ({n}), and MongoDB 8.0 refuses to unshard such a collection. Remove them first (zone-remove-range).",
			ns, message.Count("n", n)))
	}
	return out
}

// checkKeyLost says what becomes of the shard key, and whether the profile needs it.
func (d *draftBuilder) checkKeyLost(c *topology.Collection) (out findings) {
	facts := []message.Fact{message.Namespace("ns", c.NS), message.Text("key", c.Key.String()), message.Count("chunks", c.Chunks.Len())}
	out.warn("shard-key", d.fromTable(topology.PartRouting), message.New("shard-key.lost",
		"{ns} loses its shard key {key} and becomes one piece (chunks now: {chunks}); the index of the key stays. One shard then serves "+
			"all of its reads and writes.", facts...))
	p := d.s.Profile
	if p == nil || !slices.Contains(p.Match(d.s.Table), c.NS.Database()) {
		return out
	}
	if of, ok := p.Nearest(d.s.Table, c.NS.Database()).Collection(c.NS.Collection()); ok && of.Expected != "" {
		out.warn("layout", message.New("profile", "The layouts of {profile}", message.Text("profile", p.Name)), message.New("layout.unsharding",
			"{profile} expects {ns} to be sharded by {expected}. The layout check will report the difference.",
			append(facts, message.Text("profile", p.Name), message.Text("expected", of.Expected))...))
	}
	return out
}
