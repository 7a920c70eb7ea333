package actions

import (
	"math/big"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Spread cuts a project's rows into as many equal ranges of hashes as there are
// shards and gives each shard one, in collections whose key goes on with a hash.
const Spread Kind = "spread"

func describeSpread() Description {
	return Description{
		Kind:      Spread,
		Title:     "Spread a project over the shards",
		Lead:      "Every shard gets an equal part of the project’s hashes, where its shard key goes on with a hash.",
		Proof:     "Each part is on its shard.",
		Undo:      "Moving back and merging.",
		Arguments: []Argument{argProject.needed(), argDB, argMode.unasked().help("Who moves the chunks; only moves, by this run."), argPause},
		Adapts:    true,
		KeepsGoal: true,
		plan:      planSpread,
	}
}

func planSpread(d *draftBuilder) (Draft, Args, error) {
	s := d.s
	if mode := d.a.Mode; mode != ModeMoves {
		return Draft{}, d.a, fault.New(fault.Invalid,
			"The argument \"mode\" is %q; spread takes %q only: the balancer knows nothing of projects and spreads none.", mode, ModeMoves)
	}
	p, err := s.project(Spread, &d.a)
	if err != nil {
		return Draft{}, d.a, err
	}
	shards, spread := 0, 0
	for _, h := range d.heldBy(p) {
		if h.c.Key.Len() < 2 || !hashedLast(h.c.Key) {
			d.stays = append(d.stays, message.New("together",
				"{ns} stays together: a project is one value of {key} there. {remedy}.",
				message.Namespace("ns", h.c.NS), message.Text("key", h.c.Key.String()),
				message.Words("remedy", d.remedy())))
			continue
		}
		if takers := d.takers(h); len(takers) > 1 {
			shards = max(shards, len(takers))
			d.receivers = append(d.receivers, takers...)
			d.spread(h, p, takers)
			spread++
		}
	}
	if spread == 0 && !d.blocked() {
		d.block("unsplittable", d.fromTable(topology.PartRouting), message.New("unsplittable.notHashed",
			"No collection of {project} has a shard key with a hashed field after the project, so its data "+
				"cannot be spread: {remedy}.",
			message.Project("project", p.ID.Hex(), p.Name), message.Words("remedy", d.remedy())))
	}
	d.reached = spread > 0 && len(d.steps) == 0 && !d.blocked()
	return d.finish(message.New("spread",
		"Spread the data of the project {project} ({id}) whose shard key is hashed over {shards} shards.",
		message.Project("project", p.ID.Hex(), p.Name), message.Key("id", p.ID.Hex()),
		message.Count("shards", shards)), Undo{Possible: true, Text: message.New("spread",
		"The chunks that were moved and split for {project} are moved back and merged.",
		message.Project("project", p.ID.Hex(), p.Name))})
}

// takers are the shards over which a project's part of a collection may be
// spread. A zone that holds it together has to go first.
func (d *draftBuilder) takers(h held) []string {
	if met := meeting(d.ranges(h.c.NS), h.lo, h.hi); len(met) > 0 {
		d.block("zone-overlap", d.fromTable(topology.PartZones), message.New("zone-overlap.holds",
			"The zone {zone} keeps the project together in {ns}. Unpin it first.",
			message.Namespace("ns", h.c.NS), message.Zone("zone", met[0].Zone)))
		return nil
	}
	var out []string
	for _, s := range d.s.Table.Shards {
		if !s.Draining {
			out = append(out, s.Name)
		}
	}
	if len(out) < 2 {
		d.block("recipient", d.fromTable(topology.PartShards), message.New("recipient.single",
			"Only one shard can take a part."))
	}
	return out[:min(len(out), maxParts)]
}

// spread cuts at equal hashes and gives each shard the part of which it has most.
func (d *draftBuilder) spread(h held, p placement.Project, shards []string) {
	k := d.future(h.c)
	end := new(big.Int).Lsh(big.NewInt(1), 63)
	prefix := []bson.RawValue{placement.ObjectIDValue(p.ID)}
	points, _ := hashPoints(h.c.Key, prefix, new(big.Int).Neg(end), end, len(shards))
	edges := append(append([]shardkey.Key{h.lo}, points...), h.hi)
	parts := make([]shardkey.Range, len(shards))
	for i := range parts {
		parts[i] = shardkey.Range{Min: edges[i], Max: edges[i+1]}
	}
	owners := d.settled(k, parts, shards)
	d.cutOut(k, h.lo, h.hi)
	for i, part := range parts {
		if i > 0 {
			d.splitAt(k, part.Min)
		}
	}
	for i, part := range parts {
		for _, ch := range k.within(part.Min, part.Max) {
			d.move(k, ch.Min, ch.Max, owners[i])
		}
	}
}

// settled pairs parts and shards so that little moves: the greatest holdings
// first, each part and each shard once.
func (d *draftBuilder) settled(k *futureChunks, parts []shardkey.Range, shards []string) []string {
	type holding struct {
		part  int
		shard string
		share float64
	}
	var all []holding
	for i, part := range parts {
		of := map[string]float64{}
		for _, p := range k.within(part.Min, part.Max) {
			in := shardkey.Range{Min: later(p.Min, part.Min), Max: earlier(p.Max, part.Max)}
			share, _ := hashPart(k.c.Key, part, in)
			of[p.Shard] += share
		}
		for _, s := range shards {
			all = append(all, holding{i, s, of[s]})
		}
	}
	slices.SortStableFunc(all, func(a, b holding) int {
		switch {
		case a.share > b.share:
			return -1
		case a.share < b.share:
			return 1
		}
		return 0
	})
	owners, used := make([]string, len(parts)), map[string]bool{}
	for _, h := range all {
		if owners[h.part] == "" && !used[h.shard] {
			owners[h.part], used[h.shard] = h.shard, true
		}
	}
	return owners
}
