package actions

import (
	"strconv"

	"shardboard/internal/topology"
)

const (
	// diskTight is the used part of a disk from which a plan that adds to it warns.
	diskTight = 0.9
	// diskKept is how much of a disk no plan may take, at most a twentieth of it:
	// journals, index builds and the documents of the time it takes need room too.
	diskKept = 10 << 30
)

// checkDisks: does what a shard takes fit on its disk? Nothing that it gives is
// taken off: deleted documents leave room in files, which stay as large as they are.
func (d *draftBuilder) checkDisks() {
	comes := map[string][]topology.Figure{}
	for _, m := range d.moves {
		comes[m.to] = append(comes[m.to], d.estimate(m.k.c, m.lo, m.hi, bytesOf))
	}
	for _, shard := range d.recipients() {
		d.checkRoom([]string{shard}, sumOf(comes[shard]...))
	}
}

// checkRoom holds bytes that come against what the disks of shards have left
// together. Bytes are those of the documents: on disk they are compressed, and
// their indexes come on top, so what is estimated here is near the truth, not it.
func (d *draftBuilder) checkRoom(shards []string, comes topology.Figure) {
	check := func(v Verdict, code string, at topology.Figure, args ...string) {
		if len(shards) > 1 {
			code += ".together"
		}
		source := d.fromTable(topology.PartDisks)
		if at.Known {
			source = say("table", "part", string(topology.PartDisks), "at", moment(at.At))
		}
		d.check(Check{ID: "disk", Verdict: v, Text: say("disk."+code, append(args, "shard", list(shards))...), Source: source})
	}
	var used, total, kept int64
	var read topology.Figure // the oldest
	old := false
	for _, shard := range shards {
		disk := d.s.Table.DiskOf(shard)
		if !disk.Known() {
			d.check(Check{ID: "disk", Verdict: Pass, Text: say("disk.unknown", "shard", shard, "reason", disk.Used.Reason), Source: d.fromTable(topology.PartDisks)})
			return
		}
		used, total = used+disk.Used.Value, total+disk.Total.Value
		kept += min(diskKept, disk.Total.Value/20)
		old = old || d.s.Table.DiskOld(shard, d.s.Now)
		if !read.Known || disk.Used.At.Before(read.At) {
			read = disk.Used
		}
	}
	free := max(0, total-used)
	room := max(0, free-kept)
	full := func(n int64) float64 { return float64(used+n) / float64(total) }
	told := func(share float64) []string {
		return []string{"bytes", number(comes.Value), "free", number(free), "share", strconv.FormatFloat(share, 'g', 4, 64)}
	}
	switch most := comes.Value + comes.PlusMinus; {
	case !comes.Known && full(0) >= diskTight:
		check(Warn, "tightUnknown", read, told(full(0))...)
	case !comes.Known:
		check(Pass, "comesUnknown", read, told(full(0))...)
	case room == 0 || comes.Value > room:
		check(Block, "full", read, told(full(0))...)
	case most > room || full(most) >= diskTight:
		check(Warn, "tight", read, told(full(comes.Value))...)
	case old:
		check(Pass, "old", read, told(full(0))...)
	default:
		check(Pass, "fits", read, told(full(comes.Value))...)
	}
}

// checkZoneRoom holds what ranges will bring to a zone against its shards' disks.
func (d *draftBuilder) checkZoneRoom(zone string, comes topology.Figure) {
	var takers []string
	for _, shard := range d.members(zone) {
		if s := d.shard(shard); s != nil && !s.Draining {
			takers = append(takers, shard)
		}
	}
	if len(takers) > 0 {
		d.checkRoom(takers, comes)
	}
}
