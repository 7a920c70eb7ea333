package words

// disks are the sentences about how full the shards' disks are.
var disks = map[string]string{
	"reason.noDisk":       "not reported",
	"reason.title.noDisk": "The shard did not say how large its disk is. One that has nothing of the database that was asked about does not.",

	"col.disk":      "Disk",
	"disk.of":       "of {total}",
	"disk.of.old":   "of {total}, {at}",
	"disk.full":     "{used} of {total} ({share})",
	"disk.full.old": "{used} of {total} ({share}), as read at {at}",
	"disk.title":    "{used} of {total} used, {free} free: the file system of the shard’s primary, with all that is on it. {how}",

	"check.disk.fits":                  "About {bytes} come to {shard}; its disk will be about {share} full.",
	"check.disk.fits.together":         "About {bytes} come to {shard}; their disks will be about {share} full together.",
	"check.disk.old":                   "About {bytes} come to {shard}. Its disk was {share} full when that was read last, which is a while ago.",
	"check.disk.old.together":          "About {bytes} come to {shard}. Their disks were {share} full together when that was read last, which is a while ago.",
	"check.disk.tight":                 "About {bytes} come to {shard}, where {free} are free: its disk will be about {share} full, give or take what is estimated.",
	"check.disk.tight.together":        "About {bytes} come to {shard}, where {free} are free together: their disks will be about {share} full, give or take what is estimated.",
	"check.disk.full":                  "About {bytes} come to {shard}, and {free} are free: its disk is {share} full already. Make room there, or choose another shard.",
	"check.disk.full.together":         "About {bytes} come to {shard}, and {free} are free together: their disks are {share} full already. Make room there, or add a shard to the zone.",
	"check.disk.tightUnknown":          "How much comes to {shard} is not known, and its disk is {share} full: {free} are free.",
	"check.disk.tightUnknown.together": "How much comes to {shard} is not known, and their disks are {share} full together: {free} are free.",
	"check.disk.comesUnknown":          "How much comes to {shard} is not known; {free} are free there.",
	"check.disk.comesUnknown.together": "How much comes to {shard} is not known; {free} are free there together.",
	"check.disk.unknown":               "Whether it fits on the disk of {shard} is not known ({reason}).",
}
