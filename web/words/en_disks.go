package words

// disks are the sentences about how full the shards' disks are.
var disks = map[string]string{
	"reason.title.noDisk": "The shard did not say how large its disk is. One that has nothing of the database that was asked about does not.",

	"col.disk":      "Disk",
	"disk.of":       "of {total}",
	"disk.of.old":   "of {total}, {at}",
	"disk.full":     "{used} of {total} ({share})",
	"disk.full.old": "{used} of {total} ({share}), as read at {at}",
	"disk.title":    "{used} of {total} used, {free} free: the file system of the shard’s primary, with all that is on it. {how}",

	"advice.say.full":             "{share} of the disks of all shards ({n}) is used.",
	"advice.say.full.alone":       "The disk of {shard} is {share} full, while those of the other shards are {shareRest} full: there is room for its data elsewhere, and another shard is not what is lacking.",
	"advice.say.full.unknownRest": "The disk of {shard} is {share} full. How full all the others are is not known.",
	"advice.why.full.soon":        "No move helps when all are full.",
	"advice.why.full.oneSoon":     "Moving data away takes time, and is harder the fuller the disk is.",
	"advice.why.full.now":         "{shard} is almost full.",
	"advice.fig.full.used":        "Used on the disk of {shard}",
	"advice.fig.full.total":       "Size of the disk of {shard}",
	"advice.fig.full.rest":        "Used of the other disks",
	"advice.not.full.machines":    "It takes machines: a new replica set, then the command.",
	"advice.not.full.elsewhere":   "Balancing helps, and the balancer evens out data, not disks: move chunks or pin projects to an emptier shard. What else is on the disk, no plan can know.",
	"advice.not.full.unknownRoom": "Where there is room for its data is not known.",
	"advice.cmd.full.add":         "with the name of the new replica set",
	"advice.cmd.full.where":       "look at what is on the shard, and at flags that keep it there",
	"advice.cmd.full.balancer":    "should be true, or nothing is evened out",
	"advice.cannot.noDisk":        "How full the disk of {shard} is, is not known.",
}
