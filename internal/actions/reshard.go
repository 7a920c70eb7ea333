package actions

import (
	"fmt"
	"strings"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// ReshardKind rewrites a collection with another shard key.
const ReshardKind Kind = "reshard"

// maxInitialChunks is more than any collection needs at its beginning.
const maxInitialChunks = 100_000

func describeReshard() Description {
	return Description{
		Kind:  ReshardKind,
		Title: "Reshard a collection",
		Lead: "Rewrites the whole collection with another shard key, which takes minutes to days. It can be aborted until it " +
			"commits. Needs MongoDB 5.0 or later. From 8.0 on, the key that it has distributes its documents evenly anew.",
		Proof: "The collection has the new key and another UUID, and is no longer being resharded.",
		Undo: "Reshards the collection back to the old key, with the old zones. It takes as long again. A new distribution by the " +
			"same key cannot be undone.",
		Arguments: []Argument{argNS.needed(), argKey.needed(), argZones, argInitialChunks},
		LeastRisk: High,
		Sends:     []operation.Op{operation.OpReshard},
		plan:      planReshard,
	}
}

func planReshard(d *draftBuilder) (Draft, Args, error) {
	if err := d.needsRelease(5); err != nil {
		return Draft{}, d.a, err
	}
	c := d.c
	if strings.HasPrefix(c.NS.Collection(), "system.buckets.") {
		return Draft{}, d.a, fault.New(fault.Invalid, "%s holds the data of a time-series collection, which shardboard does not reshard.", c.NS)
	}
	key, err := shardkey.ParsePattern(d.a.Key)
	if err != nil {
		return Draft{}, d.a, err
	}
	zones, err := d.zonesOfKey(key)
	if err != nil {
		return Draft{}, d.a, err
	}
	d.a.Zones = zones
	ns, was := message.Namespace("ns", c.NS), message.Text("was", c.Key.String())
	if key.Equal(c.Key) {
		return d.redistribute(c, zones)
	}
	d.reshard(c, key, zones, d.a.InitialChunks)
	return d.finish(message.New("reshard", "Reshard {ns} from {was} to {key}.", ns, was, message.Text("key", key.String())),
		Undo{Possible: true, Text: message.New("reshard",
			"Reshards {ns} back to {was}. That is a new resharding: it takes as long again, and needs the same space.", ns, was)})
}

// needsRelease refuses a kind whose commands the release does not have. An unknown
// release is not refused here: a check warns about it.
func (d *draftBuilder) needsRelease(major int) error {
	if r := d.s.Release; r.Known() && !r.AtLeast(major, 0, 0) {
		return fault.New(fault.Invalid, "%s needs MongoDB %d.0 or later; this cluster runs %s.", d.description.Kind, major, r)
	}
	return nil
}

// redistribute plans to reshard a collection with the key that it has, which only releases from 8.0 on do. It keeps its
// zones if none are given.
func (d *draftBuilder) redistribute(c *topology.Collection, zones []operation.KeyZone) (Draft, Args, error) {
	ns, key := message.Namespace("ns", c.NS), message.Text("key", c.Key.String())
	if !d.s.Release.AtLeast(8, 0, 0) {
		d.block("key", d.fromTable(topology.PartRouting), message.New("key.same",
			"There is nothing to do: {ns} already has the shard key {key}.", ns, key))
	} else {
		if zones == nil && d.zonesRead() {
			for _, z := range d.ranges(c.NS) {
				zones = append(zones, operation.KeyZone{Min: z.RawMin, Max: z.RawMax, Zone: z.Zone})
			}
		}
		d.reshard(c, c.Key, zones, d.a.InitialChunks)
	}
	return d.finish(message.New("redistribute", "Distribute {ns} anew with its shard key {key}.", ns, key),
		Undo{Text: message.New("redistribute", "Cannot be undone: no command restores where the chunks of {ns} were.", ns)})
}

// reshard plans to give a collection another key, with the checks of that.
func (d *draftBuilder) reshard(c *topology.Collection, key shardkey.Pattern, zones []operation.KeyZone, chunks int) {
	d.resharded = c
	need := sameCollection(c)
	need.Want["resharding"] = "false"
	needs := []operation.Fact{need}
	if d.s.Activity.Known && d.s.Activity.ReshardingsReason == "" {
		needs = append(needs, operation.Fact{Kind: operation.FactResharding, Want: map[string]string{"running": ""}})
	}
	old := []operation.KeyZone{}
	if d.zonesRead() {
		for _, z := range d.ranges(c.NS) {
			old = append(old, operation.KeyZone{Min: z.RawMin, Max: z.RawMax, Zone: z.Zone})
		}
		needs = append(needs, overlapCount(c.NS, d.doc(c, c.Key.Min()), d.doc(c, c.Key.Max()), len(old)))
	}
	d.step(operation.Step{Op: operation.OpReshard, NS: c.NS, Needs: needs,
		Reshard: &operation.Reshard{Key: key.Raw(), Zones: zones, Chunks: chunks, WasKey: c.Key.Raw(), WasZones: old,
			WasChunks: min(c.Chunks.Len(), maxInitialChunks)},
		Proof: []operation.Fact{{Kind: operation.FactResharded, NS: c.NS, Was: operation.UUIDText(c.Incarnation.UUID),
			Want: map[string]string{"key": key.String(), "replaced": "true", "resharding": "false"}}}})
	d.add(d.checkOtherResharding())
	d.add(d.checkIndexBuilds(c))
	d.add(d.checkNewZones(c, zones))
	d.add(d.checkUniqueKey(c, key))
	d.add(d.checkLayouts(c, key))
	d.add(d.checkReshardSpace(c, zones))
	d.add(d.checkReshardWrites(c))
}

// zonesOfKey reads the zone ranges of the new key: complete, in order, without overlaps.
func (d *draftBuilder) zonesOfKey(key shardkey.Pattern) ([]operation.KeyZone, error) {
	if d.a.Zones == nil {
		return nil, nil
	}
	type ends struct{ lo, hi shardkey.Key }
	out, ranges := []operation.KeyZone{}, []ends{}
	for i, z := range d.a.Zones {
		lo, errLo := key.PrefixBound(z.Min)
		hi, errHi := key.PrefixBound(z.Max)
		switch {
		case errLo != nil || errHi != nil:
			return nil, fault.New(fault.Invalid,
				"The argument \"zones\": the bounds of range %d do not fit the new key %s: they need its first fields, in its order.", i+1, key)
		case lo.Compare(hi) >= 0:
			return nil, fault.New(fault.Invalid, "The argument \"zones\": range %d ends before it begins.", i+1)
		case len(d.members(z.Zone)) == 0:
			return nil, fault.New(fault.NotFound, "The argument \"zones\": no shard is in the zone %q of range %d.", z.Zone, i+1)
		}
		for n, r := range ranges {
			if lo.Compare(r.hi) < 0 && hi.Compare(r.lo) > 0 {
				return nil, fault.New(fault.Invalid, "The argument \"zones\": the ranges %d and %d overlap.", n+1, i+1)
			}
		}
		ranges = append(ranges, ends{lo, hi})
		whole := operation.KeyZone{Zone: z.Zone}
		var err error
		if whole.Min, err = key.Document(lo); err != nil {
			return nil, err
		}
		if whole.Max, err = key.Document(hi); err != nil {
			return nil, err
		}
		out = append(out, whole)
	}
	return out, nil
}

// undoReshard plans to reshard back.
func (d *draftBuilder) undoReshard(s operation.Step) error {
	if s.Redistributes() {
		return fault.New(fault.Conflict, "This cannot be undone: no command restores where the chunks of %s were.", s.NS)
	}
	c := d.s.Table.Collection(s.NS)
	if c == nil || c.Chunks.Len() == 0 {
		return collectionGone(s.NS)
	}
	was, err := shardkey.ParsePattern(s.Reshard.WasKey)
	if err != nil {
		return err
	}
	now, err := shardkey.ParsePattern(s.Reshard.Key)
	if err != nil {
		return err
	}
	if !c.Key.Equal(now) {
		return undoConflict("the collection now has another shard key",
			operation.Difference{Fact: operation.Fact{Kind: operation.FactCollection, NS: c.NS}, Field: "key",
				Want: now.String(), Got: c.Key.String()})
	}
	var missing []string
	for _, z := range s.Reshard.WasZones {
		if len(d.members(z.Zone)) == 0 {
			missing = append(missing, z.Zone)
		}
	}
	if len(missing) > 0 {
		return undoConflict(fmt.Sprintf("no shard is in the zone %s any more", operation.Joined(missing)))
	}
	zones := s.Reshard.WasZones
	if len(zones) == 0 && len(d.ranges(c.NS)) == 0 {
		zones = nil
	}
	// As many chunks as it had: the server refuses its default number for a key with fewer values.
	d.reshard(c, was, zones, s.Reshard.WasChunks)
	return nil
}
