package actions

import (
	"math/big"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Spread divides a project's data over the shards, in collections whose shard key has
// another field after the project: into equal ranges of hashes if that is hashed, else by
// the chunks that the project has.
const Spread Kind = "spread"

func describeSpread() Description {
	return Description{
		Kind:  Spread,
		Title: "Spread a project over the shards",
		Lead: "Every shard gets an equal part of the project, in collections whose shard key has another field after the project. " +
			"If that field is not hashed, the project’s chunks are divided; split them first.",
		Proof:     "Each part is on its shard.",
		Undo:      "Moves the chunks back and merges what was split.",
		Arguments: []Argument{argProject.needed(), argDB, argMode.unasked().help("Who moves the chunks: always moves, by this run."), argPause},
		Adapts:    true,
		KeepsGoal: true,
		InBatches: true,
		plan:      planSpread,
	}
}

func planSpread(d *draftBuilder) (Draft, Args, error) {
	s := d.s
	if mode := d.a.Mode; mode != ModeMoves {
		return Draft{}, d.a, fault.New(fault.Invalid,
			"The argument \"mode\" is %q; spread takes %q only, because the balancer does not know whose data is whose.", mode, ModeMoves)
	}
	p, err := s.project(&d.a)
	if err != nil {
		return Draft{}, d.a, err
	}
	shards, spread := 0, 0
	for _, r := range d.projectRanges(p) {
		if d.oneChunk(r) {
			continue
		}
		if r.c.Key.Len() < 2 || r.c.Key.Hashed() >= 0 && !hashedLast(r.c.Key) {
			d.stays = append(d.stays, message.New("together",
				"{ns} stays on one shard, because a project is one value of {key} there. To divide it: {remedy}.",
				message.Namespace("ns", r.c.NS), message.Text("key", r.c.Key.String()),
				message.Words("remedy", d.remedy())))
			continue
		}
		if targets := d.spreadTargets(r); len(targets) > 1 {
			shards = max(shards, len(targets))
			d.receivers = append(d.receivers, targets...)
			if hashedLast(r.c.Key) {
				d.spreadRange(r, p, targets)
			} else {
				d.spreadChunks(r, targets)
			}
			spread++
		}
	}
	if spread == 0 && !d.blocked() {
		d.block("unsplittable", d.fromTable(topology.PartRouting), message.New("unsplittable.notHashed",
			"No collection has a shard key with a hashed field after the project, or several chunks of it, so {project} cannot be "+
				"spread. To divide it: {remedy}.",
			projectFact(p), message.Words("remedy", d.remedy())))
	}
	d.reached = spread > 0 && len(d.steps) == 0 && !d.blocked()
	return d.finish(message.New("spread",
		"Spread the project {project} ({id}) over "+message.Plural(shards, "one shard", "{shards} shards")+
			", in collections whose shard key divides it.",
		projectFact(p), message.Key("id", p.IDText()),
		message.Count("shards", shards)), Undo{Possible: true, Text: message.New("spread",
		"Moves the chunks of {project} back and merges what was split.",
		projectFact(p))})
}

// spreadTargets returns the shards over which a project's range may be spread. A zone
// range that keeps it together blocks.
func (d *draftBuilder) spreadTargets(r projectRange) []string {
	if met := operation.OverlappingRanges(d.ranges(r.c.NS), r.lo, r.hi); len(met) > 0 {
		d.block("zone-overlap", d.fromTable(topology.PartZones), message.New("zone-overlap.holds",
			"The zone {zone} keeps the project together in {ns}. Unpin it first.",
			message.Namespace("ns", r.c.NS), message.Zone("zone", met[0].Zone)))
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
			"Only one shard can take chunks, so there is nothing to spread over."))
	}
	return out[:min(len(out), maxParts)]
}

// spreadRange splits at equal distances of the hash and moves each part to its shard.
func (d *draftBuilder) spreadRange(r projectRange, p placement.Project, shards []string) {
	k := d.future(r.c)
	end := new(big.Int).Lsh(big.NewInt(1), 63)
	prefix := []bson.RawValue{p.IDValue()}
	points, _ := hashPoints(r.c.Key, prefix, new(big.Int).Neg(end), end, len(shards))
	edges := append(append([]shardkey.Key{r.lo}, points...), r.hi)
	parts := make([]shardkey.Range, len(shards))
	for i := range parts {
		parts[i] = shardkey.Range{Min: edges[i], Max: edges[i+1]}
	}
	owners := d.assignParts(k, parts, shards, func(part, in shardkey.Range) float64 {
		share, _ := hashPart(k.c.Key, part, in)
		return share
	})
	d.splitAtEnds(k, r.lo, r.hi)
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

// assignParts gives each shard one part so that little has to move: it takes the pairs
// of a part and a shard in the order of how much of the part the shard already has, which
// share tells of each chunk.
func (d *draftBuilder) assignParts(k *futureChunks, parts []shardkey.Range, shards []string,
	share func(part, chunk shardkey.Range) float64) []string {
	type holding struct {
		part  int
		shard string
		share float64
	}
	var all []holding
	for i, part := range parts {
		of := map[string]float64{}
		for _, p := range k.within(part.Min, part.Max) {
			in := shardkey.Range{Min: shardkey.Later(p.Min, part.Min), Max: shardkey.Earlier(p.Max, part.Max)}
			of[p.Shard] += share(part, in)
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
