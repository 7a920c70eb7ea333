package rules

import (
	"slices"

	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

const (
	// fullShare is the used part of all disks together from which another shard is
	// needed: data that is spread evenly then fills them all.
	fullShare = 0.7
	// fullOne is the used part of one disk from which that disk is a problem, and
	// fullMuch from which it cannot wait: moving data away takes room and time too.
	fullOne  = 0.8
	fullMuch = DiskFull
)

// DiskFull is the used part of a disk from which it cannot wait: its shard stops
// when it is full, and nothing in the cluster makes room by itself.
const DiskFull = 0.9

// AddShards finds disks that fill up. When all are full, more machines are needed; when only one
// is, its data can move to the others. Nothing is said of all disks while one of them is not
// known.
const AddShards Rule = "add-shards"

var addShards = rule{id: AddShards, name: "More shards needed", find: findAddShards,
	needs: []topology.Part{topology.PartDisks}, playbooks: []Playbook{PlaybookFullShard, PlaybookNewShards}}

func findAddShards(ev *evaluation) {
	var known []onDisk
	var used, total int64
	for _, s := range ev.Table.Shards {
		if !ev.Table.DiskOf(s.Name).Known() {
			ev.cannot(s.Name, message.New("noDisk",
				"It is not known how full the disk of {shard} is.",
				message.Shard("shard", s.Name)))
		}
	}
	shards := 0
	for _, on := range ev.Table.SharedDisks() {
		d := ev.Table.DiskOf(on[0])
		known = append(known, onDisk{on[0], on, d})
		used, total, shards = used+d.Used.Value, total+d.Total.Value, shards+len(on)
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
	all := shards == len(ev.Table.Shards)
	if share := float64(used) / float64(total); all && share >= fullShare {
		ev.fullCluster(known, share)
		return
	}
	for _, k := range known {
		if k.disk.Share() >= fullOne {
			ev.fullShard(k, all, used, total)
		}
	}
}

// onDisk is a disk that is known.
type onDisk struct {
	shard  string   // the first on it
	shards []string // all on it
	disk   topology.Disk
}

// name is of whom the disk is, within a sentence.
func (k onDisk) name() message.Fact {
	if len(k.shards) == 1 {
		return message.Shard("shard", k.shard)
	}
	return message.Text("shard", format.JoinWords(k.shards))
}

// fullCluster is the problem of too much data for all disks together.
func (ev *evaluation) fullCluster(known []onDisk, share float64) {
	p := Problem{
		Subject:  "cluster",
		Severity: Warn,
		Why:      message.New("full.soon", "Moving data does not help when all disks are full."),
		Weight:   share,
		Text: message.New("full",
			"{share} of the disks of all shards ({n}) is used.",
			message.Share("share", share), message.Count("n", len(known))),
	}
	if len(known) == 1 && len(known[0].shards) > 1 {
		p.Text = message.New("full.one", "{share} of the one disk of all shards ({n}) is used.",
			message.Share("share", share), message.Count("n", len(known[0].shards)))
	}
	if top := known[0]; top.disk.Share() >= fullMuch {
		p.Severity, p.Why, p.Shard = Critical, message.New("full.now",
			"The disk of {shard} is almost full.",
			top.name()), top.shard
	}
	for _, k := range known {
		p.Evidence = append(p.Evidence, diskFigures(k)...)
	}
	p.Remedy.WhyNot = message.New("full.machines",
		"Add a shard that has a disk of its own: set up its replica set first, then run sh.addShard.")
	p.Remedy.Commands = []Command{
		showStatus(),
		writeCommand(`sh.addShard("<replica set>/<host>:<port>")`, "full.add", "with the name of the new replica set"),
	}
	ev.add(p)
}

// fullShard is the problem of one disk that fills up while others have room, or may have.
func (ev *evaluation) fullShard(k onDisk, all bool, used, total int64) {
	share := k.disk.Share()
	p := Problem{
		Subject:  k.shard,
		Shard:    k.shard,
		Severity: Warn,
		Why:      message.New("full.oneSoon", "Moving data away takes time, and is harder the fuller the disk is."),
		Weight:   share,
		Text: message.New("full.unknownRest",
			"The disk of {shard} is {share} full. It is not known how full the other disks are.",
			k.name(), message.Share("share", share)),
		Evidence: diskFigures(k),
	}
	if share >= fullMuch {
		p.Severity, p.Why = Critical, message.New("full.now",
			"The disk of {shard} is almost full.",
			k.name())
	}
	p.Remedy.WhyNot = message.New("full.unknownRoom", "It is not known which shard has room for its data.")
	if used, total = used-k.disk.Used.Value, total-k.disk.Total.Value; all && total > 0 {
		rest := float64(used) / float64(total)
		p.Text = message.New("full.alone",
			"The disk of {shard} is {share} full, while those of the other shards are {shareRest} full: "+
				"the others have room for its data, so another shard is not needed.",
			k.name(), message.Share("share", share), message.Share("shareRest", rest))
		p.Evidence = append(p.Evidence, shareFrom(message.New("full.rest", "Used of the other disks"), rest, k.disk.Used.Method, k.disk.Used.At))
		p.Remedy.WhyNot = message.New("full.elsewhere",
			"The balancer evens out data, not disks: move chunks or pin projects to "+
				"an emptier shard. shardboard cannot see what else is on the disk.")
	}
	p.Remedy.Commands = []Command{
		readCommand("sh.status()", "full.where", "look at what is on the shard, and at flags that keep it there"),
		readCommand("sh.getBalancerState()", "full.balancer", "must be true, or nothing is moved"),
	}
	ev.add(p)
}

func diskFigures(k onDisk) []Evidence {
	return []Evidence{
		figure(message.New("full.used",
			"Used on the disk of {shard}",
			k.name()), "bytes", k.disk.Used),
		figure(message.New("full.total",
			"Size of the disk of {shard}",
			k.name()), "bytes", k.disk.Total),
	}
}
