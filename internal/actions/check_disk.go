package actions

import (
	"shardboard/internal/message"
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
	var used, total, kept int64
	var read topology.Figure // the oldest
	old := false
	for _, shard := range shards {
		disk := d.s.Table.DiskOf(shard)
		if !disk.Known() {
			d.pass("disk", d.fromTable(topology.PartDisks), message.New("disk.unknown",
				"It is not known whether the data fits on the disk of {shard} ({reason}).",
				message.Shard("shard", shard), message.Coded("reason", disk.Used.Reason, topology.ReasonText(disk.Used.Reason))))
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
	source := d.fromTable(topology.PartDisks)
	if read.Known {
		source = fromPart(topology.PartDisks, read.At)
	}
	check := func(v Verdict, code string, bytes int64, one, many string) {
		text := message.New("disk."+code, one, message.Bytes("bytes", comes.Value), message.Bytes("free", free),
			message.Share("share", full(bytes)), message.Shard("shard", shards[0]))
		if len(shards) > 1 {
			text = message.New("disk."+code+".together", many, text.Facts...).With(message.Text("shard", list(shards)))
		}
		d.check(Check{ID: "disk", Verdict: v, Text: text, Source: source})
	}
	switch most := comes.Value + comes.PlusMinus; {
	case !comes.Known && full(0) >= diskTight:
		check(Warn, "tightUnknown", 0,
			"It is not known how much data comes to {shard}. Its disk is {share} full: {free} are free.",
			"It is not known how much data comes to {shard}. Together their disks are {share} full: {free} are free.")
	case !comes.Known:
		check(Pass, "comesUnknown", 0,
			"It is not known how much data comes to {shard}; {free} are free there.",
			"It is not known how much data comes to {shard}; together they have {free} free.")
	case room == 0 || comes.Value > room:
		check(Block, "full", 0,
			"About {bytes} come to {shard}, where {free} are free: its disk is already {share} full. "+
				"Make room there, or choose another shard.",
			"About {bytes} come to {shard}, where {free} are free together: their disks are already {share} full. "+
				"Make room there, or add a shard to the zone.")
	case most > room || full(most) >= diskTight:
		check(Warn, "tight", comes.Value,
			"About {bytes} come to {shard}, where {free} are free: its disk will be about {share} full, by an estimate.",
			"About {bytes} come to {shard}, where {free} are free together: their disks will be about {share} full, by an estimate.")
	case old:
		check(Pass, "old", 0,
			"About {bytes} come to {shard}. Its disk was {share} full at the last read, which was a while ago.",
			"About {bytes} come to {shard}. Together their disks were {share} full at the last read, which was a while ago.")
	default:
		check(Pass, "fits", comes.Value,
			"About {bytes} come to {shard}; its disk will be about {share} full.",
			"About {bytes} come to {shard}; together their disks will be about {share} full.")
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
