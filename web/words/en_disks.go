package words

// disks are the sentences about how full the shards' disks are.
var disks = map[string]string{

	"disk.full":     "{used} of {total} ({share})",
	"disk.full.old": "{used} of {total} ({share}), as read at {at}",
	"disk.title":    "{used} of {total} used, {free} free: the file system of the shard’s primary, with all that is on it. {how}",
}
