package rules

import (
	"slices"

	"shardboard/internal/topology"
)

const (
	// fullShare is the used part of all disks together from which another shard is
	// needed: data that is spread evenly then fills them all.
	fullShare = 0.7
	// fullOne is the used part of one disk from which it is told alone, and fullMuch
	// from which it cannot wait: moving data away takes room and time too.
	fullOne  = 0.8
	fullMuch = DiskFull
)

// DiskFull is the used part of a disk from which it cannot wait: its shard stops
// when it is full, and nothing in the cluster makes room by itself.
const DiskFull = 0.9

// onDisk is a shard whose disk is known.
type onDisk struct {
	shard string
	disk  topology.Disk
}

// addShards: where disks fill up, is it how much data there is, or where it is?
// All disks being full asks for machines; one among others that are not, for
// moving data to those. While some disk is not known nothing is said of all.
func addShards(l *look) {
	if l.unread(topology.PartDisks) {
		return
	}
	var known []onDisk
	var used, total int64
	for _, s := range l.Table.Shards {
		d := l.Table.DiskOf(s.Name)
		if !d.Known() {
			l.cannot(s.Name, "noDisk", "shard", s.Name)
			continue
		}
		known = append(known, onDisk{s.Name, d})
		used, total = used+d.Used.Value, total+d.Total.Value
	}
	if len(known) == 0 {
		return
	}
	slices.SortStableFunc(known, func(a, b onDisk) int {
		switch x, y := a.disk.Share(), b.disk.Share(); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	all := len(known) == len(l.Table.Shards)
	if share := float64(used) / float64(total); all && share >= fullShare {
		l.fullCluster(known, share)
		return
	}
	for _, k := range known {
		if k.disk.Share() >= fullOne {
			l.fullShard(k, all, used, total)
		}
	}
}

// fullCluster: not where data is is the trouble, but how much there is.
func (l *look) fullCluster(known []onDisk, share float64) {
	i := Problem{Subject: "cluster", Severity: Warn, Why: say("full.soon"), Weight: share,
		Text: say("full", "share", f64(share), "n", itoa(len(known)))}
	if top := known[0]; top.disk.Share() >= fullMuch {
		i.Severity, i.Why, i.Shard = Critical, say("full.now", "shard", top.shard), top.shard
	}
	for _, k := range known {
		i.Evidence = append(i.Evidence, diskFigures(k)...)
	}
	i.Remedy.WhyNot = say("full.machines")
	i.Remedy.Commands = []Command{check("sh.status()", "draining.look"), do(`sh.addShard("<replica set>/<host>:<port>")`, "full.add")}
	l.add(i)
}

// fullShard: one disk fills up while there is room elsewhere, or nobody knows.
func (l *look) fullShard(k onDisk, all bool, used, total int64) {
	share := k.disk.Share()
	i := Problem{Subject: k.shard, Shard: k.shard, Severity: Warn, Why: say("full.oneSoon"), Weight: share,
		Text: say("full.unknownRest", "shard", k.shard, "share", f64(share)), Evidence: diskFigures(k)}
	if share >= fullMuch {
		i.Severity, i.Why = Critical, say("full.now", "shard", k.shard)
	}
	i.Remedy.WhyNot = say("full.unknownRoom")
	if used, total = used-k.disk.Used.Value, total-k.disk.Total.Value; all && total > 0 {
		rest := float64(used) / float64(total)
		i.Text = say("full.alone", "shard", k.shard, "share", f64(share), "shareRest", f64(rest))
		i.Evidence = append(i.Evidence, Evidence{Name: say("full.rest"), Unit: "share", Known: true, Value: rest, Method: k.disk.Used.Method, At: k.disk.Used.At})
		i.Remedy.WhyNot = say("full.elsewhere")
	}
	i.Remedy.Commands = []Command{check("sh.status()", "full.where"), check("sh.getBalancerState()", "full.balancer")}
	l.add(i)
}

func diskFigures(k onDisk) []Evidence {
	return []Evidence{
		figure(say("full.used", "shard", k.shard), "bytes", k.disk.Used),
		figure(say("full.total", "shard", k.shard), "bytes", k.disk.Total),
	}
}
