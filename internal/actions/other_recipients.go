package actions

import (
	"slices"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// A move whose range only has to leave a shard may go to any shard of its zone. The plan names the one that it
// expects and the others that a run may take when that one is blocked, so that what was confirmed covers them.

// keepOthersWithRoom leaves a move only those other recipients on whose disk there would be room if everything went
// there that may: a plan is judged by the worst that it may do. Where the disk or the size is not known there is
// room, as for the planned recipients.
func (d *draftBuilder) keepOthersWithRoom() {
	if !slices.ContainsFunc(d.moves, func(m transfer) bool { return len(m.others) > 0 }) {
		return
	}
	comes := map[string]int64{}
	size := make([]topology.Figure, len(d.moves))
	for i, m := range d.moves {
		size[i] = d.estimate(m.k.c, m.lo, m.hi, bytesOf)
		comes[m.to] += atMost(size[i])
	}
	for i, m := range d.moves {
		if len(m.others) == 0 {
			continue
		}
		var fit []string
		for _, shard := range m.others {
			disk, most := d.s.Table.DiskOf(shard), atMost(size[i])
			if disk.Known() && comes[shard]+most > roomOn(disk) {
				continue
			}
			comes[shard] += most
			fit = append(fit, shard)
		}
		d.moves[i].others = fit
		d.steps[m.step].Others = fit
	}
}

func atMost(f topology.Figure) int64 {
	if !f.Known {
		return 0
	}
	return f.Value + f.PlusMinus
}

// moveAnywhereOff plans to move a range off a shard, to one shard or to one of the others.
func (d *draftBuilder) moveAnywhereOff(k *futureChunks, lo, hi shardkey.Key, to, off string, others []string) {
	before := len(d.moves)
	d.moveOff(k, lo, hi, to, off)
	for i := before; i < len(d.moves); i++ {
		d.moves[i].others = slices.DeleteFunc(slices.Clone(others), func(s string) bool { return s == to || s == off })
		d.steps[d.moves[i].step].Others = d.moves[i].others
	}
}
