package words

// disks are the sentences about how full the shards' disks are.
var disks = map[string]string{
	"reason.title.noDisk": "The shard did not say how large its disk is. One that has nothing of the database that was asked about does not.",

	"disk.full":     "{used} of {total} ({share})",
	"disk.full.old": "{used} of {total} ({share}), as read at {at}",
	"disk.title":    "{used} of {total} used, {free} free: the file system of the shard’s primary, with all that is on it. {how}",
}
