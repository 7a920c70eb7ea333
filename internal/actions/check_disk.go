package actions

import (
	"cmp"

	"shardboard/internal/actions/operation"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

const (
	// diskNearlyFull is the used share of a disk from which a plan that adds to it warns.
	diskNearlyFull = 0.9
	// diskReserve is the space that a plan must leave free, at most a twentieth of the
	// disk: journals, index builds and new documents need space too.
	diskReserve = 10 << 30
)

func reserveOf(disk topology.Disk) int64 { return min(diskReserve, disk.Total.Value/20) }

// roomFor is how much may come to disks with so much free space, of which a part is kept. It is at least a hundredth of
// the free space: that changes little, and to move it may be what helps.
func roomFor(free, kept int64) int64 { return max(0, free-kept, free/100) }

func roomOn(disk topology.Disk) int64 { return roomFor(disk.Free(), reserveOf(disk)) }

// checkDisks checks that the data fits on the disks of the recipients. What a shard
// gives away is not subtracted, because files do not shrink when documents are deleted.
func (d *draftBuilder) checkDisks() (out findings) {
	comes, may := map[string][]topology.Figure{}, map[string]bool{}
	for _, m := range d.moves {
		for _, shard := range append([]string{m.to}, m.others...) { // the worst that may come to each
			comes[shard] = append(comes[shard], d.estimate(m.k.c, m.lo, m.hi, bytesOf))
			may[shard] = may[shard] || len(m.others) > 0
		}
	}
	for _, shard := range d.allRecipients() {
		out.add(d.checkDiskSpace([]string{shard}, incoming{bytes: sumOf(comes[shard]...), may: may[shard]}))
	}
	return out
}

// incoming is what comes to some shards.
type incoming struct {
	bytes     topology.Figure // of documents
	may       bool            // part of it may go elsewhere
	otherwise string          // what else helps when several shards have no room; "": to add one to the zone
}

// checkDiskSpace compares incoming bytes with the free space of the shards' disks
// together. Bytes are those of the documents. On disk they are compressed and have
// indexes, so the result is an estimate.
func (d *draftBuilder) checkDiskSpace(shards []string, in incoming) (out findings) {
	comes, moves, will := in.bytes, "About {bytes} move to {shard}", "will be"
	if in.may {
		moves, will = "Up to about {bytes} may move to {shard}", "would be"
	}
	var used, total, kept int64
	var read topology.Figure // the oldest
	old := false
	for _, shard := range shards {
		disk := d.s.Table.DiskOf(shard)
		if !disk.Known() {
			out.pass("disk", d.fromTable(topology.PartDisks), message.New("disk.unknown",
				"It is not known whether the data fits on the disk of {shard} ({reason}).",
				message.Shard("shard", shard), message.Coded("reason", disk.Used.Reason, topology.ReasonText(disk.Used.Reason))))
			return out
		}
		used, total = used+disk.Used.Value, total+disk.Total.Value
		kept += reserveOf(disk)
		old = old || d.s.Table.DiskOld(shard, d.s.Now)
		if !read.Known || disk.Used.At.Before(read.At) {
			read = disk.Used
		}
	}
	free := max(0, total-used)
	room := roomFor(free, kept)
	full := func(n int64) float64 { return float64(used+n) / float64(total) }
	source := d.fromTable(topology.PartDisks)
	if read.Known {
		source = fromPart(topology.PartDisks, read.At)
	}
	check := func(v Verdict, code string, bytes int64, one, many string) {
		text := message.New("disk."+code, one, message.Bytes("bytes", comes.Value), message.Bytes("free", free),
			message.Share("share", full(bytes)), message.Shard("shard", shards[0]))
		if len(shards) > 1 {
			text = message.New("disk."+code+".together", many, text.Facts...).With(message.Text("shard", operation.Joined(shards)))
		}
		out.check(Check{ID: "disk", Verdict: v, Text: text, Source: source})
	}
	switch most := comes.Value + comes.PlusMinus; {
	case !comes.Known && full(0) >= diskNearlyFull:
		check(Warn, "tightUnknown", 0,
			"It is not known how much data moves to {shard}. Its disk is {share} full: {free} are free.",
			"It is not known how much data moves to {shard}. Together their disks are {share} full: {free} are free.")
	case !comes.Known:
		check(Pass, "comesUnknown", 0,
			"It is not known how much data moves to {shard}; {free} are free there.",
			"It is not known how much data moves to {shard}; together they have {free} free.")
	case room == 0 || comes.Value > room:
		check(Block, "full", 0,
			moves+", where {free} are free: its disk is already {share} full. "+
				"Make room there, or choose another shard.",
			moves+", where {free} are free together: their disks are already {share} full. "+
				"Make room there, or "+cmp.Or(in.otherwise, "add a shard to the zone")+".")
	case most > room || full(most) >= diskNearlyFull:
		check(Warn, "tight", comes.Value,
			moves+", where {free} are free: its disk "+will+" about {share} full, by an estimate.",
			moves+", where {free} are free together: their disks "+will+" about {share} full, by an estimate.")
	case old:
		check(Pass, "old", 0,
			moves+". Its disk was {share} full at the last read, which was a while ago.",
			moves+". Together their disks were {share} full at the last read, which was a while ago.")
	default:
		check(Pass, "fits", comes.Value,
			moves+"; its disk "+will+" about {share} full.",
			moves+"; together their disks "+will+" about {share} full.")
	}
	return out
}

// checkZoneDiskSpace compares the data that comes to a zone with its shards' disks.
func (d *draftBuilder) checkZoneDiskSpace(zone string, comes topology.Figure) (out findings) {
	var takers []string
	for _, shard := range d.members(zone) {
		if s := d.shard(shard); s != nil && !s.Draining {
			takers = append(takers, shard)
		}
	}
	if len(takers) > 0 {
		out.add(d.checkDiskSpace(takers, incoming{bytes: comes}))
	}
	return out
}
