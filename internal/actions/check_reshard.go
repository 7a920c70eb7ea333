package actions

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"shardboard/internal/actions/operation"
	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// checkOtherResharding: a cluster has one resharding at a time, and moving or unsharding
// a collection counts as one since 8.0.
func (d *draftBuilder) checkOtherResharding() (out findings) {
	act := d.s.Activity
	if !act.Known && len(act.Reshardings) == 0 {
		return // checkCompeting says that nothing is known
	}
	if reason := act.ReshardingsReason; reason != "" {
		out.warn("resharding", d.fromCluster(), message.New("resharding.othersUnknown",
			"It is not known whether another collection is being resharded ({reason}). If one is, the server refuses this.",
			message.Coded("reason", reason, topology.ReasonText(reason))))
		return out
	}
	for _, r := range act.Reshardings {
		out.block("resharding", d.fromCluster(), message.New("resharding.other",
			"{what} of {ns} is running ({state}), and a cluster runs one such operation at a time. Wait for its end, or abort it.",
			message.Text("what", r.Command), message.Namespace("ns", r.NS), message.Text("state", r.State)))
		return out
	}
	out.pass("resharding", d.fromCluster(), message.New("resharding.free", "No other collection is being resharded."))
	return out
}

// checkIndexBuilds: resharding fails if indexes of the collection are built meanwhile.
func (d *draftBuilder) checkIndexBuilds(c *topology.Collection) (out findings) {
	for _, o := range d.s.Activity.IndexBuilds {
		if o.NS == c.NS {
			out.block("index-build", d.fromCluster(), message.New("index-build.running",
				"An index of {ns} has been built for {age}. A resharding fails while one is built: wait for its end.",
				message.Namespace("ns", c.NS), message.Duration("age", o.For.Truncate(time.Second))))
			return out
		}
	}
	return out
}

// checkNewZones: the server refuses a resharding without zones if the collection has
// some, and replaces the old ranges by the given ones.
func (d *draftBuilder) checkNewZones(c *topology.Collection, zones []operation.KeyZone) (out findings) {
	old, ns := len(d.ranges(c.NS)), message.Namespace("ns", c.NS)
	src := d.fromTable(topology.PartZones)
	switch {
	case !d.zonesRead() && zones == nil:
		out.warn("zones", src, message.New("zones.unread",
			"It is not known whether {ns} has zone ranges. If it has, the server refuses a resharding without “zones”.", ns))
	case old > 0 && zones == nil:
		out.block("zones", src, message.New("zones.needed", message.Plural(old, "{ns} has a zone range, ", "{ns} has {old} zone ranges, ")+
			"whose bounds do not fit the new key. Give the ranges of the new key as “zones”, or an empty list for none.", ns,
			message.Count("old", old)))
	case old > 0 && len(zones) == 0:
		out.warn("zones", src, message.New("zones.removed", "The zone ranges of {ns} ({old}) will be gone: its data can be on every shard.",
			ns, message.Count("old", old)))
	case old > 0 || len(zones) > 0:
		out.pass("zones", src, message.New("zones.replaced", "Zone ranges of {ns}: {old} now, {new} with the new key.",
			ns, message.Count("old", old), message.Count("new", len(zones))))
	}
	return out
}

// checkUniqueKey: unique indexes of a sharded collection have to begin with its shard
// key, and the new key itself cannot be unique. The recipients build the index of the new
// key themselves, and refuse it after they have made the others.
func (d *draftBuilder) checkUniqueKey(c *topology.Collection, key shardkey.Pattern) (out findings) {
	out.needs.Indexes = c.NS
	x := d.s.Indexes
	facts := []message.Fact{message.Namespace("ns", c.NS), message.Text("key", key.String()), message.Text("was", c.Key.String())}
	if c.Unique && !isPrefix(key, c.Key) {
		out.block("unique", d.fromRule(), message.New("unique.ofKey",
			"The shard key {was} of {ns} is unique. Its unique index does not begin with {key}, so the resharding would fail. "+
				"Choose a key that the index begins with.", facts...))
		return out
	}
	if x.At.IsZero() {
		reason := cmp.Or(x.Reason, reasonNotLoaded)
		out.warn("unique", d.fromRule(), message.New("unique.unread",
			"The shards build the index that {key} needs. Every unique index of {ns} has to begin with {key}, or the resharding fails. "+
				"Its indexes could not be read ({reason}).", append(facts, message.Coded("reason", reason, topology.ReasonText(reason)))...))
		return out
	}
	source := message.New("indexes", "The indexes of one shard, read at {at}", message.Time("at", x.At))
	if i, ok := x.uniqueWithout(key); ok {
		out.block("unique", source, message.New("unique.reshard",
			"The unique index {index} of {ns} does not begin with {key}, so its values could not be kept unique, and the resharding "+
				"would fail. Choose a key that the index begins with, or replace the index.",
			append(facts, message.Text("index", sanitize.Truncate(i.Name, shownName)))...))
		return out
	}
	out.pass("unique", source, message.New("unique.fits",
		"The shards build the index that {key} needs. No unique index of {ns} is in its way.", facts...))
	return out
}

// isPrefix reports whether a key consists of the first fields of another.
func isPrefix(key, of shardkey.Pattern) bool {
	return key.Len() <= of.Len() && slices.Equal(key.Fields(), of.Fields()[:key.Len()])
}

// checkLayouts warns about a key that no known layout of the profile has.
func (d *draftBuilder) checkLayouts(c *topology.Collection, key shardkey.Pattern) (out findings) {
	p := d.s.Profile
	if p == nil || !slices.Contains(p.Match(d.s.Table), c.NS.Database()) {
		return out
	}
	name, listed, unjudged := c.NS.Collection(), false, false
	var with, expected []string
	for _, l := range p.Layouts {
		of, ok := l.Collection(name)
		if !ok {
			continue
		}
		listed, unjudged = true, unjudged || of.Unjudged
		known := []string{of.Expected, of.Documented}
		for _, v := range of.Variants {
			known = append(known, v.Key)
		}
		if slices.Contains(known, key.String()) {
			with = append(with, l.Name)
		}
		if of.Expected != "" && !slices.Contains(expected, of.Expected) {
			expected = append(expected, of.Expected)
		}
	}
	facts := []message.Fact{message.Namespace("ns", c.NS), message.Text("key", key.String()), message.Text("profile", p.Name),
		message.Text("layouts", strings.Join(with, ", ")), message.Text("expected", strings.Join(expected, " or "))}
	src := message.New("profile", "The layouts of {profile}", message.Text("profile", p.Name))
	switch nearest := p.Nearest(d.s.Table, c.NS.Database()); {
	case !listed || unjudged:
	case slices.Contains(with, nearest.Name):
		out.pass("layout", src, message.New("layout.same", "The layout {layouts} of {profile} has {ns} with this key.", facts...))
	case len(with) > 0:
		out.warn("layout", src, message.New("layout.other",
			"This database has the layout {nearest} of {profile}. {ns} with the key {key} belongs to {layouts}. Check that the running "+
				"release queries by it.", append(facts, message.Text("nearest", nearest.Name))...))
	case len(expected) == 0:
		out.warn("layout", src, message.New("layout.unsharded",
			"{ns} is not sharded in any layout of {profile}. Check that the running release queries by {key}.", facts...))
	default:
		out.warn("layout", src, message.New("layout.none",
			"No layout of {profile} has {ns} with the key {key}; expected is {expected}. Its queries and unique indexes are made for "+
				"that key: others go to all shards, and the layout check will report the difference.", facts...))
	}
	return out
}

// spaceFactor is how much free space a resharding needs, in sizes of the collection
// (manual of MongoDB 5.0 and later).
const spaceFactor = 1.2

// checkReshardSpace compares 1.2 times the size of the collection with the free space of
// the recipients: all shards that are not draining, or the shards of the zones if those
// cover what is known.
func (d *draftBuilder) checkReshardSpace(c *topology.Collection, zones []operation.KeyZone) (out findings) {
	var shards []string
	for _, s := range d.shards {
		if !s.Draining {
			shards = append(shards, s.Name)
		}
	}
	natural.Sort(shards)
	size := d.sizeOf(c, bytesOf)
	facts := []message.Fact{message.Namespace("ns", c.NS), message.Bytes("size", size.Value), message.Text("shards", operation.Joined(shards))}
	src := d.fromTable(topology.PartDisks)
	if !size.Known {
		out.warn("disk", d.fromTable(topology.PartSizes), message.New("reshard-disk.sizeUnknown",
			"It is not known how big {ns} is. A resharding needs 1.2 times its size as free space.", facts...))
		return out
	}
	need := int64(float64(size.Value+size.PlusMinus) * spaceFactor)
	facts = append(facts, message.Bytes("need", need))
	var room int64
	tight := ""
	for _, shard := range shards {
		disk := d.s.Table.DiskOf(shard)
		if !disk.Known() {
			out.warn("disk", src, message.New("reshard-disk.unknown",
				"A resharding needs about {need} free on the shards together, 1.2 times the size of {ns}. "+
					"The free space of {shard} is not known ({reason}).",
				append(facts, message.Shard("shard", shard), message.Coded("reason", disk.Used.Reason, topology.ReasonText(disk.Used.Reason)))...))
			return out
		}
		free := roomOn(disk)
		if room += free; free < need/int64(len(shards)) {
			tight = shard
		}
	}
	facts = append(facts, message.Bytes("room", room), message.Shard("shard", tight))
	switch {
	case len(shards) == 0 || room < need:
		out.block("disk", src, message.New("reshard-disk.full",
			"A resharding needs about {need} of free space, 1.2 times the size of {ns}. {shards} can take {room} together. "+
				"Make room, or add a shard.", facts...))
	case len(zones) > 0:
		out.warn("disk", src, message.New("reshard-disk.zones",
			"A resharding needs about {need} of free space; {shards} can take {room} together. It is not known how the zones divide it.",
			facts...))
	case tight != "":
		out.warn("disk", src, message.New("reshard-disk.tight",
			"A resharding needs about {need} of free space; {shards} can take {room} together, but {shard} less than an even part.", facts...))
	default:
		out.pass("disk", src, message.New("reshard-disk.fits",
			"A resharding needs about {need} of free space, 1.2 times the size of {ns}; {shards} can take {room} together.", facts...))
	}
	return out
}

// sizeOf adds up a figure of a collection over all shards that have chunks of it.
func (d *plannedCluster) sizeOf(c *topology.Collection, of func(topology.Size) topology.Figure) topology.Figure {
	var total sum
	for shard := range c.Chunks.CountByShard() {
		f := of(d.now.SizeOn(c.NS, shard))
		if !f.Known && f.Reason == "" {
			f.Reason = reasonNotLoaded
		}
		total.add(f)
	}
	return total.figure()
}

// checkReshardWrites says what clients notice.
func (d *draftBuilder) checkReshardWrites(c *topology.Collection) (out findings) {
	ns := message.Namespace("ns", c.NS)
	out.warn("blocked-writes", d.fromRule(), message.New("blocked-writes.reshard",
		"At the end, writes to {ns} wait for up to 2 seconds. Until then its shards read and write all of its documents, "+
			"which takes I/O and CPU, and at least 5 minutes.", ns))
	out.pass("meanwhile", d.fromRule(), message.New("meanwhile.reshard",
		"Until its end, indexes of {ns} cannot be created or dropped, it cannot be renamed or dropped, its chunks do not move, and "+
			"no shard can be added or removed.", ns))
	return out
}
